package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// fault is trouble that a server reported or that its answer showed, before it
// is known which model it was and what must not be repeated of it.
type fault struct {
	kind   Kind
	status int
	after  time.Duration
	err    error
	words  string // the server's own
}

// Error is for tests; the model makes an *Error of a fault.
func (f *fault) Error() string { return string(f.kind) + ": " + f.words }

// asError makes an *Error of a fault, scrubbed.
func (m *openAI) asError(f *fault) *Error {
	e := &Error{Kind: f.kind, Model: m.cfg.Name, Status: f.status, After: f.after}
	words := m.scrub.quote(f.words)
	switch {
	case f.err != nil && words != "":
		e.Err = fmt.Errorf("%w: %s", m.scrub.err(f.err), words)
	case f.err != nil:
		e.Err = m.scrub.err(f.err)
	case words != "":
		e.Err = errors.New(words)
	default:
		e.Err = errors.New("the server gave no reason")
	}
	return e
}

// refusal is what servers say when they refuse, in any of the forms we know.
type refusal struct {
	Error   json.RawMessage `json:"error"`
	Errors  json.RawMessage `json:"errors"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Msg     json.RawMessage `json:"msg"`
	Type    string          `json:"type"`
	Param   string          `json:"param"`
	Status  json.RawMessage `json:"status"` // Google: a word
	Code    json.RawMessage `json:"code"`   // a word, or the HTTP status
	Meta    json.RawMessage `json:"metadata"`
	Details json.RawMessage `json:"details"`
	Object  string          `json:"object"`
}

// looksLikeError says whether an object that is no chunk reports trouble.
func looksLikeError(data []byte) bool {
	var r refusal
	_ = json.Unmarshal(data, &r)
	if r.Type == "error" || r.Object == "error" || len(r.Detail) > 0 {
		return true
	}
	return len(r.Message) > 0 && len(r.Code) > 0 || len(r.Msg) > 0 && len(r.Code) > 0
}

// faultOf reads an error object, an error string, or anything else.
func faultOf(status int, raw []byte) *fault {
	words, code := readRefusal(raw)
	if status == 0 && code >= 400 && code < 600 {
		status = code
	}
	f := &fault{status: status, words: words, after: waitIn(words)}
	f.kind = classify(status, strings.ToLower(words), f.after > 0)
	return f
}

// readRefusal returns the words of a refusal, its type and code among them, and
// the numeric code if there is one.
func readRefusal(raw []byte) (string, int) {
	var r refusal
	text := strings.TrimSpace(string(raw))
	switch {
	case strings.HasPrefix(text, "["):
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			return readRefusal(list[0])
		}
	case strings.HasPrefix(text, `"`):
		var s string
		_ = json.Unmarshal(raw, &s)
		return s, 0
	case strings.HasPrefix(text, "<"):
		return pageTitle(text), 0
	case !strings.HasPrefix(text, "{"):
		return text, 0
	}
	_ = json.Unmarshal(raw, &r)
	return r.read(text)
}

func (r *refusal) read(whole string) (string, int) {
	var words []string
	code := 0
	for _, raw := range []json.RawMessage{r.Error, r.Errors, r.Message, r.Detail, r.Msg} {
		if hasError(raw) {
			text, inner := readRefusal(raw)
			words = append(words, text)
			code = max(code, inner)
		}
	}
	var number int
	if json.Unmarshal(r.Code, &number) == nil {
		code = max(code, number)
	}
	if len(words) == 0 {
		return whole, code
	}
	for _, s := range []string{r.Type, r.Param, plain(r.Code), plain(r.Status), plain(r.Meta), plain(r.Details)} {
		if s != "" && s != "error" && s != "null" {
			words = append(words, "("+s+")")
		}
	}
	return strings.Join(words, " "), code
}

// plain is a JSON string's text, or the JSON itself, but no number.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n float64
	if json.Unmarshal(raw, &n) == nil {
		return ""
	}
	return string(raw)
}

var title = pattern(`(?is)<title>(.*?)</title>`)

func pageTitle(page string) string {
	if t := title().FindStringSubmatch(page); t != nil {
		return "a web page: " + t[1]
	}
	return "a web page"
}

// refused makes a fault of a response that is no success.
func refused(r *http.Response, body []byte) *fault {
	f := faultOf(r.StatusCode, body)
	if d := retryAfter(r.Header); d > 0 {
		f.after = d
	}
	if r.StatusCode >= 300 && r.StatusCode < 400 {
		f.kind, f.words = Missing, "the server redirects to "+r.Header.Get("Location")
	}
	if f.kind == Missing && !strings.Contains(r.Request.URL.Path, "/v1") {
		f.words += " (does base_url lack /v1?)"
	}
	return f
}

// longestAfter bounds what a server may ask us to wait.
const longestAfter = 24 * time.Hour

// retryAfter reads the wait that the headers ask for: seconds, a date, or
// milliseconds in the header some providers add.
func retryAfter(h http.Header) time.Duration {
	if d, err := time.ParseDuration(h.Get("Retry-After-Ms") + "ms"); err == nil && d > 0 {
		return min(d, longestAfter)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if d, err := time.ParseDuration(value + "s"); err == nil {
		return max(0, min(d, longestAfter))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now := time.Now()
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs // their clock may differ from ours
	}
	return max(0, min(at.Sub(now), longestAfter))
}

var (
	waitClause = pattern(`(?i)(?:try again|retry|wait)[a-z ]{0,24}?(?:after|in|for)?\s+((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|seconds?|secs?|minutes?|mins?|hours?)\s*)+)`)
	retryDelay = pattern(`(?i)"?retry_?(?:delay|after)"?\s*[:=]\s*"?(\d+(?:\.\d+)?)s?`)
	waitPart   = pattern(`(?i)(\d+(?:\.\d+)?)\s*(ms|s|m|h)`)
)

// waitIn finds the wait that a server asks for in words.
func waitIn(words string) time.Duration {
	var total time.Duration
	if m := retryDelay().FindStringSubmatch(words); m != nil {
		total, _ = time.ParseDuration(m[1] + "s")
	} else if m := waitClause().FindStringSubmatch(words); m != nil {
		for _, p := range waitPart().FindAllStringSubmatch(m[1], -1) {
			d, _ := time.ParseDuration(p[1] + strings.ToLower(p[2]))
			total += d
		}
	}
	return max(0, min(total, longestAfter))
}
