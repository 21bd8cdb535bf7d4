package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/core/api"
)

// Both ways to the API give the same answers.
func TestBothWays(t *testing.T) {
	dir := t.TempDir()
	serveHere(t, dir, host(), nil)
	remote, err := api.Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remote.Close)
	if local := api.Local(host()); local.Remote() || !remote.Remote() {
		t.Error("Remote tells the wrong way")
	}
	for name, client := range map[string]*api.Client{"local": api.Local(host()), "remote": remote} {
		t.Run(name, func(t *testing.T) { askAll(t, client) })
	}
}

func askAll(t *testing.T, c *api.Client) {
	ctx := t.Context()
	if v, err := c.Version(ctx); v != "7" || err != nil {
		t.Errorf("version: %q, %v", v, err)
	}
	if s, err := c.Status(ctx); err != nil || s.Counts[0].Value != 3 {
		t.Errorf("status: %+v, %v", s, err)
	}
	if f, err := c.Check(ctx); err != nil || f[0].Says != "Opened with [redacted]." {
		t.Errorf("check: %+v, %v", f, err)
	}
	if _, err := c.Doctor(ctx); err == nil || err.Error() != "asking model: dialing http://x/[redacted]" {
		t.Errorf("doctor: %v", err)
	}
	if p, err := c.Pairings(ctx); err != nil || p[0].User.Name != "Ada" {
		t.Errorf("pairings: %+v, %v", p, err)
	}
	if u, err := c.Approve(ctx, "CODE2345"); err != nil || u.ID != "telegram:5" {
		t.Errorf("approve: %+v, %v", u, err)
	}
	askAboutTools(t, c)
	_, err := c.Approve(ctx, "wrong")
	var said *api.Error
	if !errors.As(err, &said) || said.Status != http.StatusNotFound || err.Error() != "no such code; ask for a new one" {
		t.Errorf("wrong code: %v", err)
	}
	if _, err := c.Remove(ctx, "telegram:5"); err == nil || err.Error() != "this parley cannot do that" {
		t.Errorf("a func that is missing: %v", err)
	}
}

func askAboutTools(t *testing.T, c *api.Client) {
	ctx := t.Context()
	if l, err := c.Tools(ctx, "guest"); err != nil || len(l) != 1 || l[0].Name != "look" || l[0].Rule != "guest" {
		t.Errorf("tools: %+v, %v", l, err)
	}
	for _, group := range []string{"", "a&b=c"} {
		if l, err := c.Rules(ctx, group); err != nil || len(l) != 1 || l[0].Group != group || l[0].Priority != 7 {
			t.Errorf("rules: %+v, %v", l, err)
		}
	}
	if s, err := c.AskRules(ctx, "explain", "look", "/a b&c"); err != nil || s != "explain|look|/a b&c" {
		t.Errorf("a question: %q, %v", s, err)
	}
	if s, err := c.OrderRules(ctx, "add", "prompt=a b"); err != nil || s != "done add|prompt=a b" {
		t.Errorf("an order: %q, %v", s, err)
	}
	if _, err := c.OrderRules(ctx); err == nil || err.Error() != "say what" {
		t.Errorf("an order without words: %v", err)
	}
	if l, err := c.Audit(ctx, 9); err != nil || len(l) != 1 || l[0].Why != "9" {
		t.Errorf("audit: %+v, %v", l, err)
	}
	for _, n := range []int{0, -1, api.MostAudit + 1} {
		if _, err := c.Audit(ctx, n); err == nil || !strings.HasSuffix(err.Error(), " is no number of lines; ask for 1 to 5000") {
			t.Errorf("audit of %d: %v", n, err)
		}
	}
}

func TestBadRequests(t *testing.T) {
	h := api.Handler(host())
	for _, c := range []struct {
		name, method, path, kind, body string
		status                         int
		want                           string
	}{
		{"unknown path", "GET", "/v1/nope", "", "", 404, `{"error":"parley has nothing at GET /v1/nope","remedy":"the running parley may be of another version than this command; restart it"}`},
		{"wrong method", "GET", "/v1/pairings/approve", "", "", 404, `{"error":"parley has nothing at GET /v1/pairings/approve","remedy":"the running parley may be of another version than this command; restart it"}`},
		{"no JSON", "POST", "/v1/pairings/approve", "text/plain", `{"code":"x"}`, 415, `{"error":"the request is no JSON","remedy":"send Content-Type: application/json"}`},
		{"broken JSON", "POST", "/v1/pairings/approve", "application/json", `{"code":`, 400, `{"error":"the request cannot be read: unexpected EOF"}`},
		{"unknown field", "POST", "/v1/pairings/approve", "application/json", `{"kode":"x"}`, 400, `{"error":"the request cannot be read: json: unknown field \"kode\""}`},
		{"two values", "POST", "/v1/pairings/approve", "application/json", `{"code":"x"} {}`, 400, `{"error":"the request cannot be read: more follows the first value"}`},
		{"too large", "POST", "/v1/pairings/approve", "application/json", `{"code":"` + strings.Repeat("x", 65<<10) + `"}`, 413, `{"error":"the request is larger than 65536 bytes"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(context.Background(), c.method, c.path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.kind)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			body, _ := io.ReadAll(w.Body)
			if w.Code != c.status || strings.TrimSpace(string(body)) != c.want {
				t.Errorf("got %d %s", w.Code, body)
			}
		})
	}
}

func TestLocalEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := api.Local(host()).Version(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
