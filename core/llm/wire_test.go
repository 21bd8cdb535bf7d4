package llm_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"

	"parley/core/llm"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata")

// TestWire plays every recorded answer in testdata/wire, cut into pieces of
// several sizes, and compares what a model makes of it. A file is an archive: a
// comment that says what it is about, "server" with the status and so on,
// "body", and "want".
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("reading testdata: %d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playWire(t, file) })
		})
	}
}

func playWire(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := readRecording(t, a)
	if *update {
		saveWant(t, file, a, r.play(t, 1<<20))
		return
	}
	sizes := []int{1 << 20, 1, 7}
	if len(r.body) > 10_000 {
		sizes = []int{1 << 10}
	}
	for _, size := range sizes {
		if again := r.play(t, size); again != r.want {
			t.Errorf("in pieces of %d bytes:\n%s\nwant:\n%s", size, again, r.want)
		}
	}
}

func saveWant(t *testing.T, file string, a *txtar.Archive, got string) {
	t.Helper()
	kept := a.Files[:0]
	for _, f := range a.Files {
		if f.Name != "want" {
			kept = append(kept, f)
		}
	}
	a.Files = append(kept, txtar.File{Name: "want", Data: []byte(got)})
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// recording is one answer of a server.
type recording struct {
	status int
	header http.Header
	body   []byte
	then   string // end, cut or hang
	want   string
}

func readRecording(t *testing.T, a *txtar.Archive) *recording {
	t.Helper()
	r := &recording{status: 200, header: http.Header{"Content-Type": {"text/event-stream"}}, then: "end"}
	lines := ""
	for _, f := range a.Files {
		switch f.Name {
		case "body":
			r.body = f.Data
		case "want":
			r.want = string(f.Data)
		case "server":
			lines = string(f.Data)
		}
	}
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		r.set(t, name, value)
	}
	return r
}

func (r *recording) set(t *testing.T, name, value string) {
	t.Helper()
	switch name {
	case "status":
		r.status, _ = strconv.Atoi(value)
	case "lines":
		end := map[string]string{"crlf": "\r\n", "cr": "\r"}[value]
		r.body = bytes.ReplaceAll(r.body, []byte("\n"), []byte(end))
	case "unended":
		r.body = bytes.TrimRight(r.body, "\n")
	case "bom":
		r.body = append([]byte("\xef\xbb\xbf"), r.body...)
	case "repeat": // the first line, so many times
		n, _ := strconv.Atoi(value)
		first, rest, _ := bytes.Cut(r.body, []byte("\n"))
		r.body = append(bytes.Repeat(append(first, '\n'), n), rest...)
	case "grow": // @ stands for so many letters
		n, _ := strconv.Atoi(value)
		r.body = bytes.ReplaceAll(r.body, []byte("@"), bytes.Repeat([]byte("x"), n))
	case "then":
		r.then = value
	case "header":
		n, v, _ := strings.Cut(value, ": ")
		r.header.Set(n, v)
	default:
		t.Fatalf("unknown setting %q", name)
	}
}

// play returns what a model makes of the recording in pieces of size bytes.
func (r *recording) play(t *testing.T, size int) string {
	t.Helper()
	client := &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		body := &pieces{ctx: req.Context(), rest: r.body, size: size, then: r.then}
		return &http.Response{StatusCode: r.status, Header: r.header, Body: body, Request: req}, nil
	})}
	m, err := llm.NewOpenAI(llm.Config{Name: "main", ID: "test-model", BaseURL: "http://model.test/v1", Client: client})
	if err != nil {
		t.Fatal(err)
	}
	s := &shown{}
	reply, err := m.Stream(t.Context(), hello(), s.take)
	if err != nil {
		return describeError(err)
	}
	if s.text.String() != reply.Text || s.reasoning.String() != reply.Reasoning {
		t.Errorf("streamed %q and %q, replied %q and %q", s.text.String(), s.reasoning.String(), reply.Text, reply.Reasoning)
	}
	return describe(reply, r.body, s.restarts)
}

func hello() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hello"}}}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pieces is a body that comes in pieces.
type pieces struct {
	ctx  context.Context
	rest []byte
	size int
	then string
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		switch p.then {
		case "cut":
			return 0, io.ErrUnexpectedEOF
		case "hang":
			<-p.ctx.Done()
			return 0, p.ctx.Err()
		}
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *pieces) Close() error { return nil }

// shown is what a person would have seen of a stream.
type shown struct {
	text, reasoning strings.Builder
	restarts        int
}

func (s *shown) take(d llm.Delta) {
	if d.Restart {
		s.text.Reset()
		s.reasoning.Reset()
		s.restarts++
	}
	s.text.WriteString(d.Text)
	s.reasoning.WriteString(d.Reasoning)
}

func describe(r llm.Reply, body []byte, restarts int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "text: %s\n", brief(r.Text))
	if r.Reasoning != "" {
		fmt.Fprintf(&b, "reasoning: %s\n", brief(r.Reasoning))
	}
	for _, c := range r.Calls {
		if !bytes.Contains(body, []byte(c.ID)) {
			c.ID = "(new id)"
		}
		fmt.Fprintf(&b, "call: %s %s %s", c.ID, c.Name, c.Args)
		if c.Broken != "" {
			fmt.Fprintf(&b, " broken: %s", c.Broken)
		}
		if c.Extra != nil {
			fmt.Fprintf(&b, " extra: %s", c.Extra)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "finish: %s\n", r.Finish)
	if !r.Usage.Guessed {
		fmt.Fprintf(&b, "usage: %d in, %d cached, %d out, %d reasoning\n", r.Usage.Input, r.Usage.Cached, r.Usage.Output, r.Usage.Reasoning)
	}
	if restarts > 0 {
		fmt.Fprintf(&b, "restarts: %d\n", restarts)
	}
	return b.String()
}

func brief(s string) string {
	if len(s) > 400 {
		return fmt.Sprintf("%q and so on, %d bytes", s[:20], len(s))
	}
	return strconv.Quote(s)
}

func describeError(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("not an *Error: %v\n", err)
	}
	after := ""
	if e.After > 0 {
		after = fmt.Sprintf("after: %s\n", e.After)
	}
	return fmt.Sprintf("error: %s\nstatus: %d\n%swords: %v\n", e.Kind, e.Status, after, e.Err)
}
