package shell_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/tools"
	"parley/tools/shell"
)

// token is a time to sleep by which the processes of one test are known. It is
// long, so a test that leaves one behind shows.
func token() string { return fmt.Sprintf("9%05d.%05d", rand.IntN(100000), rand.IntN(100000)) }

// await waits until at least n processes sleep.
func await(t testing.TB, token string, n int) []int {
	t.Helper()
	for range 2000 {
		if pids := shell.Sleeping(token); len(pids) >= n {
			return pids
		}
		time.Sleep(5 * time.Millisecond) // other processes have no clock of ours
	}
	t.Fatalf("only %d of %d processes began", len(shell.Sleeping(token)), n)
	return nil
}

// nothingLeft fails if something of the token runs, or a zombie stayed.
func nothingLeft(t testing.TB, token string) {
	t.Helper()
	if pids := shell.Running(token); len(pids) > 0 {
		t.Errorf("still running: %v", pids)
		for _, pid := range pids {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
	}
	if pids := shell.Zombies(); len(pids) > 0 {
		t.Errorf("zombies: %v, the first is %s", pids, shell.Stat(pids[0]))
	}
}

// trees are commands that leave processes in every way; T is the time to
// sleep. keeper: only a keeper finds them.
var trees = []struct {
	name, command string
	n             int // processes that sleep, at least
	keeper        bool
}{
	{"foreground", `sleep T; true`, 1, false},
	{"background", `sleep T & sleep T & wait`, 2, false},
	{"a shell that has gone", `(sleep T &) ; sleep T; true`, 2, false},
	{"setsid", `setsid sleep T & wait`, 1, false},
	{"setsid, forked twice", `(setsid sh -c 'sleep T & exec sleep T' &) ; sleep T; true`, 3, false},
	{"nohup", `nohup sleep T >/dev/null 2>&1 & wait`, 1, false},
	{"deaf to TERM", `trap '' TERM; sleep T & wait; sleep T`, 1, false},
	{"deaf and detached", `setsid sh -c 'trap "" TERM HUP INT; while :; do sleep T; done' & wait`, 1, false},
	{"suspended", `sh -c 'kill -STOP $$; : T' & sleep T & wait`, 1, false},
	{"a bounded bomb", `f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; exec sleep T; }; f 5`, 63, false},
	{"pipes", `sleep T | sleep T | cat`, 2, false},
	{"no environment", `env -i setsid sleep T & wait`, 1, false},
	{"no environment, forked twice", `(env -i setsid sh -c 'sleep T & exec sleep T' &) ; sleep T; true`, 3, true},
	{"starts as it dies", `trap 'sleep T & sleep T' TERM; sleep T & wait`, 1, false},
}

func eachTree(t *testing.T, f func(t *testing.T, command, token string, n int)) {
	for _, bare := range []bool{false, true} {
		for _, c := range trees {
			if bare && c.keeper {
				continue
			}
			t.Run(fmt.Sprintf("%s,bare=%v", c.name, bare), func(t *testing.T) {
				if bare {
					defer shell.Bare()()
				}
				token := token()
				defer nothingLeft(t, token)
				f(t, c.command, token, c.n)
			})
		}
	}
}

func fill(command, token string) string {
	return strings.NewReplacer("sleep T", "sleep "+token, ": T", ": "+token).Replace(command)
}

func TestStop(t *testing.T) {
	eachTree(t, func(t *testing.T, command, token string, n int) {
		record := &memory{}
		e := newTool(t, shell.Options{Sandbox: shell.None, Record: record}).Run(t.Context(), callIn(t.TempDir(), fill(command, token)))
		await(t, token, n)
		e.Stop(t.Context())
		nothingLeft(t, token)
		if o := e.Wait(t.Context()); o.State != tools.Cancelled {
			t.Errorf("%s: %s", o.State, o.Text)
		}
		if open, all := record.counts(); open != 0 || all != 1 {
			t.Errorf("%d of %d records are open", open, all)
		}
		e.Stop(t.Context())
	})
}

func TestWaitEnds(t *testing.T) {
	token := token()
	ctx, cancel := context.WithCancel(t.Context())
	e := newTool(t).Run(t.Context(), callIn(t.TempDir(), fill("sleep T & sleep T", token)))
	go func() {
		await(t, token, 2)
		cancel()
	}()
	if o := tools.Drive(ctx, e); o.State != tools.Cancelled || !strings.Contains(o.Text, "[stopped after") {
		t.Errorf("%s: %s", o.State, o.Text)
	}
	nothingLeft(t, token)
}

// A call's whole tree ends with the command.
func TestLeftBehind(t *testing.T) {
	eachTree(t, func(t *testing.T, command, token string, n int) {
		if !strings.Contains(command, "&") {
			t.Skip("it starts nothing that it leaves")
		}
		// The shell ends once all have begun.
		command = fmt.Sprintf("{ %s; } & while [ ! -e go ]; do sleep 0.01; done; echo over; exit 4", fill(command, token))
		dir := t.TempDir()
		e := newTool(t).Run(t.Context(), callIn(dir, command))
		await(t, token, n)
		if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		o := e.Wait(t.Context())
		nothingLeft(t, token)
		if o.State != tools.Completed || !strings.Contains(o.Text, "over\n") || !strings.Contains(o.Text, "[exit status 4 after") {
			t.Errorf("%s: %s", o.State, o.Text)
		}
	})
}

// A command that kills its keeper gains nothing.
func TestKeeperKilled(t *testing.T) {
	token, dir := token(), t.TempDir()
	record := &memory{}
	e := newTool(t, shell.Options{Sandbox: shell.None, Record: record}).Run(t.Context(), callIn(dir, fill(
		`(setsid sh -c 'sleep T & exec sleep T' &) ; env -i sleep T & sleep T & while [ ! -e go ]; do sleep 0.01; done; kill -9 $PPID; wait`, token)))
	await(t, token, 4)
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := e.Wait(t.Context()); o.State != tools.Failed || !strings.Contains(o.Text, "was killed") {
		t.Errorf("%s: %s", o.State, o.Text)
	}
	nothingLeft(t, token)
	if open, _ := record.counts(); open != 0 {
		t.Error("the record is open")
	}
}

// Somebody who is no descendant holds the pipe of the output.
func TestPipeHeld(t *testing.T) {
	token := token()
	e := newTool(t).Run(t.Context(), callIn(t.TempDir(), fill("echo one; sleep T; true", token)))
	pid := await(t, token, 1)[0]
	held, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", pid), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	e.Stop(t.Context())
	if o := e.Wait(t.Context()); o.State != tools.Cancelled || !strings.HasPrefix(o.Text, "one\n") {
		t.Errorf("%s: %s", o.State, o.Text)
	}
	nothingLeft(t, token)
}

// A process that detached in every way still descends from parley, also when
// its keeper is gone: the socket's check walks up the parents.
func TestDescends(t *testing.T) {
	for _, command := range []string{
		`(setsid sh -c 'setsid sleep T &' &) ; sleep 100`,
		`(setsid sh -c 'setsid sleep T &' &) ; sleep 0.1; kill -9 $PPID; sleep 100`,
	} {
		token := token()
		e := newTool(t).Run(t.Context(), callIn(t.TempDir(), fill(command, token)))
		pid := await(t, token, 1)[0]
		if chain := shell.Chain(pid); !slices.Contains(chain, os.Getpid()) {
			t.Errorf("%s: process %d has the ancestors %v, not %d", command, pid, chain, os.Getpid())
		}
		e.Stop(t.Context())
		e.Wait(t.Context())
		nothingLeft(t, token)
	}
}

// Other parts of the program wait for children of their own.
func TestOthersWait(t *testing.T) {
	other := exec.Command("sh", "-c", "exit 7")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		do(t, newTool(t), callIn(t.TempDir(), "sleep 0 & kill -9 $PPID; true"))
	}
	if err := other.Wait(); other.ProcessState.ExitCode() != 7 {
		t.Errorf("the child of another part ended with %v", err)
	}
}

func BenchmarkStop(b *testing.B) {
	tool := newTool(b)
	dir := b.TempDir()
	for _, c := range []struct{ name, command string }{
		{"sleeping", `sleep T & (setsid sh -c 'sleep T & exec sleep T' &) ; wait`},
		{"deaf", `trap '' TERM; sleep T & setsid sleep T & sleep T; sleep T`},
	} {
		b.Run(c.name, func(b *testing.B) {
			var total time.Duration
			for range b.N {
				token := token()
				e := tool.Run(b.Context(), callIn(dir, fill(c.command, token)))
				await(b, token, 3)
				began := time.Now()
				e.Stop(b.Context())
				total += time.Since(began)
				nothingLeft(b, token)
			}
			b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/stop")
		})
	}
}

func BenchmarkRun(b *testing.B) {
	tool := newTool(b)
	call := callIn(b.TempDir(), "true")
	for b.Loop() {
		tool.Run(b.Context(), call).Wait(b.Context())
	}
}
