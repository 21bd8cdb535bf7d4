package api_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"parley/core/api"
	"parley/core/chat"
)

func TestHealth(t *testing.T) {
	findings := []chat.Finding{{Part: "telegram", Level: chat.Good, Says: "Polls."}, {Part: "model", Level: chat.Off, Says: "tokentoken"}}
	h := api.Health(func(context.Context) []chat.Finding { return findings }, func(s string) string {
		return strings.ReplaceAll(s, "tokentoken", "[redacted]")
	})
	l, err := api.ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- api.ServeHTTP(ctx, l, h, nil) }()
	ask := func(path string) (int, string) {
		resp, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode, strings.TrimSpace(string(body))
	}
	if status, body := ask("/healthz"); status != 200 || body != "ok" {
		t.Errorf("healthz: %d %s", status, body)
	}
	if status, body := ask("/readyz"); status != 200 || body != `[{"level":"ok","part":"telegram","says":"Polls."},{"level":"off","part":"model","says":"[redacted]"}]` {
		t.Errorf("readyz: %d %s", status, body)
	}
	findings = []chat.Finding{{Part: "telegram", Level: chat.Fail, Says: "Is cut off.", Remedy: "Wait."}}
	if status, body := ask("/readyz"); status != 503 || body != `[{"level":"fail","part":"telegram","remedy":"Wait.","says":"Is cut off."}]` {
		t.Errorf("readyz when it fails: %d %s", status, body)
	}
	findings = nil
	if status, body := ask("/readyz"); status != 200 || body != `[]` {
		t.Errorf("readyz without parts: %d %s", status, body)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestListenHTTP(t *testing.T) {
	l, err := api.ListenHTTP("off")
	if l != nil || err != nil {
		t.Fatalf("off: %v, %v", l, err)
	}
	if err := api.ServeHTTP(t.Context(), l, nil, nil); err != nil {
		t.Error(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	at := taken.Addr().String()
	_, err = api.ListenHTTP(at)
	if want := "http.listen: another program listens on " + at + "; stop it, or set another address or off"; err == nil || err.Error() != want {
		t.Errorf("port in use: %v", err)
	}
	_, err = api.ListenHTTP("192.0.2.1:80")
	if err == nil || !strings.HasPrefix(err.Error(), "http.listen: this machine does not have the address of 192.0.2.1:80;") {
		t.Errorf("foreign address: %v", err)
	}
	_, err = api.ListenHTTP("127.0.0.1:no-such-service")
	if err == nil || !strings.HasPrefix(err.Error(), "http.listen: parley cannot listen on 127.0.0.1:no-such-service (") || !strings.HasSuffix(err.Error(), "; set another address or off") {
		t.Errorf("no address at all: %v", err)
	}
}
