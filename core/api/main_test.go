package api_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/core/api"
	"parley/core/chat"
)

// The test binary is its own child: PARLEY_CHILD says as what.
const childEnv = "PARLEY_CHILD"

func TestMain(m *testing.M) {
	switch as := os.Getenv(childEnv); as {
	case "":
		goleak.VerifyTestMain(m)
	case "ask":
		askAsChild(os.Getenv("PARLEY_DATA"))
	case "serve":
		serveAsChild(os.Getenv("PARLEY_DATA"))
	default:
		fmt.Println("no such child:", as)
		os.Exit(1)
	}
}

// askAsChild prints what a parley answers.
func askAsChild(dataDir string) {
	client, err := api.Dial(context.Background(), dataDir)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	user, err := client.Approve(context.Background(), "CODE2345")
	fmt.Println(user.ID, err)
}

// serveAsChild serves until it is killed, and prints a line once it does.
func serveAsChild(dataDir string) {
	s, err := api.Listen(dataDir)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Println("listening")
	fmt.Println(s.Serve(context.Background(), host(), nil))
}

// host knows one code.
func host() api.Host {
	return api.Host{
		Version: "7",
		Status: func(context.Context) (api.Status, error) {
			return api.Status{Version: "7", PID: os.Getpid(), Counts: []api.Count{{Name: "sessions", Value: 3}}}, nil
		},
		Check: func(context.Context) ([]chat.Finding, error) {
			return []chat.Finding{{Part: "store", Level: chat.Good, Says: "Opened with tokentoken."}}, nil
		},
		Doctor: func(context.Context) ([]chat.Finding, error) {
			return nil, fmt.Errorf("asking model: %w", fmt.Errorf("dialing http://x/tokentoken"))
		},
		Pairings: func(context.Context) ([]api.Pairing, error) {
			return []api.Pairing{{User: chat.User{ID: "telegram:5", Name: "Ada"}}}, nil
		},
		Approve: func(_ context.Context, code string) (chat.User, error) {
			if code != "CODE2345" {
				return chat.User{}, &api.Error{Status: http.StatusNotFound, Says: "no such code", Remedy: "ask for a new one"}
			}
			return chat.User{ID: "telegram:5"}, nil
		},
		Tools: func(_ context.Context, role string) ([]api.Tool, error) {
			return []api.Tool{{Name: "look", Rule: role}}, nil
		},
		Rules: func(_ context.Context, group string) ([]api.Rule, error) {
			return []api.Rule{{ID: "r1", Group: group, Priority: 7}}, nil
		},
		AskRules: func(_ context.Context, words []string) (string, error) { return strings.Join(words, "|"), nil },
		OrderRules: func(_ context.Context, words []string) (string, error) {
			if len(words) == 0 {
				return "", &api.Error{Says: "say what"}
			}
			return "done " + strings.Join(words, "|"), nil
		},
		Audit: func(_ context.Context, n int) ([]api.Audit, error) {
			return []api.Audit{{Who: "Ada", Why: fmt.Sprint(n)}}, nil
		},
		Redact: func(text string) string {
			if text == "Opened with tokentoken." {
				return "Opened with [redacted]."
			}
			if text == "asking model: dialing http://x/tokentoken" {
				return "asking model: dialing http://x/[redacted]"
			}
			return text
		},
	}
}
