package llm

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config describes one model at an OpenAI-compatible server. Only ID is needed.
type Config struct {
	Name     string // what people call it; default: ID
	BaseURL  string // up to and without /chat/completions; default: OpenAI's
	Key      string // sent as a bearer token; "": none
	ID       string // what the server calls it
	Strength string // "low", "medium" or "high"; default: medium
	Context  int    // tokens of prompt and answer together; default: 128000
	Output   int    // tokens of an answer; 0: the server's own limit
	Vision   bool   // takes pictures
	Price    Price

	// Reasoning says whether earlier reasoning goes back to the model.
	Reasoning Reasoning
	// Temperature is left out when nil, so that 0 can be said.
	Temperature *float64
	// Extra are more fields of the request's body. They win over our own; a
	// nil value takes a field out.
	Extra map[string]any
	// Headers are more HTTP headers; they win over our own. Their values are
	// treated as secrets.
	Headers map[string]string
	Limits  Limits
	// Client replaces the HTTP client, for tests and proxies. Redirects are
	// not followed whatever it says, and its Timeout is ignored.
	Client *http.Client
}

// Reasoning says whether the reasoning of earlier answers is sent back.
type Reasoning string

const (
	ReasoningAuto   Reasoning = ""       // once the server asks for it
	ReasoningAlways Reasoning = "always" // with every answer, a blank where there is none
	ReasoningNever  Reasoning = "never"
)

// Limits bound how long a server may do nothing. There is no limit on a whole
// answer: a slow model is as welcome as a fast one. Zero means the default.
type Limits struct {
	Connect   time.Duration // to connect, TLS included: 10 s
	FirstByte time.Duration // until the answer begins, keep-alives aside: 5 min
	// Silence is how long nothing at all may come once it has begun: 2 min. A
	// server that sends only keep-alives has FirstByte between two pieces.
	Silence time.Duration
}

const (
	defaultURL     = "https://api.openai.com/v1"
	defaultContext = 128_000
)

func (l Limits) withDefaults() Limits {
	return Limits{
		Connect:   orDefault(l.Connect, 10*time.Second),
		FirstByte: orDefault(l.FirstByte, 5*time.Minute),
		Silence:   orDefault(l.Silence, 2*time.Minute),
	}
}

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}

// String names the model and nothing secret.
func (c Config) String() string { return fmt.Sprintf("model %s (%s)", c.Name, c.ID) }

// GoString is String: no way of printing shows a key.
func (c Config) GoString() string { return c.String() }

// withDefaults fills in what was left out and returns the address to post to.
// Its errors name the setting and hold no secret.
func (c Config) withDefaults() (Config, *url.URL, error) {
	c.Key = strings.TrimSpace(c.Key)
	if c.ID == "" {
		return c, nil, errors.New("reading model: no id is set")
	}
	if c.Name == "" {
		c.Name = c.ID
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultURL
	}
	if c.Context <= 0 {
		c.Context = defaultContext
	}
	if err := c.check(); err != nil {
		return c, nil, fmt.Errorf("reading model %q: %w", c.Name, err)
	}
	if c.Strength == "" {
		c.Strength = "medium"
	}
	c.Limits = c.Limits.withDefaults()
	u, err := endpoint(c.BaseURL)
	if err != nil {
		return c, nil, fmt.Errorf("reading model %q: %w", c.Name, err)
	}
	return c, u, nil
}

func (c Config) check() error {
	switch c.Strength {
	case "", "low", "medium", "high":
	default:
		return fmt.Errorf("strength %q is none of low, medium, high", c.Strength)
	}
	switch c.Reasoning {
	case ReasoningAuto, ReasoningAlways, ReasoningNever:
	default:
		return fmt.Errorf("reasoning %q is none of always, never", c.Reasoning)
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errors.New("the key holds control characters")
	}
	return nil
}

// endpoint makes the chat completions address of a base URL.
func endpoint(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil { // which would quote a part of the address, perhaps a password
		return nil, errors.New("base_url is no valid address")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("base_url is no http or https address")
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	return u.JoinPath("chat", "completions"), nil
}
