package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"parley/core/llm"
)

// FuzzEvents checks that a body read in any pieces gives the same events, and
// that every event but a torn last one is no longer than its body.
func FuzzEvents(f *testing.F) {
	files, _ := filepath.Glob("testdata/wire/*.txtar")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range txtar.Parse(data).Files {
			if part.Name == "body" {
				f.Add(part.Data, uint8(3))
			}
		}
	}
	f.Add([]byte("data: a\rdata: b\r\n\r\n:c\n\ndata\n\n{\n\n}\n"), uint8(1))
	f.Fuzz(func(t *testing.T, body []byte, size uint8) {
		whole, err1 := llm.Events(bytes.NewReader(body))
		parts, err2 := llm.Events(&pieces{ctx: context.Background(), rest: body, size: int(size) + 1})
		if !slices.Equal(whole, parts) || fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Errorf("whole: %q, %v\nin pieces: %q, %v", whole, err1, parts, err2)
		}
	})
}

// FuzzThink checks that text cut anywhere gives the same answer, that what was
// streamed is the answer, and that without tags nothing changes.
func FuzzThink(f *testing.F) {
	for _, s := range thinkSeeds {
		f.Add(s, uint16(1), false, false)
		f.Add(s, uint16(777), true, true)
	}
	f.Fuzz(func(t *testing.T, text string, seed uint16, typed, calls bool) {
		s := &shown{}
		want, hidden := llm.Think([]string{text}, typed, calls, s.take)
		if s.text.String() != want || s.reasoning.String() != hidden {
			t.Errorf("streamed %q and %q, said %q and %q", s.text.String(), s.reasoning.String(), want, hidden)
		}
		got, gone := llm.Think(cut(text, int(seed)), typed, calls, nil)
		if got != want || gone != hidden {
			t.Errorf("in pieces %q and %q, whole %q and %q", got, gone, want, hidden)
		}
		if !strings.ContainsAny(text, "<[◁") && want != text {
			t.Errorf("text without tags became %q", want)
		}
	})
}

var thinkSeeds = []string{
	"hello", "", " \n\n hello", "<think>a</think>b", "<THINK>a</Thinking>\n\n b", "<think>a<final>b</final>c", "<think>a",
	"a\n</think>\n\nb", "a\n</think>\n", "```\n</think>\n\nb\n```\nc", "<think> tags are", "<think> ta", "<final>a `</final>` b</final>",
	"[THINK]a[/THINK]b", "◁think▷a◁/think▷b", "<think>`</think>`</think>x", "</think></think>a", "<think>a <final> b</think>c", "<", "</", "a\n<", "<final>\n\n\na",
}

// cut splits s at places that follow from seed.
func cut(s string, seed int) []string {
	var parts []string
	for s != "" {
		seed = (seed*1103515245 + 12345) & 0x7fffffff
		n := min(len(s), 1+seed>>16%5)
		parts = append(parts, s[:n])
		s = s[n:]
	}
	return parts
}

// FuzzArgs checks that arguments always are a JSON object (LLM-06).
func FuzzArgs(f *testing.F) {
	for _, s := range []string{"", "{}", "null", `{"a":1}`, `"{\"a\":1}"`, `{"a":`, `[1]`, `{}{"a":1}`, `""`, "\xff", `"\""`, `{}{}{}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		args, err := llm.ParseArgs(raw)
		var object map[string]any
		if json.Unmarshal([]byte(args), &object) != nil || object == nil {
			t.Errorf("%q became %q", raw, args)
		}
		if err != nil && args != "{}" {
			t.Errorf("%q is broken and became %q", raw, args)
		}
	})
}
