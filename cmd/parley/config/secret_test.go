package config_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rs/zerolog"

	"parley/cmd/parley/config"
)

const hidden = "sk-never-to-be-seen"

// holder has a secret where methods can be called and where they cannot.
type holder struct {
	Secret  config.Secret            `json:"secret" yaml:"secret"`
	Pointer *config.Secret           `json:"pointer" yaml:"pointer"`
	Map     map[string]config.Secret `json:"map" yaml:"map"`
	private config.Secret
}

func TestSecretNeverLeaks(t *testing.T) {
	s := config.NewSecret(hidden)
	h := holder{s, &s, map[string]config.Secret{"k": s}, s}
	c := config.Default("/", env(map[string]string{"OPENAI_API_KEY": hidden}))
	printed := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%T", "%8.3f", "% x", "%U", "%c", "%b", "%w"} {
		for name, value := range map[string]any{"secret": s, "pointer": &s, "holder": h, "&holder": &h, "slice": []config.Secret{s}, "config": *c, "&config": c} {
			printed[verb+" "+name] = fmt.Sprintf(verb, value)
		}
	}
	printed["error"] = fmt.Errorf("key %s: %v", s, h).Error()
	printed["print"] = fmt.Sprint(s, h)
	printed["json"] = encoded(json.Marshal(h))
	printed["json config"] = encoded(json.Marshal(c))
	printed["yaml"] = encoded(yaml.Marshal(h))
	printed["yaml config"] = encoded(yaml.Marshal(c))
	printed["xml"] = encoded(xml.Marshal(s))
	var out bytes.Buffer
	log := zerolog.New(&out)
	log.Info().Interface("a", s).Any("b", h).Stringer("c", s).Str("d", s.String()).Err(fmt.Errorf("%v", s)).Interface("e", c).Msg("zerolog")
	slog.New(slog.NewJSONHandler(&out, nil)).Info("slog", "a", s, "b", h)
	slog.New(slog.NewTextHandler(&out, nil)).Info("slog", "a", s, "b", h)
	printed["logs"] = out.String()
	for how, text := range printed {
		for _, leak := range []string{hidden, fmt.Sprintf("%x", hidden), fmt.Sprintf("%X", hidden), fmt.Sprintf("% x", hidden)} {
			if strings.Contains(text, leak) {
				t.Errorf("%s leaks: %s", how, text)
			}
		}
	}
	for how, want := range map[string]string{"%v secret": "[redacted]", "%s secret": "[redacted]", "%q secret": `"[redacted]"`, "%#v secret": `"[redacted]"`} {
		if printed[how] != want {
			t.Errorf("%s: got %s, want %s", how, printed[how], want)
		}
	}
	for _, how := range []string{"json", "yaml", "logs"} {
		if !strings.Contains(printed[how], "[redacted]") {
			t.Errorf("%s: the mark is missing in %s", how, printed[how])
		}
	}
}

func encoded(b []byte, err error) string { return fmt.Sprint(string(b), err) }

// What an address carries is secret: the password, or the name where that is
// the token. A name beside a password is none.
func TestSecretsOfAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://ada:tok-hidden@x/v1": "tok-hidden",
		"http://tok-hidden@x/v1":     "tok-hidden",
		"http://x/v1":                "",
	} {
		c, err := config.Parse("c.yaml", "models: [{model: m, base_url: '"+address+"'}]\n", "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Secrets(), " "); got != want {
			t.Errorf("%s: got %q", address, got)
		}
	}
}

func TestSecretReveals(t *testing.T) {
	if s := config.NewSecret(hidden); s.Reveal() != hidden || !s.IsSet() {
		t.Error("a secret must give its text back")
	}
	var none config.Secret
	if none.Reveal() != "" || none.IsSet() || none.String() != "" || none != config.NewSecret("") {
		t.Error("an empty secret must be empty")
	}
}
