package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// newClient returns the client a model talks through: own, or the one given
// without its total timeout, which would cut long answers (LLM-15).
func newClient(given *http.Client, l Limits) *http.Client {
	c := http.Client{Transport: newTransport(l)}
	if given != nil {
		c = *given
	}
	c.Timeout = 0
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

func newTransport(l Limits) *http.Transport {
	dialer := &net.Dialer{Timeout: l.Connect, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: l.Connect,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 256, // every chat of a busy gateway asks the same host
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // which would hold a stream back
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// post sends body and returns the response, whatever its status. The watch
// runs on; the caller stops it and closes the body.
func (m *openAI) post(w *watch, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(w.ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = m.header.Clone()
	// Present but empty: the transport may then send again on a new connection
	// when the server closed the kept one meanwhile. It does not go out.
	r.Header["Idempotency-Key"] = []string{}
	return m.client.Do(r)
}

func newHeader(c Config) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"text/event-stream, application/json"},
		"User-Agent":   {"parley"},
	}
	if c.Key != "" {
		h.Set("Authorization", "Bearer "+c.Key)
	}
	for name, value := range c.Headers {
		h.Set(name, value)
	}
	return h
}

// lost makes an *Error of a request that got no response, or of one whose body
// broke off. When the caller's ctx ended it is ctx's error.
func (m *openAI) lost(ctx context.Context, w *watch, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &Error{Kind: lostKind(err), Model: m.cfg.Name, Err: m.scrub.err(err)}
	if errors.Is(err, io.EOF) {
		e.Err = errNoAnswer
	}
	if w.silent() {
		e.Kind, e.Waited, e.Err = Silent, w.armed, errSilence
	}
	return e
}

var errNoAnswer = errors.New("the server closed the connection without an answer")

// lostKind classes what the transport says.
func lostKind(err error) Kind {
	var (
		dial *net.OpError
		name *net.DNSError
		cert *tls.CertificateVerificationError
		host x509.HostnameError
		tlsr tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &tlsr):
		return Missing
	case errors.As(err, &dial) && (dial.Op == "dial" || dial.Op == "proxyconnect"),
		errors.As(err, &name), errors.As(err, &cert), errors.As(err, &host),
		strings.Contains(err.Error(), "TLS handshake"):
		return Unreachable
	case strings.Contains(err.Error(), "malformed"):
		return Garbage
	}
	return Cut
}

// drain reads what is left of an answer, for a moment only, so that its
// connection can serve the next one.
func drain(w *watch, body io.Reader) {
	w.ends(drainTime)
	const most = 64 << 10
	_, _ = io.CopyN(io.Discard, body, most)
}
