package config

import (
	"time"

	"parley/core/chat"
)

// Config is the whole configuration, decoded, checked and with every path made
// absolute. It is data: nobody changes it after [Load] returned it.
//
// The struct tags drive the decoder: yaml is the key; oneof lists the values
// allowed; min and max bound a number; as:"path" makes a path absolute, seen
// from the folder of the file.
type Config struct {
	// DataDir holds parley.db, blobs and parley.sock. Mode 0700; no path of a
	// tool leads into it.
	DataDir string `yaml:"data_dir" as:"path"`
	// Workspace is what the agent works in.
	Workspace string   `yaml:"workspace" as:"path"`
	HTTP      HTTP     `yaml:"http"`
	Sandbox   string   `yaml:"sandbox" oneof:"auto none landlock bwrap"`
	Models    []Model  `yaml:"models"`
	Adapters  Adapters `yaml:"adapters"`
	Access    Access   `yaml:"access"`
	Session   Session  `yaml:"session"`
	// Rules say which calls run, are asked about, or never run.
	Rules []Rule `yaml:"rules"`
	// Contexts say as what and where conversations run.
	Contexts []RunContext `yaml:"contexts"`
	Shell    Shell        `yaml:"shell"`
	Log      Log          `yaml:"log"`
	// Timezone is an IANA name; "" is the system's own.
	Timezone string `yaml:"timezone"`

	// File is the file all this was read from, "" for the built-in defaults.
	File string `yaml:"-"`
	// open says that the file holds secrets in the clear.
	open bool
}

// Off is the value of http.listen that switches the server off.
const Off = "off"

// HTTP is the server for health checks and webhooks.
type HTTP struct {
	Listen string `yaml:"listen"` // HOST:PORT or Off
}

// Model is one model at one provider. In the order of the file the first one
// that is not off answers, the others stand in for it.
type Model struct {
	Name        string         `yaml:"name"` // what /model takes; default: as Model
	BaseURL     string         `yaml:"base_url"`
	APIKey      Secret         `yaml:"api_key"`
	Model       string         `yaml:"model"` // as the provider calls it
	Strength    string         `yaml:"strength" oneof:"low medium high"`
	Context     int            `yaml:"context" min:"1024"`
	Output      int            `yaml:"output" min:"0"` // 0: the provider's own limit
	Vision      bool           `yaml:"vision"`
	Price       Price          `yaml:"price"`
	Temperature *float64       `yaml:"temperature" min:"0" max:"2"`         // nil: not sent
	Reasoning   string         `yaml:"reasoning" oneof:"auto always never"` // whether earlier reasoning is sent back
	Headers     Headers        `yaml:"headers"`
	Extra       map[string]any `yaml:"extra"` // sent in the body of each request as it stands
	Limits      Limits         `yaml:"limits"`
}

// Headers are HTTP headers sent with each request. All values print as
// [redacted]; those whose name speaks of a credential count as secrets.
type Headers map[string]Secret

// Price is in US dollars for a million tokens; zero means free or unknown.
type Price struct {
	Input  float64 `yaml:"input" min:"0"`
	Cached float64 `yaml:"cached" min:"0"` // 0: as Input
	Output float64 `yaml:"output" min:"0"`
}

// Limits bound the waits on a model's server. There is none on a whole answer.
type Limits struct {
	Connect   time.Duration `yaml:"connect" min:"1s"`
	FirstByte time.Duration `yaml:"first_byte" min:"1s"`
	Silence   time.Duration `yaml:"silence" min:"1s"` // between two pieces of an answer
}

// Adapters are the connections to platforms. One without token is off.
type Adapters struct {
	Telegram Telegram `yaml:"telegram"`
	Discord  Discord  `yaml:"discord"`
	Slack    Slack    `yaml:"slack"`
	Terminal Terminal `yaml:"terminal"`
}

// Telegram is one Telegram bot.
type Telegram struct {
	Token  Secret `yaml:"token"`
	APIURL string `yaml:"api_url"`
}

// Discord is one Discord bot.
type Discord struct {
	Token  Secret `yaml:"token"`
	APIURL string `yaml:"api_url"`
}

// Slack is one Slack app in socket mode; it needs both tokens.
type Slack struct {
	BotToken Secret `yaml:"bot_token"`
	AppToken Secret `yaml:"app_token"`
	APIURL   string `yaml:"api_url"`
}

// Terminal is the chat of `parley chat`.
type Terminal struct {
	Color   string `yaml:"color" oneof:"auto always never"` // auto: unless NO_COLOR is set
	History bool   `yaml:"history"`                         // keep the lines typed, in DataDir
}

// Access says who may talk.
type Access struct {
	Owners  []chat.UserID `yaml:"owners"`
	Members []chat.UserID `yaml:"members"`
	DM      string        `yaml:"dm" oneof:"pairing allowlist open"`
	Groups  string        `yaml:"groups" oneof:"mention always off"`
	Chats   []chat.Key    `yaml:"chats"` // the groups that are let in; none: nobody
	Bots    []chat.UserID `yaml:"bots"`  // other bots that are listened to
	// Approvers are user ids and the roles owner, admin and member.
	Approvers []string `yaml:"approvers"`
}

// Session bounds one conversation.
type Session struct {
	MaxRounds    int           `yaml:"max_rounds" min:"1" max:"1000"`
	TurnTimeout  time.Duration `yaml:"turn_timeout" min:"1s"`
	KeepMessages int           `yaml:"keep_messages" min:"1" max:"1000"`
	CompactAt    float64       `yaml:"compact_at" min:"0.1" max:"0.95"`    // share of the model's context
	SummaryBy    string        `yaml:"summary_by" oneof:"low medium high"` // strength of the model that sums up; "": the conversation's own
	Idle         time.Duration `yaml:"idle" min:"1s"`
	Grace        time.Duration `yaml:"grace" min:"0s"` // how long a turn may go on when parley stops
	PromptFile   string        `yaml:"prompt_file" as:"path"`
	// Prompt is what PromptFile holds, "" without one.
	Prompt string `yaml:"-"`
}

// Rule is one rule for tool calls; see docs/rules.md.
type Rule struct {
	Group    string `yaml:"group"`
	Agent    string `yaml:"agent"`
	Source   string `yaml:"source"`
	Tool     string `yaml:"tool"`
	Path     string `yaml:"path"`
	Action   string `yaml:"action" oneof:"allow require deny"`
	Priority int    `yaml:"priority" min:"0"`
	Note     string `yaml:"note"`
}

// RunContext is the run context of a chat, a role, a job or an agent; see
// docs/rules.md.
type RunContext struct {
	For    string   `yaml:"for"`
	Group  string   `yaml:"group"`
	Prompt string   `yaml:"prompt"`
	Reads  []string `yaml:"reads"`
	Writes []string `yaml:"writes"`
	Dir    string   `yaml:"dir"`
}

// Shell is what commands of the agent get.
type Shell struct {
	// Env adds to the environment: NAME passes on a variable of parley's own,
	// NAME=value sets one.
	Env []string `yaml:"env"`
}

// Log says what is written where. Lines go to standard error and, with a File,
// as JSON there too.
type Log struct {
	Level   string `yaml:"level" oneof:"debug info warn error"`
	Format  string `yaml:"format" oneof:"console json"`
	File    string `yaml:"file" as:"path"`
	MaxSize Size   `yaml:"max_size" min:"64KB"` // then File becomes File.1 and a new one begins
}

// Size is a number of bytes, written 512KB or 20MB (powers of 1024).
type Size int64

const openAIHost = "api.openai.com"

// Off says why the model is not used, "" when it is.
func (m Model) Off() string {
	if m.APIKey.IsSet() || hostOf(m.BaseURL) != openAIHost {
		return ""
	}
	return "it has no api_key, and " + openAIHost + " wants one"
}

// ActiveModels returns the models that are not off, in the order of the file.
func (c *Config) ActiveModels() []Model {
	var on []Model
	for _, m := range c.Models {
		if m.Off() == "" {
			on = append(on, m)
		}
	}
	return on
}

// Platforms names the platforms that have their tokens, in a fixed order. The
// terminal is none.
func (c *Config) Platforms() []string {
	var names []string
	a := c.Adapters
	if a.Telegram.Token.IsSet() {
		names = append(names, "telegram")
	}
	if a.Discord.Token.IsSet() {
		names = append(names, "discord")
	}
	if a.Slack.BotToken.IsSet() && a.Slack.AppToken.IsSet() {
		names = append(names, "slack")
	}
	return names
}

// Location returns the time zone to show times in. It never fails on a Config
// that Load returned.
func (c *Config) Location() *time.Location {
	if c.Timezone == "" {
		return time.Local
	}
	zone, err := time.LoadLocation(c.Timezone)
	if err != nil {
		return time.Local
	}
	return zone
}
