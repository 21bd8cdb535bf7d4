package terminal_test

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"parley/adapters/terminal"
	"parley/core/chat"
)

func TestRenderKeepsEverything(t *testing.T) {
	a := terminal.New(terminal.Config{In: strings.NewReader(""), Out: io.Discard})
	p := chat.Post{
		ID: "t/0/1", Kind: chat.Card, Text: "\n  \n  text\n\n", Buttons: approval, Files: []chat.File{{Name: "f"}},
		ReplyTo: "m", Ticket: "k", For: chat.User{ID: "terminal:local"}, Only: true, Silent: true, Answers: []string{"e"},
	}
	want := []chat.Part{{
		ID: "t/0/1#0", Post: "t/0/1", Last: true, Kind: chat.Card, Text: "  text", Buttons: approval, Files: p.Files,
		ReplyTo: "m", Ticket: "k", For: p.For, Only: true, Silent: true, Answers: []string{"e"},
	}}
	if got, err := a.Render(here, p); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Render = %+v, %v, want %+v", got, err, want)
	}
	if tr := a.Traits(here); tr.Limit != 0 || tr.Drafts || !tr.Buttons || !tr.Private {
		t.Errorf("Traits = %+v", tr)
	}
	if _, err := a.Fetch(t.Context(), chat.File{}); !errors.Is(err, chat.ErrPermanent) {
		t.Errorf("Fetch = %v", err)
	}
}

func TestFilesAreInterrupted(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	in := newInbound()
	a := terminal.New(terminal.Config{In: r, Out: io.Discard})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- a.Run(ctx, in) }()
	io.WriteString(w, "one\n")
	in.event(0)
	cancel()
	if err := <-result; err != nil {
		t.Errorf("Run = %v", err)
	}
	io.WriteString(w, "x") // nobody took it
	if b := make([]byte, 1); !slices.Equal(b[:must(r.Read(b))], []byte("x")) {
		t.Errorf("read %q after the run", b)
	}
}

func must(n int, err error) int {
	if err != nil {
		panic(err)
	}
	return n
}

func TestMarkdown(t *testing.T) {
	tests := []struct {
		text string
		open bool
		want string
	}{
		{"**a** *b* ~~c~~ `d*e*` ***f*** __g__ _h_", false, "a b c d*e* f g h"},
		{"2 * 3 * 4, snake_case_name, a*, **, `", false, "2 * 3 * 4, snake_case_name, a*, **, `"},
		{`\*no\* \x`, false, `*no* \x`},
		{"[t](u) ![i](v) [w](w) [x] (y)", false, "t (u) i (v) w [x] (y)"},
		{"**open `code", true, "open code"},
		{"**open `code", false, "**open `code"},
		{"**not open\nany **more", true, "**not open\nany more"},
		{"### H #\n---\n> q **r**\n* i\n12. j\n  + k", false, "H\n────────────────────────\n│ q r\n• i\n12. j\n  • k"},
		{"```go\n\tx := `a`\n**y**\n```\nz", false, "  go\n      x := `a`\n  **y**\nz"},
		{"~~~\n```\n~~~\nafter", false, "  ```\nafter"},
		{"```", true, ""},
		{"a\n\n\nb", false, "a\n\n\nb"},
	}
	for _, tt := range tests {
		if got := strings.Join(terminal.Rendered(tt.text, tt.open, 80), "\n"); got != tt.want {
			t.Errorf("%q, open %v:\n%s\nwant:\n%s", tt.text, tt.open, got, tt.want)
		}
	}
}

func TestMarkdownMadeToBeSlow(t *testing.T) {
	for _, s := range []string{"**a ", "*", "_a", "[", "`a", "~~b", "](", "***x", "\\"} {
		terminal.Rendered(strings.Repeat(s, 200_000/len(s)), true, 80)
	}
}
