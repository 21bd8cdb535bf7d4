package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"parley/cmd/parley/redact"
)

const secret = `7001:A/b+c "q" <é>` + "\nend"

func TestSpellings(t *testing.T) {
	r := redact.New(secret)
	inJSON, _ := json.Marshal(secret)
	std := base64.StdEncoding.EncodeToString([]byte(secret))
	for name, text := range map[string]string{
		"plain":       secret,
		"query":       url.QueryEscape(secret),
		"path":        url.PathEscape(secret),
		"json":        strings.Trim(string(inJSON), `"`),
		"quoted":      strings.Trim(fmt.Sprintf("%q", secret), `"`),
		"base64":      strings.TrimRight(std, "="),
		"base64 url":  base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"two of them": secret,
	} {
		got := r.String("before " + text + " after")
		if got != "before [redacted] after" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// A transport's error quotes the whole address.
func TestSEC02TransportError(t *testing.T) {
	r := redact.New("123456:AAfakeTokenOfABot")
	err := &url.Error{Op: "Post", URL: "https://api.telegram.org/bot123456:AAfakeTokenOfABot/getMe", Err: errors.New("network is unreachable")}
	want := `Post "https://api.telegram.org/bot[redacted]/getMe": network is unreachable`
	if got := r.String(err.Error()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShortAndNested(t *testing.T) {
	r := redact.New("abc", "", "secret", "secret-and-more")
	for text, want := range map[string]string{
		"abc stays":           "abc stays",
		"a secret":            "a [redacted]",
		"the secret-and-more": "the [redacted]",
		"":                    "",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	r := redact.New()
	w := r.Writer(&out)
	line := []byte("token tokentoken\n")
	for range 2 {
		if n, err := w.Write(line); n != len(line) || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
		r.Add("tokentoken")
	}
	if want := "token tokentoken\ntoken [redacted]\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	var none *redact.Redactor
	if got := none.String("x"); got != "x" {
		t.Errorf("nil: got %q", got)
	}
}

func TestWriterPassesErrors(t *testing.T) {
	w := redact.New("tokentoken").Writer(broken{})
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("want the writer's error")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestConcurrent(t *testing.T) {
	r := redact.New()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s := fmt.Sprintf("secret-number-%d", i)
			r.Add(s)
			if got := r.String(s); got != redact.Mark {
				t.Errorf("got %q", got)
			}
		})
	}
	wg.Wait()
}

func BenchmarkString(b *testing.B) {
	r := redact.New("123456:AAfakeTokenOfABot", "sk-invented-and-long-enough", "xoxb-invented-token")
	line := strings.Repeat(`{"level":"info","message":"delivered","chat":"telegram:-100123"}`, 3)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		_ = r.String(line)
	}
}
