package terminal_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"parley/adapters/terminal"
)

func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "\x1b]0;x\a", "\u009b1m", "a\r\nb\rc", "\xff\xfe", "日本\u202e", "\t\u0337", "👨\u200d👩\u200d👧"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := terminal.Clean(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q became %q, no text", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0x202a && r <= 0x202e {
				t.Errorf("%q became %q, which has %U", s, got, r)
			}
		}
		if again := terminal.Clean(got); again != got {
			t.Errorf("%q became %q, then %q", s, got, again)
		}
		for _, width := range []int{1, 7, 80} {
			for _, row := range terminal.Rendered(s, true, width) {
				if strings.ContainsAny(row, "\n\t\r\x1b") {
					t.Errorf("%q has the row %q", s, row)
				}
			}
		}
	})
}

// FuzzDecode splits input anywhere: the keys must be the same, and no text may
// hold what isn't text.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"abc\r", "\x1b[A\x1b[1;5C", "\x1b[200~a\rb\x1b[201~c", "é日\xe6", "\x1b\x1b[", "\x1b[999999", "\x1bOH\x03"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		at = min(max(at, 0), len(b))
		for _, k := range terminal.Decode(b[:at], b[at:]) {
			for _, r := range k.Text {
				if unicode.IsControl(r) && r != '\n' && r != '\t' {
					t.Errorf("%q gave the text %q", b, k.Text)
				}
			}
		}
		if at > 0 && b[at-1] == 0x1b { // an Escape alone is told by what arrives with it
			return
		}
		whole, parts := join(terminal.Decode(b)), join(terminal.Decode(b[:at], b[at:]))
		if whole != parts {
			t.Errorf("%q gave %q, in two pieces %q", b, whole, parts)
		}
	})
}

// join spells keys, so that text in pieces is like text at once.
func join(keys []terminal.Decoded) string {
	var b strings.Builder
	for _, k := range keys {
		if k.Text == "" {
			b.WriteString("<" + string(rune('A'+k.Code)) + ">")
		}
		b.WriteString(k.Text)
	}
	return b.String()
}
