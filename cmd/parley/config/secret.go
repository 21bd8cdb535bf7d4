package config

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Redacted is what a secret prints as.
const Redacted = "[redacted]"

// Secret is a text that must not be shown. However it is printed or encoded it
// reads [redacted], and an empty one reads as nothing. The text is behind a
// pointer, so that fmt, which cannot call methods on unexported fields, prints
// an address there. The zero Secret is empty.
type Secret struct{ text *string }

// NewSecret hides the text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text itself. Call it where the secret is used, and
// nowhere else.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports whether there is a text.
func (s Secret) IsSet() bool { return s.text != nil }

// String returns [redacted], or nothing for an empty secret.
func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return Redacted
}

// Format prints String for every verb and flag.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = fmt.Sprintf("%q", text)
	}
	_, _ = io.WriteString(f, text)
}

// MarshalText returns String: for JSON, YAML, XML and everything else that
// knows texts.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML returns String.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue returns String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Secrets returns every secret text of the configuration, each once: what has
// to be kept out of logs, errors and chats.
func (c *Config) Secrets() []string {
	found := map[string]bool{}
	collect(reflect.ValueOf(c).Elem(), found)
	for _, m := range c.Models {
		found[login(m.BaseURL)] = true
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// collect walks the tree, so that a key added later cannot be forgotten.
func collect(v reflect.Value, found map[string]bool) {
	switch at := v.Interface().(type) {
	case Secret:
		found[at.Reveal()] = true
		return
	case Headers:
		for name, value := range at {
			if speaksOfCredential(name) {
				found[value.Reveal()] = true
			}
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				collect(v.Field(i), found)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), found)
		}
	}
}

// speaksOfCredential reports whether a header or a variable of that name
// likely holds a secret.
func speaksOfCredential(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "password", "passwd", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
