package llm

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// longestQuote is how much of a server's words an error repeats.
const longestQuote = 400

// scrubber takes secrets out of what servers and the transport say.
type scrubber struct{ secrets *strings.Replacer }

// shortestSecret keeps a key such as "x" from emptying every sentence.
const shortestSecret = 4

// newScrubber learns the key, the header values and what the address carries.
func newScrubber(c Config, u *url.URL) *scrubber {
	secrets := []string{c.Key}
	for _, v := range c.Headers {
		secrets = append(secrets, v, strings.TrimPrefix(v, "Bearer "))
	}
	if u.User != nil {
		name := u.User.Username()
		pass, _ := u.User.Password()
		login := name + ":" + pass
		// Without a password the name is the token.
		secrets = append(secrets, login, cmp.Or(pass, name), base64.StdEncoding.EncodeToString([]byte(login)))
	}
	for _, vs := range u.Query() {
		secrets = append(secrets, vs...)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		if len(s) >= shortestSecret {
			pairs = append(pairs, s, redacted, url.QueryEscape(s), redacted, url.PathEscape(s), redacted)
		}
	}
	return &scrubber{strings.NewReplacer(pairs...)}
}

const redacted = "[redacted]"

var address = pattern(`https?://[^\s"'<>]+`)

// text takes secrets out of s, and login and query out of every address in it.
func (s *scrubber) text(t string) string {
	return address().ReplaceAllStringFunc(s.secrets.Replace(t), bareAddress)
}

// quote is text for a server's words: one line, valid, and not long.
func (s *scrubber) quote(t string) string {
	t = strings.Join(strings.Fields(strings.ToValidUTF8(s.text(t), "�")), " ")
	if len(t) <= longestQuote {
		return t
	}
	cut := longestQuote
	for !utf8.RuneStart(t[cut]) {
		cut--
	}
	return t[:cut] + " …"
}

// err returns err without the address that the transport wraps around it, and
// without secrets. The chain survives where it held none.
func (s *scrubber) err(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if clean := s.text(err.Error()); clean != err.Error() {
		return errors.New(clean)
	}
	return err
}

// bareAddress keeps scheme, host and path.
func bareAddress(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "[address]"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
