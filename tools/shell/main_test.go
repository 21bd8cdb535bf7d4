package shell_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"parley/core/chat"
	"parley/tools"
	"parley/tools/shell"
)

// role says what a copy of the test program is to do instead of testing.
const role = "SHELL_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(role) == "bare" { // a parley without keepers
		actParley()
		return
	}
	if shell.Launcher(os.Args[1:]) {
		return
	}
	switch os.Getenv(role) {
	case "parley":
		actParley()
	case "shield":
		actShielded()
	default:
		if len(os.Args) == 3 && os.Args[1] == "connect" {
			actClient(os.Args[2])
		}
		os.Exit(m.Run())
	}
}

// actClient connects to a socket and says how it went.
func actClient(path string) {
	c, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println("no:", err)
		os.Exit(0)
	}
	_ = c.Close()
	fmt.Println("connected")
	os.Exit(0)
}

// actParley runs one command in the working directory and prints its record.
func actParley() {
	tool := shell.New(shell.Options{Sandbox: shell.None, Record: printer{}})
	call := callIn(".", os.Getenv("COMMAND"))
	call.Reach.Dir, _ = filepath.EvalSymlinks(os.Getenv("DIR"))
	tool.Run(context.Background(), call).Wait(context.Background())
}

// actShielded shields itself, says so, and ends when its input does.
func actShielded() {
	fmt.Println(shell.Shield())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// printer is a Recorder for another process to read.
type printer struct{}

func (printer) Started(_ context.Context, c shell.Child) error {
	return json.NewEncoder(os.Stdout).Encode(c)
}

func (printer) Ended(context.Context, string) error { return nil }

// memory is a Recorder that keeps what it was told.
type memory struct {
	mu   sync.Mutex
	open map[string]shell.Child
	all  []shell.Child
	err  error
}

func (m *memory) Started(_ context.Context, c shell.Child) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if m.open == nil {
		m.open = map[string]shell.Child{}
	}
	m.open[c.ID] = c
	m.all = append(m.all, c)
	return nil
}

func (m *memory) Ended(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, id)
	return nil
}

func (m *memory) counts() (open, all int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.open), len(m.all)
}

// callIn is a call of a command in a directory.
func callIn(dir, command string, more ...func(args map[string]any, r *tools.Reach)) tools.Call {
	if at, err := filepath.EvalSymlinks(dir); err == nil {
		dir = at
	}
	r := tools.Reach{Dir: dir}
	args := map[string]any{"command": command}
	for _, f := range more {
		f(args, &r)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return tools.Call{
		ID: "call_1", Name: tools.ExecuteCmd, Args: raw, Session: "s1", Key: chat.Key{Adapter: "terminal", Chat: "1"}, Reach: r,
		Ask:      func(context.Context, tools.Question) (tools.Answer, error) { return tools.Answer{None: true}, nil },
		Progress: func(string) {},
	}
}

// arg sets an argument.
func arg(name string, value any) func(map[string]any, *tools.Reach) {
	return func(args map[string]any, _ *tools.Reach) { args[name] = value }
}

// newTool runs commands, without a sandbox unless it is asked for one.
func newTool(t testing.TB, o ...shell.Options) *shell.Tool {
	t.Helper()
	options := shell.Options{Sandbox: shell.None}
	for _, given := range o {
		options = given
	}
	options.Env = append(options.Env, "GORACE=atexit_sleep_ms=0") // a keeper with a race detector would take a second to end
	return shell.New(options)
}

// do runs a command to its end.
func do(t *testing.T, tool *shell.Tool, call tools.Call) tools.Outcome {
	t.Helper()
	o := tool.Run(t.Context(), call).Wait(t.Context())
	if o.Stack != nil {
		t.Fatalf("%s\n%s", o.Text, o.Stack)
	}
	return o
}

// printed runs a command and returns what it printed, without the last line.
func printed(t *testing.T, tool *shell.Tool, call tools.Call) string {
	t.Helper()
	o := do(t, tool, call)
	if o.State != tools.Completed {
		t.Fatalf("%s: %s", o.State, o.Text)
	}
	return o.Text[:strings.LastIndexByte(o.Text, '[')]
}
