package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/cmd/parley/config"
	"parley/core/chat"
)

const full = `
data_dir: var/data
workspace: /srv/work
http: {listen: off}
sandbox: bwrap
models:
  - name: main
    base_url: "${BASE}"
    api_key: ${KEY}
    model: gpt
    strength: ${STRENGTH:-low}
    context: ${CONTEXT}
    output: "4000"
    vision: ${VISION}
    temperature: 0
    reasoning: never
    price: {input: 0.25, cached: .025, output: 2}
    headers: {Authorization: "Bearer ${KEY}", X-Title: parley}
    extra: {top_k: 40, nested: {list: [1, 2.5, true, ~, "${STRENGTH:-low}"]}}
    limits: {connect: "${WAIT}", silence: 1m30s}
  - model: local/qwen3:4b
    base_url: http://127.0.0.1:11434/v1
adapters:
  telegram:
    token: "7001:A{b}: #c"
access:
  owners: [telegram:123456, slack:T01AB/U02CD, terminal:local]
  chats: ["telegram:-100123", discord:77]
  approvers: [member, telegram:5]
session:
  turn_timeout: ${UNSET}
  prompt_file: prompt.md
log: {max_size: 2GB, file: ~/parley.log}
timezone: Europe/Berlin
`

func parseFull(t *testing.T) (*config.Config, string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", "/home/ada")
	if err := os.WriteFile(filepath.Join(dir, "prompt.md"), []byte("Be kind.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("c.yaml", full, dir, env(map[string]string{
		"BASE": "https://proxy.example/v1", "KEY": `k: "'{}[]#${BASE}` + "`", "CONTEXT": "64_000", "VISION": "true", "WAIT": "3s",
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c, dir
}

func TestFull(t *testing.T) {
	c, dir := parseFull(t)
	m := c.Models[0]
	zero := 0.0
	for name, pair := range map[string][2]any{
		"data_dir":     {c.DataDir, filepath.Join(dir, "var/data")},
		"workspace":    {c.Workspace, "/srv/work"},
		"listen":       {c.HTTP.Listen, config.Off},
		"base_url":     {m.BaseURL, "https://proxy.example/v1"},
		"api_key":      {m.APIKey.Reveal(), `k: "'{}[]#${BASE}` + "`"},
		"strength":     {m.Strength, "low"},
		"context":      {m.Context, 64000},
		"output":       {m.Output, 4000},
		"vision":       {m.Vision, true},
		"temperature":  {m.Temperature, &zero},
		"price":        {m.Price, config.Price{Input: 0.25, Cached: 0.025, Output: 2}},
		"limits":       {m.Limits, config.Limits{Connect: 3 * time.Second, FirstByte: 5 * time.Minute, Silence: 90 * time.Second}},
		"header":       {m.Headers["X-Title"].Reveal(), "parley"},
		"extra":        {m.Extra, map[string]any{"top_k": int64(40), "nested": map[string]any{"list": []any{int64(1), 2.5, true, nil, "low"}}}},
		"second":       {c.Models[1].Name, "local/qwen3:4b"},
		"second temp":  {c.Models[1].Temperature, (*float64)(nil)},
		"second limit": {c.Models[1].Context, 128000},
		"token":        {c.Adapters.Telegram.Token.Reveal(), "7001:A{b}: #c"},
		"api_url":      {c.Adapters.Telegram.APIURL, "https://api.telegram.org"},
		"owners":       {c.Access.Owners, []chat.UserID{"telegram:123456", "slack:T01AB/U02CD", "terminal:local"}},
		"chats":        {c.Access.Chats, []chat.Key{{Adapter: "telegram", Chat: "-100123"}, {Adapter: "discord", Chat: "77"}}},
		"turn_timeout": {c.Session.TurnTimeout, time.Hour},
		"prompt":       {c.Session.Prompt, "Be kind.\n"},
		"max_size":     {c.Log.MaxSize, config.Size(2 << 30)},
		"log.file":     {c.Log.File, "/home/ada/parley.log"},
		"zone":         {c.Location().String(), "Europe/Berlin"},
		"platforms":    {c.Platforms(), []string{"telegram"}},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: got %#v, want %#v", name, pair[0], pair[1])
		}
	}
}

func TestSecretsAreCollected(t *testing.T) {
	c, _ := parseFull(t)
	c.Models[1].BaseURL = "http://me:pass-word@127.0.0.1/v1"
	want := []string{"7001:A{b}: #c", `Bearer k: "'{}[]#${BASE}` + "`", `k: "'{}[]#${BASE}` + "`", "pass-word"}
	if got := c.Secrets(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A block is laid over the default one, a list takes its place, nothing leaves
// it as it is.
func TestOverlay(t *testing.T) {
	for text, models := range map[string]int{"": 1, "# nothing\n": 1, "sandbox:\n": 1, "models:\n": 0, "models: []\n": 0, "models: ${NOTHING}\n": 1} {
		c, err := config.Parse("c.yaml", text, "/srv", nil)
		if err != nil || len(c.Models) != models || c.Sandbox != "auto" {
			t.Errorf("%q: got %+v, %v", text, c, err)
		}
	}
}

func TestLoadFindsTheFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	c, err := config.Load("", nil)
	if err != nil || c.File != "" || c.DataDir != filepath.Join(dir, "data") {
		t.Fatalf("without file: %+v, %v", c, err)
	}
	if err := os.MkdirAll("etc", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{config.DefaultFile, "etc/other.yaml"} {
		if err := os.WriteFile(path, []byte("data_dir: ./d\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if c, err = config.Load("", nil); err != nil || c.DataDir != filepath.Join(dir, "d") {
		t.Errorf("default file: %+v, %v", c, err)
	}
	if c, err = config.Load("etc/other.yaml", nil); err != nil || c.DataDir != filepath.Join(dir, "etc/d") || c.File != filepath.Join(dir, "etc/other.yaml") {
		t.Errorf("named file: %+v, %v", c, err)
	}
}

// The shipped file tells of every key, and its examples are in order.
func TestShippedFileIsComplete(t *testing.T) {
	example := regexp.MustCompile(`(?m)^(\s*)# (\s*(?:- )?[a-z_]+:.*)$`)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prompt.md"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := example.ReplaceAllString(config.Shipped, "$1$2")
	if text == config.Shipped {
		t.Fatal("no examples found")
	}
	c, err := config.Parse("config.yaml", text, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Models[0].Temperature == nil || len(c.Models) != 2 || c.Timezone == "" {
		t.Errorf("an example was left out: %+v", c)
	}
	for _, key := range config.Keys() {
		name := key[strings.LastIndex(key, ".")+1:]
		if !regexp.MustCompile(`(?m)(^|[\s{])` + name + `:`).MatchString(text) {
			t.Errorf("config.yaml does not tell of %s", key)
		}
	}
}

func TestFindings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := "adapters: {telegram: {token: tok-invented}, slack: {bot_token: xoxb-invented}}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range c.Findings("discord") {
		got = append(got, f.Part+" "+string(f.Level))
		if f.Level != chat.Good && f.Remedy == "" {
			t.Errorf("%s: no remedy", f.Part)
		}
	}
	want := []string{"config ok", "config warn", "model main off", "telegram warn", "slack warn"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := c.Findings("telegram"); len(got) != 4 {
		t.Errorf("with the adapter built: got %v", got)
	}
}

func TestSizePrints(t *testing.T) {
	for size, want := range map[config.Size]string{0: "0B", 1000: "1000B", 64 << 10: "64KB", 20 << 20: "20MB", 3 << 30: "3GB"} {
		if got := size.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"htpt", "http", 1}, {"kitten", "sitting", 3}} {
		if got := config.Distance(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
