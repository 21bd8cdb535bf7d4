package main

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"parley/cmd/parley/config"
	"parley/cmd/parley/redact"
	"parley/core/access"
	"parley/core/chat"
	"parley/core/llm"
	"parley/core/llm/llmtest"
	"parley/core/session"
)

// parsed is the configuration that a text makes.
func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("config.yaml", text, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// assembled is an app over a configuration, with the adapter "wire".
func assembled(t *testing.T, c *config.Config, log zerolog.Logger) *app {
	t.Helper()
	s := Setup{Config: c, Log: log, Redact: redact.New(c.Secrets()...)}
	made, err := assembleWith(t.Context(), s, map[string]chat.Adapter{"wire": wire{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	})
	return made.(*app)
}

// Every key of access and session has a value of its own here, so none can be
// forgotten on its way.
func TestKeysReachTheirRooms(t *testing.T) {
	c := parsed(t, `
access:
  owners: [telegram:1]
  members: [telegram:2]
  dm: allowlist
  groups: always
  chats: [telegram:-3]
  bots: [telegram:4]
  approvers: [owner]
session: {max_rounds: 7, turn_timeout: 11m, keep_messages: 5, compact_at: 0.5, summary_by: low, idle: 3m, grace: 4s}
timezone: Asia/Tokyo
`)
	want := access.Config{
		Owners: []chat.UserID{"telegram:1"}, Members: []chat.UserID{"telegram:2"},
		DM: access.Allowlist, Groups: access.Always, Chats: []string{"telegram:-3"},
		Bots: []chat.UserID{"telegram:4"}, Approvers: []string{"owner"}, Local: []chat.UserID{sitter},
	}
	if got := accessConfig(c.Access); !reflect.DeepEqual(got, want) {
		t.Errorf("access\n got %+v\nwant %+v", got, want)
	}
	zone, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	given := session.Defaults() // for what has no key
	given.MaxRounds, given.TurnTimeout, given.KeepRaw, given.CompactAt = 7, 11*time.Minute, 5, 0.5
	given.SummaryBy, given.Idle, given.Grace = "low", 3*time.Minute, 4*time.Second
	given.Zone, given.Workdir = zone, c.Workspace
	if got := (&app{setup: Setup{Config: c}}).sessionConfig(); !reflect.DeepEqual(got, given) {
		t.Errorf("session\n got %+v\nwant %+v", got, given)
	}
}

func TestKeysReachTheModel(t *testing.T) {
	server := llmtest.NewServer(nil)
	defer server.Close()
	c := parsed(t, `
models:
  - {name: main, base_url: "`+server.URL()+`", api_key: sk-invented, model: m1, strength: low, context: 4096, output: 99, vision: true,
     temperature: 0.25, headers: {X-Title: a title}, extra: {seed: 5}, price: {input: 1, cached: 2, output: 3}}
`)
	m, err := newModel(c.Models[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Stream(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hello"}}}, nil); err != nil {
		t.Fatal(err)
	}
	info := m.Info()
	if info.Name != "main" || info.ID != "m1" || info.Strength != "low" || info.Context != 4096 || !info.Vision ||
		info.Price != (llm.Price{Input: 1, Cached: 2, Output: 3}) {
		t.Errorf("got %+v", info)
	}
	r := server.Requests()[0]
	for field, want := range map[string]string{"model": `"m1"`, "temperature": "0.25", "seed": "5"} {
		if got := string(r.Field(field)); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
	if !strings.Contains(string(r.Body), `:99`) {
		t.Errorf("the limit of the answer is not in %s", r.Body)
	}
	want := http.Header{"Authorization": {"Bearer sk-invented"}, "X-Title": {"a title"}}
	for name := range want {
		if got := r.Header.Get(name); got != want.Get(name) {
			t.Errorf("%s is %q, want %q", name, got, want.Get(name))
		}
	}
}

// shown remembers what an adapter is asked to show.
type shown struct {
	chat.Adapter
	post   chat.Post
	signal chat.Signal
}

func (s *shown) Render(_ chat.Key, p chat.Post) ([]chat.Part, error) { s.post = p; return nil, nil }

func (s *shown) Signal(_ context.Context, _ chat.Key, sig chat.Signal) error {
	s.signal = sig
	return nil
}

func TestNoSecretIsShown(t *testing.T) {
	const secret = "sk-invented-key"
	s := &shown{}
	r := redacting{s, redact.New(secret)}
	post := chat.Post{Text: "it is " + secret, Buttons: [][]chat.Button{{{Label: "send " + secret, Prompt: secret + "?", Line: "/help"}}}}
	if _, err := r.Render(chat.Key{}, post); err != nil {
		t.Fatal(err)
	}
	wantPost := chat.Post{Text: "it is [redacted]", Buttons: [][]chat.Button{{{Label: "send [redacted]", Prompt: "[redacted]?", Line: "/help"}}}}
	if !reflect.DeepEqual(s.post, wantPost) {
		t.Errorf("shown: %+v", s.post)
	}
	if !strings.Contains(post.Buttons[0][0].Label, secret) {
		t.Error("the post that was given is changed")
	}
	if err := r.Signal(t.Context(), chat.Key{}, chat.Draft{Text: "it is " + secret}); err != nil {
		t.Fatal(err)
	}
	if d, ok := s.signal.(chat.Draft); !ok || d.Text != "it is [redacted]" {
		t.Errorf("drafted: %+v", s.signal)
	}
}

// The code is printed until somebody owns parley, and only where somebody could
// send it.
func TestClaimCodeIsPrinted(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                true,
		"access:\n  owners: [telegram:1]": false,
	} {
		var log bytes.Buffer
		a := assembled(t, parsed(t, text), zerolog.New(&log))
		a.offerClaim(t.Context())
		if got := strings.Contains(log.String(), "/claim "); got != want {
			t.Errorf("%s: the log says %q", text, log.String())
		}
	}
	var log bytes.Buffer
	alone, err := assemble(t.Context(), Setup{
		Config: parsed(t, "adapters: {telegram: {token: tok-invented}}"), Log: zerolog.New(&log), Redact: redact.New(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alone.Close() }()
	alone.(*app).offerClaim(t.Context())
	if strings.Contains(log.String(), "/claim ") {
		t.Errorf("nobody can send it: %s", log.String())
	}
}
