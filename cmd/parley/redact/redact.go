// Package redact keeps known secrets out of whatever is shown: log lines,
// errors, answers of the API, posts.
//
// The program makes one [Redactor], tells it every secret it comes to know, and
// puts it in front of every writer. The rooms of the core and the plugins,
// which may not import this package, are handed its String as a plain
// func(string) string.
//
// # Guarantees
//
// A secret of at least [MinLength] characters that was added is replaced in
// every text that comes later, as it is and in the spellings it commonly
// travels in: escaped in a URL or in JSON, quoted by Go, in base64 (a
// transport's error, say, quotes the whole address with a token in its path).
//
// # Caveats
//
// A writer sees one Write at a time, so a secret that is split over two of them
// passes. zerolog writes whole lines, and so must everybody else who writes
// through it. Shorter secrets are not looked for: they would tear up ordinary
// text. A secret that was transformed in another way is not recognised.
package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Mark stands in for a secret.
const Mark = "[redacted]"

// MinLength is how long a secret must be, in characters, to be looked for.
const MinLength = 6

// Redactor replaces known secrets by [Mark]. All methods are safe for
// concurrent use; a nil Redactor changes nothing.
type Redactor struct {
	mu       sync.Mutex      // held while adding
	known    map[string]bool // spellings
	replacer atomic.Pointer[strings.Replacer]
}

// New returns a Redactor that knows the secrets.
func New(secrets ...string) *Redactor {
	r := &Redactor{known: map[string]bool{}}
	r.Add(secrets...)
	return r
}

// Add makes more secrets known. It holds for every text that String or a
// writer gets after Add returned.
func (r *Redactor) Add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.known)
	for _, s := range secrets {
		for _, spelling := range spellings(s) {
			r.known[spelling] = true
		}
	}
	if len(r.known) > before {
		r.replacer.Store(replacer(r.known))
	}
}

// String returns the text without the secrets.
func (r *Redactor) String(text string) string {
	if r == nil {
		return text
	}
	if replacer := r.replacer.Load(); replacer != nil {
		return replacer.Replace(text)
	}
	return text
}

// Writer returns a writer that passes everything on to w without the secrets.
// Each Write becomes one Write of w, so a secret must not be split over two;
// it is as concurrent as w.
func (r *Redactor) Writer(w io.Writer) io.Writer { return &writer{r, w} }

type writer struct {
	redactor *Redactor
	to       io.Writer
}

// Write reports all of p as written once w took what became of it.
func (w *writer) Write(p []byte) (int, error) {
	if w.redactor == nil || w.redactor.replacer.Load() == nil {
		return w.to.Write(p)
	}
	if _, err := io.WriteString(w.to, w.redactor.String(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// replacer tries longer spellings first: one may be the beginning of another.
func replacer(known map[string]bool) *strings.Replacer {
	all := make([]string, 0, len(known))
	for s := range known {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	pairs := make([]string, 0, 2*len(all))
	for _, s := range all {
		pairs = append(pairs, s, Mark)
	}
	return strings.NewReplacer(pairs...)
}

// spellings lists the forms a secret travels in, none for one that is too
// short.
func spellings(secret string) []string {
	if utf8.RuneCountInString(secret) < MinLength {
		return nil
	}
	quoted := strconv.Quote(secret)
	raw := []byte(secret)
	return []string{
		secret,
		url.QueryEscape(secret),
		url.PathEscape(secret),
		quoted[1 : len(quoted)-1],
		inJSON(secret, true),
		inJSON(secret, false),
		base64.RawStdEncoding.EncodeToString(raw), // padding may follow
		base64.RawURLEncoding.EncodeToString(raw),
	}
}

// inJSON is the secret as a JSON string holds it.
func inJSON(secret string, html bool) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(html)
	if err := e.Encode(secret); err != nil {
		return secret
	}
	quoted := strings.TrimSuffix(out.String(), "\n")
	return quoted[1 : len(quoted)-1]
}
