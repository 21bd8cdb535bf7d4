package config

import (
	"path/filepath"
	"time"
)

// Default returns the configuration of a parley without a file: what the
// shipped config.yaml says, with paths seen from dir. References to the
// environment are resolved by env; a nil env knows no variable.
func Default(dir string, env Env) *Config {
	return &Config{
		DataDir:   filepath.Join(dir, "data"),
		Workspace: filepath.Join(dir, "workspace"),
		HTTP:      HTTP{Listen: "127.0.0.1:8484"},
		Sandbox:   "auto",
		Models:    []Model{defaultMain(env)},
		Adapters: Adapters{
			Telegram: Telegram{APIURL: "https://api.telegram.org"},
			Discord:  Discord{APIURL: "https://discord.com"},
			Slack:    Slack{APIURL: "https://slack.com/api/"},
			Terminal: Terminal{Color: "auto", History: true},
		},
		Access: Access{DM: "pairing", Groups: "mention", Approvers: []string{"owner", "admin"}},
		Session: Session{
			MaxRounds:    50,
			TurnTimeout:  time.Hour,
			KeepMessages: 20,
			CompactAt:    0.8,
			Idle:         10 * time.Minute,
			Grace:        10 * time.Second,
		},
		Log: Log{Level: "info", Format: "console", MaxSize: 20 << 20},
	}
}

// defaultMain is the first model of the shipped file.
func defaultMain(env Env) Model {
	m := defaultModel()
	m.Name = "main"
	m.BaseURL = env.or("OPENAI_BASE_URL", m.BaseURL)
	m.APIKey = NewSecret(env.or("OPENAI_API_KEY", ""))
	m.Model = env.or("OPENAI_MODEL", "gpt-5-mini")
	m.Strength = "high"
	m.Context = 200_000
	m.Vision = true
	return m
}

// defaultModel is what each entry of models begins as.
func defaultModel() Model {
	return Model{
		BaseURL:   "https://" + openAIHost + "/v1",
		Strength:  "medium",
		Context:   128_000,
		Reasoning: "auto",
		Limits:    Limits{Connect: 10 * time.Second, FirstByte: 5 * time.Minute, Silence: 2 * time.Minute},
	}
}
