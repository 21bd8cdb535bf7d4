package gateway_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"parley/core/gateway"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want string // name, bot and words, joined by "|"; "" for no command
	}{
		{"/stop", "stop||"},
		{"  /stop  ", "stop||"},
		{"/STOP", "stop||"},
		{"/stop@parley_bot", "stop|parley_bot|"},
		{"/approve k7f3 once", "approve||k7f3 once"},
		{"/reject k7f3 weil es zu spät ist", "reject||k7f3 weil es zu spät ist"},
		{"/model\tgpt", "model||gpt"},
		{"/model\u00a0gpt", "model||gpt"},
		{"/answer k7f3\nline two", "answer||k7f3 line two"},
		{"你好 /go", "go||"},
		{"👉/stop", "stop||"},
		{"\u200f/stop", "stop||"},
		{"／stop", "stop||"},
		{"/stop 请", "stop||请"},
		{"", ""},
		{"/", ""},
		{"//", ""},
		{"/ stop", ""},
		{"/etc/passwd", ""},
		{"/stop/now", ""},
		{"/stop@a@b", ""},
		{"hello /stop", ""},
		{"see ./stop", ""},
		{"1/2", ""},
		{"你好/go", ""},
		{strings.Repeat("你", 17) + " /go", ""},
		{"/" + strings.Repeat("x", 33), ""},
		{"/über", ""},
		{"http://example.com", ""},
	} {
		line, ok := gateway.Parse(c.text)
		got := ""
		if ok {
			got = line.Name + "|" + line.Bot + "|" + strings.Join(line.Args, " ")
		}
		if got != c.want {
			t.Errorf("Parse(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestLineWords(t *testing.T) {
	t.Parallel()
	line, ok := gateway.Parse("/reject  k7f3   it is  too late ")
	if !ok {
		t.Fatal("not a command")
	}
	if got := line.After(1); got != "it is  too late" {
		t.Errorf("After(1) = %q", got)
	}
	if got := line.Arg(0); got != "k7f3" {
		t.Errorf("Arg(0) = %q", got)
	}
	if got := line.Arg(9) + line.After(9); got != "" {
		t.Errorf("beyond the end: %q", got)
	}
}

// FuzzParse holds what every command line promises: a plain name, arguments
// that are the words of the rest, and the same line again when it is written
// out and read back.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"/stop", "/a@b c d", "你好 /go", "/x\x00y", "/\xff", "／n a", "/a  b\n c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line, ok := gateway.Parse(text)
		if !ok {
			return
		}
		if line.Name == "" || line.Name != strings.ToLower(line.Name) || len(line.Name) > 32 {
			t.Fatalf("name %q", line.Name)
		}
		if !slices.Equal(strings.Fields(line.Rest), line.Args) {
			t.Fatalf("words %q of rest %q", line.Args, line.Rest)
		}
		if utf8.ValidString(text) && !strings.Contains(text, line.Rest) {
			t.Fatalf("rest %q is not part of %q", line.Rest, text)
		}
		again, ok := gateway.Parse("/" + line.Name + " " + line.Rest)
		if !ok || again.Name != line.Name || !slices.Equal(again.Args, line.Args) {
			t.Fatalf("%q read back as %+v", line, again)
		}
	})
}
