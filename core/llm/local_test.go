package llm_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/core/llm"
	"parley/core/llm/llmtest"
)

// TestFindLocal asks servers that are model servers and such that are not.
func TestFindLocal(t *testing.T) {
	const list, kind = `{"object":"list","data":[{"id":"nomic-embed-text","object":"model"},{"id":"chatty","object":"model","max_model_len":4096}]}`, "application/json"
	for name, c := range map[string]struct {
		status     int
		kind, body string
		want       string
	}{
		"a model server":   {200, kind, list, "chatty"},
		"with charset":     {200, kind + "; charset=utf-8", list, "chatty"},
		"embeddings only":  {200, kind, `{"object":"list","data":[{"id":"nomic-embed-text","object":"model"}]}`, ""},
		"no models":        {200, kind, `{"object":"list","data":[]}`, ""},
		"a page":           {200, "text/html", "<html>", ""},
		"a page of JSON":   {200, "text/html", list, ""},
		"other JSON":       {200, kind, `{"data":[{"id":"x"}]}`, ""},
		"other list":       {200, kind, `{"object":"list","data":[{"id":"x","object":"file"}]}`, ""},
		"a list":           {200, kind, `[]`, ""},
		"an error":         {500, kind, list, ""},
		"unauthorised":     {401, kind, `{"error":"no"}`, ""},
		"parley":           {200, kind, `{"object":"list","data":[{"id":"parley","object":"model","owned_by":"parley"}]}`, ""},
		"a sign-in":        {302, kind, list, ""},
		"nothing at all":   {200, kind, ``, ""},
		"a page, no types": {200, "", "hello", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("Location", "/")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer s.Close()
			got, ok := llm.FindLocal(t.Context(), []string{s.URL + "/v1/"})
			if ok != (c.want != "") || got.ID != c.want || ok && (got.Context != 4096 || got.BaseURL != s.URL+"/v1") {
				t.Errorf("found %q at %q, %v", got.ID, got.BaseURL, ok)
			}
		})
	}
}

// TestFindLocalAsksLoopbackOnly: 0.0.0.0 leads to this machine as well, so it
// stands for an address elsewhere that would answer.
func TestFindLocalAsksLoopbackOnly(t *testing.T) {
	s := llmtest.NewServer(nil)
	defer s.Close()
	if got, ok := llm.FindLocal(t.Context(), []string{strings.Replace(s.URL(), "127.0.0.1", "0.0.0.0", 1)}); ok {
		t.Errorf("asked %v", got.BaseURL)
	}
}

// TestFindLocalOrder: the first candidate wins over a faster one, and dead ones
// do no harm.
func TestFindLocalOrder(t *testing.T) {
	a, b := llmtest.NewServer(nil), llmtest.NewServer(nil)
	defer a.Close()
	defer b.Close()
	a.Models("bge-m3", "first")
	b.Models("second")
	got, ok := llm.FindLocal(t.Context(), []string{"http://127.0.0.1:1/v1", "http://192.0.2.1/v1", "https://model.test", "::", a.URL(), b.URL()})
	if !ok || got.ID != "first" || got.Name != "local" {
		t.Errorf("found %v, %v", got, ok)
	}
	m, err := llm.NewOpenAI(got)
	if err != nil {
		t.Fatal(err)
	}
	if reply := ask(t, m, hello()); reply.Text != "echo: hello" {
		t.Errorf("it says %q", reply.Text)
	}
}
