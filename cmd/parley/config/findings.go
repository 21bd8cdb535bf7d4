package config

import (
	"os"
	"slices"
	"strings"

	"parley/core/chat"
)

// Findings is the configuration's report on itself, for `parley check`, for
// `parley doctor` and, but for what is good or off, for the log at start.
// built names the platforms that this build has an adapter for. It reads the
// mode of the file and nothing else.
func (c *Config) Findings(built ...string) []chat.Finding {
	all := []chat.Finding{c.fileFinding()}
	if f, warn := c.modeFinding(); warn {
		all = append(all, f)
	}
	for _, m := range c.Models {
		if why := m.Off(); why != "" {
			all = append(all, chat.Finding{
				Part: "model " + m.Name, Level: chat.Off, Says: "Not used: " + why + ".",
				Remedy: "Set OPENAI_API_KEY, write api_key, or point base_url at another server.",
			})
		}
	}
	for _, name := range c.Platforms() {
		if !slices.Contains(built, name) {
			all = append(all, chat.Finding{
				Part: name, Level: chat.Warn, Says: "Has a token, but this build of parley has no adapter for it yet; nothing is received there.",
				Remedy: "Take the token out, or run a build that has the adapter.",
			})
		}
	}
	return append(all, c.slackFinding()...)
}

func (c *Config) fileFinding() chat.Finding {
	if c.File == "" {
		return chat.Finding{
			Part: "config", Level: chat.Good,
			Says:   "No " + DefaultFile + " here; the built-in defaults are in force.",
			Remedy: "`parley init` writes one.",
		}
	}
	return chat.Finding{Part: "config", Level: chat.Good, Says: c.File + " is in order."}
}

// modeFinding warns of a file with secrets that others may read.
func (c *Config) modeFinding() (f chat.Finding, warn bool) {
	if c.File == "" || !c.open {
		return f, false
	}
	info, err := os.Stat(c.File)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return f, false
	}
	return chat.Finding{
		Part: "config", Level: chat.Warn, Says: "The file holds secrets, and other users of this machine may read it.",
		Remedy: "chmod 600 " + c.File,
	}, true
}

// slackFinding warns of one token without the other.
func (c *Config) slackFinding() []chat.Finding {
	s := c.Adapters.Slack
	var missing []string
	if !s.BotToken.IsSet() {
		missing = append(missing, "bot_token")
	}
	if !s.AppToken.IsSet() {
		missing = append(missing, "app_token")
	}
	if len(missing) != 1 {
		return nil
	}
	return []chat.Finding{{
		Part: "slack", Level: chat.Warn, Says: "Off: adapters.slack needs both tokens, and " + strings.Join(missing, "") + " is missing.",
		Remedy: "Set adapters.slack." + missing[0] + ".",
	}}
}
