package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server is a running model server. Safe for concurrent use.
type Server struct {
	answer func(Request) Script
	http   *http.Server
	ln     net.Listener
	pipe   *pipe         // of NewPipe
	client *http.Client  // of NewPipe
	done   chan struct{} // closed by Close
	ended  sync.WaitGroup
	once   sync.Once

	mu       sync.Mutex
	count    int
	keep     int
	models   []string
	requests []Request
}

// usualKeep is how many requests a server remembers.
const usualKeep = 1000

// NewServer starts a server on a free loopback port. A nil answer echoes. It
// panics when there is no port to be had.
func NewServer(answer func(Request) Script) *Server {
	s, err := Listen("127.0.0.1:0", answer)
	if err != nil {
		panic(err)
	}
	return s
}

// Listen starts a server at addr.
func Listen(addr string, answer func(Request) Script) (*Server, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	return serve(ln, answer), nil
}

// NewPipe starts a server in memory; only Client reaches it.
func NewPipe(answer func(Request) Script) *Server {
	p := newPipe()
	s := serve(p, answer)
	s.pipe = p
	s.client = &http.Client{Transport: &http.Transport{DialContext: p.dial}}
	return s
}

func serve(ln net.Listener, answer func(Request) Script) *Server {
	if answer == nil {
		answer = Echo
	}
	s := &Server{answer: answer, ln: ln, done: make(chan struct{}), keep: usualKeep, models: []string{"test-model"}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", s.list)
	mux.HandleFunc("POST /", s.complete)
	s.http = &http.Server{Handler: mux}
	s.ended.Go(func() { _ = s.http.Serve(ln) })
	return s
}

// URL is the base URL, with /v1.
func (s *Server) URL() string { return "http://" + s.ln.Addr().String() + "/v1" }

// Client returns a client that reaches a server of NewPipe, and nil otherwise.
func (s *Server) Client() *http.Client { return s.client }

// Close ends the server and every request under way. It may be called twice.
func (s *Server) Close() {
	s.once.Do(func() { close(s.done) })
	_ = s.http.Close()
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	s.ended.Wait()
}

// Keep sets how many requests are remembered, the latest; 0 means none.
func (s *Server) Keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = n
	s.trim()
}

// Models sets what GET /v1/models lists.
func (s *Server) Models(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = ids
}

// Requests returns the remembered requests in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Count returns how many requests arrived.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *Server) record(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	r.Number = s.count
	s.requests = append(s.requests, *r)
	s.trim()
}

// trim forgets the oldest requests, many at a time. The lock is held.
func (s *Server) trim() {
	if s.keep == 0 {
		s.requests = nil
	} else if len(s.requests) > 2*s.keep {
		s.requests = append([]Request(nil), s.requests[len(s.requests)-s.keep:]...)
	}
}

// list answers GET /v1/models.
func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		ID     string `json:"id"`
		Object string `json:"object"`
		Owner  string `json:"owned_by"`
	}
	s.mu.Lock()
	entries := []entry{}
	for _, id := range s.models {
		entries = append(entries, entry{id, "model", "llmtest"})
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": entries})
}

// complete answers a request for a completion.
func (s *Server) complete(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return
	}
	r := Request{At: time.Now(), Path: hr.URL.Path, Header: hr.Header, Body: body}
	if err := r.decode(); err != nil || !strings.HasSuffix(hr.URL.Path, "/chat/completions") {
		http.Error(w, `{"error":{"message":"no request for a completion","type":"invalid_request_error"}}`, http.StatusNotFound)
		return
	}
	s.record(&r)
	ctx, cancel := context.WithCancel(hr.Context())
	defer cancel()
	p := &player{s: s, ctx: ctx, w: w, r: r}
	p.play(s.answer(r))
}
