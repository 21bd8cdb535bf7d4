package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"parley/core/llm"
	"parley/core/llm/llmtest"
)

// TestSEC02 looks for the key, a header's secret, and login and query of the
// address in everything that can be printed of a failing model.
func TestSEC02(t *testing.T) {
	for _, login := range []string{"u:hunter22", "hunter22"} { // the second is a token
		lookForSecrets(t, login)
	}
}

func lookForSecrets(t *testing.T, login string) {
	const key, header, pass, query = "sk-very-secret", "header-secret", "hunter22", "query-secret"
	echo := strings.Join([]string{key, "Bearer " + key, header, pass, query, "http://u:" + pass + "@h/p?k=" + query}, " ")
	for name, transport := range map[string]roundTrip{
		"no connection": func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		},
		"telling":     func(*http.Request) (*http.Response, error) { return nil, errors.New(echo) },
		"401":         answer(401, `{"error":{"message":"wrong key: `+echo+`"}}`),
		"500":         answer(500, "<title>"+echo+"</title>"),
		"page":        answer(200, "<html>"+echo),
		"text":        answer(200, echo),
		"broken":      answer(200, "data: {"+echo+"}\n\n"),
		"in stream":   answer(200, "data: {\"error\":\""+echo+"\"}\n\n"),
		"redirection": answer(302, ""),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := llm.NewOpenAI(llm.Config{
				ID: "m", Key: key, BaseURL: "http://" + login + "@model.test/v1?api=" + query,
				Headers: map[string]string{"X-Key": header}, Client: &http.Client{Transport: transport},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Stream(context.Background(), hello(), nil)
			if err == nil {
				t.Fatal("no error")
			}
			all := fmt.Sprintf("%v %+v %#v %s %v %+v %#v", err, err, err, llm.Sentence(err), m, m, m)
			for e := err; e != nil; e = errors.Unwrap(e) {
				all += fmt.Sprintf(" %v %+v %#v", e, e, e)
			}
			for _, secret := range []string{key, header, pass, query} {
				if strings.Contains(all, secret) {
					t.Errorf("%q is in %s", secret, all)
				}
			}
		})
	}
}

func answer(status int, body string) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Location": {"https://u:hunter22@login.test/?next=query-secret"}}
		return &http.Response{StatusCode: status, Header: h, Body: &pieces{ctx: r.Context(), rest: []byte(body), size: 1 << 20}, Request: r}, nil
	}
}

func TestConfigPrintsNoKey(t *testing.T) {
	c := llm.Config{Name: "main", ID: "m", Key: "sk-secret"}
	if all := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(all, "secret") {
		t.Error(all)
	}
}

// TestKeyIsSent: the key goes to its server, and a header of the configuration
// wins over it.
func TestKeyIsSent(t *testing.T) {
	m, s := newModel(t, llm.Config{Key: " sk-a\n"}, nil)
	ask(t, m, hello())
	if got := last(s).Header.Get("Authorization"); got != "Bearer sk-a" {
		t.Errorf("sent %q", got)
	}
	m, s = newModel(t, llm.Config{Key: "sk-a", Headers: map[string]string{"Authorization": "Basic b"}}, nil)
	ask(t, m, hello())
	if got := last(s).Header.Get("Authorization"); got != "Basic b" {
		t.Errorf("sent %q", got)
	}
	m, s = newModel(t, llm.Config{}, llmtest.Echo)
	ask(t, m, hello())
	if got, ok := last(s).Header["Authorization"]; ok {
		t.Errorf("sent %q", got)
	}
}

// TestSentences: every kind has its own sentence, without an address.
func TestSentences(t *testing.T) {
	seen := map[string]llm.Kind{}
	for _, k := range []llm.Kind{llm.Unreachable, llm.Silent, llm.Cut, llm.Refused, llm.Missing, llm.Limited, llm.Spent,
		llm.Overloaded, llm.Garbage, llm.TooLong, llm.NoVision, llm.Bad, "new kind"} {
		s := (&llm.Error{Kind: k, Model: "main", Status: 500, Err: errors.New("http://model.test")}).Sentence()
		if seen[s] != "" || strings.Contains(s, "http") || !strings.HasPrefix(s, `The model "main" `) || !strings.Contains(s, "/") && k != llm.Refused {
			t.Errorf("%s: %q", k, s)
		}
		seen[s] = k
	}
	if llm.Sentence(nil) != "" || llm.Sentence(errors.New("x")) == "" {
		t.Error("other errors")
	}
}
