package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"parley/core/chat"
)

// ErrNotServing is returned by Dial when no parley listens on the socket. The
// caller opens the data itself and asks a [Local] client.
var ErrNotServing = errors.New("no parley is running here")

// Client asks a parley, over its socket or in this process. It is safe for
// concurrent use. Its errors are *[Error] but for a context that ended.
type Client struct {
	http   *http.Client
	remote bool
}

// helloTimeout is how long a parley may take to say that it is there.
const helloTimeout = 5 * time.Second

// Dial finds the parley that serves a data_dir and makes sure that it answers.
// It returns ErrNotServing when none listens; any other error is a sentence.
// It blocks for a few seconds at most.
func Dial(ctx context.Context, dataDir string) (*Client, error) {
	path, err := find(dataDir)
	if err != nil {
		return nil, err
	}
	c := &Client{remote: true, http: &http.Client{
		Timeout: DoctorTimeout + helloTimeout,
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", path)
			},
		},
	}}
	hello, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	if _, err := c.Version(hello); err != nil {
		c.Close()
		return nil, explainDial(err, path)
	}
	return c, nil
}

func explainDial(err error, path string) error {
	var said *Error
	switch {
	case errors.As(err, &said):
		return said
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return ErrNotServing
	case errors.Is(err, fs.ErrPermission):
		return &Error{Says: fmt.Sprintf("this user may not reach the socket %q", path), Remedy: "run this command as the user that data_dir belongs to"}
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return &Error{Says: fmt.Sprintf("a parley has the socket %q but does not answer on it", path), Remedy: "give it a moment, else restart it"}
	}
	return fmt.Errorf("asking parley on %q: %w", path, err)
}

// Local makes a client of a host in this process. It goes through the same
// handler as the socket, so the two cannot drift.
func Local(h Host) *Client {
	return &Client{http: &http.Client{Transport: direct{Handler(h)}}}
}

// Remote reports whether a running parley is asked rather than this process.
func (c *Client) Remote() bool { return c.remote }

// Close lets go of the connection to the socket. Twice is fine.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Version returns the version of the parley that answers.
func (c *Client) Version(ctx context.Context) (string, error) {
	reply, err := ask[versionReply](ctx, c, http.MethodGet, routeVersion, nil)
	return reply.Version, err
}

// Status asks how parley is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return ask[Status](ctx, c, http.MethodGet, routeStatus, nil)
}

// Check asks for the report short of connecting.
func (c *Client) Check(ctx context.Context) ([]chat.Finding, error) {
	return ask[[]chat.Finding](ctx, c, http.MethodGet, routeCheck, nil)
}

// Doctor asks for the report with connecting. It may take DoctorTimeout.
func (c *Client) Doctor(ctx context.Context) ([]chat.Finding, error) {
	return ask[[]chat.Finding](ctx, c, http.MethodGet, routeDoctor, nil)
}

// Pairings asks who waits to be let in.
func (c *Client) Pairings(ctx context.Context) ([]Pairing, error) {
	return ask[[]Pairing](ctx, c, http.MethodGet, routePairings, nil)
}

// Approve lets in whoever got the code.
func (c *Client) Approve(ctx context.Context, code string) (chat.User, error) {
	return ask[chat.User](ctx, c, http.MethodPost, routeApprove, approveRequest{code})
}

// Remove takes access back from a user.
func (c *Client) Remove(ctx context.Context, user chat.UserID) (chat.User, error) {
	return ask[chat.User](ctx, c, http.MethodPost, routeRemove, removeRequest{user})
}

// Tools asks for the catalogue, judged for a role.
func (c *Client) Tools(ctx context.Context, role string) ([]Tool, error) {
	return ask[[]Tool](ctx, c, http.MethodGet, about(routeTools, "role", role), nil)
}

// Rules asks for the rules of a group, "" for all.
func (c *Client) Rules(ctx context.Context, group string) ([]Rule, error) {
	return ask[[]Rule](ctx, c, http.MethodGet, about(routeRules, "group", group), nil)
}

// AskRules asks about rules in the words of the command line.
func (c *Client) AskRules(ctx context.Context, words ...string) (string, error) {
	return ask[string](ctx, c, http.MethodGet, about(routeAsk, "word", words...), nil)
}

// OrderRules changes rules in the words of the command line.
func (c *Client) OrderRules(ctx context.Context, words ...string) (string, error) {
	return ask[string](ctx, c, http.MethodPost, routeOrder, orderRequest{words})
}

// Audit asks for the newest n lines of the audit stream.
func (c *Client) Audit(ctx context.Context, n int) ([]Audit, error) {
	return ask[[]Audit](ctx, c, http.MethodGet, about(routeAudit, "n", strconv.Itoa(n)), nil)
}

// about is a route with what is asked about.
func about(route, key string, values ...string) string {
	return route + "?" + url.Values{key: values}.Encode()
}

// maxReply bounds what is read of an answer.
const maxReply = 8 << 20

func ask[Out any](ctx context.Context, c *Client, method, route string, in any) (out Out, err error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return out, fmt.Errorf("encoding request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://parley"+route, body)
	if err != nil {
		return out, fmt.Errorf("making request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return out, err
	}
	defer func() { _ = resp.Body.Close() }()
	return out, read(resp, &out)
}

func read(resp *http.Response, out any) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return fmt.Errorf("reading parley's answer: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, out); err != nil {
			return fmt.Errorf("reading parley's answer: %w", err)
		}
		return nil
	}
	said := &Error{Status: resp.StatusCode}
	if json.Unmarshal(text, said) != nil || said.Says == "" {
		said.Says = "parley answered " + resp.Status
	}
	return said
}

// direct is a transport that calls a handler on the spot.
type direct struct{ handler http.Handler }

// RoundTrip blocks until the handler is done.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	served := r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	d.handler.ServeHTTP(w, served)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Header: w.header,
		Body: io.NopCloser(&w.body), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// recorder keeps what a handler answers.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header to be filled.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the status.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write keeps a piece of the body.
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
