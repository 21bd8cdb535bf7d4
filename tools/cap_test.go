package tools_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"parley/tools"
)

func TestCap(t *testing.T) {
	text := "begin " + strings.Repeat("x", 10_000) + " the error"
	got := tools.Cap(text, 1000, "out.txt, which can be read in parts")
	if len(got) > 1000 || !strings.HasPrefix(got, "begin xxx") || !strings.HasSuffix(got, "xxx the error") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	head, rest, _ := strings.Cut(got, "\n[")
	line, tail, _ := strings.Cut(rest, "]\n")
	if len(tail) < 2*len(head) {
		t.Errorf("head %d, tail %d", len(head), len(tail))
	}
	want := fmt.Sprintf("cut here: shown are the first %d and the last %d of %d bytes; the whole is in out.txt, which can be read in parts", len(head), len(tail), len(text))
	if line != want {
		t.Errorf("says %q, want %q", line, want)
	}
	if got := tools.Cap(text, 1000, ""); !strings.Contains(got, "the rest was not kept]") {
		t.Error(got)
	}
	if got := tools.Cap("short", 5, "x"); got != "short" {
		t.Error(got)
	}
	for limit := range 200 { // also where there is hardly room for the line
		if got := tools.Cap(strings.Repeat("äöü日", 100), limit, "w"); !utf8.ValidString(got) {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	if got := tools.Cap("a\xff\xfeb", 100, ""); got != "a\ufffdb" {
		t.Errorf("%q", got)
	}
}

func TestCapProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"äöü", "日本語", "👩", "\xff", "line\n"}))
		text := strings.Repeat(strings.Join(rapid.SliceOf(piece).Draw(t, "text"), ""), rapid.IntRange(0, 50).Draw(t, "times"))
		limit := rapid.IntRange(0, 2000).Draw(t, "limit")
		got := tools.Cap(text, limit, "w")
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		valid := strings.ToValidUTF8(text, "\ufffd")
		if len(valid) <= limit {
			if got != valid {
				t.Fatalf("%q was changed", valid)
			}
			return
		}
		head, rest, _ := strings.Cut(got, "\n[cut here: ")
		line, tail, cut := strings.Cut(rest, "]\n")
		if cut && !(strings.HasPrefix(valid, head) && strings.HasSuffix(valid, tail)) {
			t.Fatalf("%q and %q are not its head and tail", head, tail)
		}
		if least := len("\n[cut here: ]\n") + len(line); len(got) > max(limit, least+20) || !cut {
			t.Fatalf("%d bytes of at most %d", len(got), limit)
		}
		if len(head) > len(tail)+4 {
			t.Fatalf("head %d, tail %d", len(head), len(tail))
		}
	})
}
