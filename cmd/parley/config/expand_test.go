package config_test

import (
	"strings"
	"testing"

	"parley/cmd/parley/config"
)

func TestExpand(t *testing.T) {
	vars := env(map[string]string{"A": "alpha", "EMPTY": "", "SELF": "${A}", "YAML": "x: [y, # z"})
	for text, want := range map[string]string{
		"":                "",
		"plain $A $ $$":   "plain $A $ $$",
		"${A}":            "alpha",
		"<${A}${A}>":      "<alphaalpha>",
		"${GONE}":         "",
		"${GONE:-x}":      "x",
		"${EMPTY:-x}":     "x",
		"${A:-x}":         "alpha",
		"${GONE:-}":       "",
		"${GONE:-a:-b c}": "a:-b c",
		"${SELF}":         "${A}",
		"${YAML}":         "x: [y, # z",
		"$${A}":           "${A}",
		"$$${A}":          "$${A}",
		"$${A} ${A}":      "${A} alpha",
	} {
		if got, err := config.Expand(text, vars); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"${", "${}", "${A", "${1A}", "${a-b}", "${A:x}", "${A:-${B}}", "${ A }", "${É}"} {
		if got, err := config.Expand(text, vars); err == nil {
			t.Errorf("%q: got %q, want an error", text, got)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "a", "${A}", "$${A}", "$$${A}", "${A:-b}", "${", "${A", "}", "$", "é${A}\x00"} {
		f.Add(seed, "value")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		vars := env(map[string]string{"A": value})
		got, err := config.Expand(text, vars)
		if err == nil && !strings.Contains(text, "${") && got != text {
			t.Errorf("%q without reference became %q", text, got)
		}
		if back, err := config.Expand(config.Escape(text), vars); err != nil || back != text {
			t.Errorf("escaped %q came back as %q, %v", text, back, err)
		}
		// What a variable holds is never looked at.
		if got, err := config.Expand("<${A}>", vars); err != nil || got != "<"+value+">" {
			t.Errorf("value %q became %q, %v", value, got, err)
		}
	})
}

// Whatever is in the file, the answer is a configuration or an error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{full, "", "a: 1", "models: [{}]", "models:\n- ~\n", "? a\n: b", "&a [*a]", "!!map {}", "{", "http: {listen: off}", "\xff", "a: |\n  b\n", "- - -", "models: {a: b}", "log: []", "access: {chats: [\"\"]}", "~", "3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "_file") {
			t.Skip("names files")
		}
		c, err := config.Parse("fuzz.yaml", text, "/nowhere", env(map[string]string{"A": "x"}))
		if (c == nil) == (err == nil) {
			t.Errorf("got %v and %v", c, err)
		}
		if err != nil && err.Error() == "" {
			t.Error("an error without a word")
		}
	})
}
