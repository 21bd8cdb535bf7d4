package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/core/llm/llmtest"
	"parley/core/session"
	"parley/storage/bolt"
	"parley/tools"
)

// commanding is a model that runs one command and then tells what came back.
func commanding(command string) func(llmtest.Request) llmtest.Script {
	return func(r llmtest.Request) llmtest.Script {
		for _, m := range r.Messages {
			if m.Role == "tool" {
				return llmtest.Script{llmtest.Text("It said: " + m.Text)}
			}
		}
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			panic(err)
		}
		return llmtest.Script{llmtest.Call{Name: tools.ExecuteCmd, Args: string(args)}}
	}
}

// gated is parley with a model that runs a command, and a person who allows
// it.
func gated(t *testing.T, command, settings string) (parley, result) {
	t.Helper()
	p := real(t, fakeModel(t, commanding(command)).URL())
	config, err := os.ReadFile(filepath.Join(p.dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "config.yaml", string(config)+settings)
	p.stdin = "please\n1\n" // the first button is Approve
	return p, p.run(t, "chat")
}

// audit reads what was decided and what came of it.
func (p parley) audit(t *testing.T) []session.Audit {
	t.Helper()
	store, err := bolt.Open(filepath.Join(p.dir, "data", "parley.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	lines, err := session.ReadAudit(t.Context(), store, 100)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestRealApproval: a command waits for a person, runs when it is allowed, and
// everything of that is in the audit stream, the decision before the deed.
func TestRealApproval(t *testing.T) {
	t.Parallel()
	p, r := gated(t, "echo the answer is $((6 * 7))", "sandbox: none\n")
	if r.code != 0 || !strings.Contains(r.out, "May this run?") || !strings.Contains(r.out, "the answer is 42") {
		t.Fatalf("got %+v", r)
	}
	var decisions []string
	for _, line := range p.audit(t) {
		if line.Tool != tools.ExecuteCmd || line.Category != tools.Shell {
			t.Errorf("line %+v", line)
		}
		decisions = append(decisions, line.Decision)
	}
	if got := strings.Join(decisions, " "); got != "asked approved allowed done" {
		t.Errorf("audit: %s", got)
	}
}

// TestRealCommandsMayNotUseTheSocket: a command that parley runs cannot ask
// parley for anything, not even through a daemon: it could approve its own
// calls. In a sandbox it does not even find the socket.
func TestRealCommandsMayNotUseTheSocket(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ wrap, settings string }{
		"child":        {"", "sandbox: none\n"},
		"daemon":       {"setsid -w sh -c '(sh -c \"$1\" > out 2>&1; echo code $? >> out) & wait' x", "sandbox: none\n"},
		"in a sandbox": {"", "sandbox: auto\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			command := asProgram + "=real " + exe + " pair approve ABCD1234 --config CONFIG"
			if c.wrap != "" {
				command = c.wrap + " '" + command + "'; cat out"
			}
			p := parley{dir: dir, env: []string{asProgram + "=real"}}
			command = strings.ReplaceAll(command, "CONFIG", filepath.Join(dir, "config.yaml"))
			p.model(t, fakeModel(t, commanding(command)).URL())
			config, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			p.write(t, "config.yaml", string(config)+c.settings)
			p.stdin = "please\n1\n"
			r := p.run(t, "chat")
			if r.code != 0 || !strings.Contains(r.out, "It said:") {
				t.Fatalf("got %+v", r)
			}
			if strings.Contains(r.out, "may talk to parley now") || strings.Contains(r.out, "Nobody is waiting with the code") {
				t.Errorf("the command was served: %s", r.out)
			}
			if c.settings == "sandbox: none\n" && !strings.Contains(r.out, "parley itself") {
				t.Errorf("the refusal does not say why: %s", r.out)
			}
			refused := slices.ContainsFunc(p.audit(t), func(a session.Audit) bool {
				return a.Decision == "refused" && a.Label == "parley socket" && strings.Contains(a.Why, "the agent must not decide")
			})
			if c.settings == "sandbox: none\n" && !refused {
				t.Error("the refusal is not in the audit stream")
			}
		})
	}
}

// TestRealCommandsSeeNoSecrets: what parley knows is not in the environment of
// what it runs (SEC-08), and what is shown of it is redacted.
func TestRealCommandsSeeNoSecrets(t *testing.T) {
	t.Parallel()
	_, r := gated(t, "env; cat /proc/$PPID/environ | tr '\\0' '\\n'", "sandbox: none\n")
	if r.code != 0 || !strings.Contains(r.out, "PATH=") {
		t.Fatalf("got %+v", r)
	}
	if strings.Contains(r.out, asProgram) || strings.Contains(r.out, "sk-invented") {
		t.Errorf("the command sees what is parley's: %s", r.out)
	}
}

// TestRealResultsHoldNoSecrets: a secret that a tool comes upon reaches neither
// the model nor the log nor the chat.
func TestRealResultsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	model := fakeModel(t, commanding("echo the key is sk-invent''ed"))
	p := real(t, model.URL())
	p.stdin = "please\n1\n"
	r := p.run(t, "chat")
	if r.code != 0 || !strings.Contains(r.out, "the key is [redacted]") {
		t.Errorf("got %+v", r)
	}
	for _, request := range model.Requests() {
		if strings.Contains(string(request.Body), "sk-invented") {
			t.Error("the model reads the secret")
		}
	}
	data, err := os.ReadFile(filepath.Join(p.dir, "data", "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "sk-invented") {
		t.Error("the secret is in the store")
	}
}
