package shell_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/tools/shell"
)

// another starts a copy of the test program as a parley that runs a command,
// and returns it with what it recorded.
func another(t *testing.T, as, command string) (*exec.Cmd, shell.Child) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{role + "=" + as, "COMMAND=" + command, "DIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var c shell.Child
	if err := json.Unmarshal(line, &c); err != nil {
		t.Fatal(err)
	}
	return cmd, c
}

// gone waits until nothing of the token runs.
func gone(t *testing.T, token string) {
	t.Helper()
	for range 2000 {
		if len(shell.Running(token)) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond) // other processes have no clock of ours
	}
	t.Fatalf("still running: %v", shell.Running(token))
}

const detached = `(setsid sh -c 'sleep T & exec sleep T' &) ; sleep T & trap '' TERM; sleep T; true`

// A parley without keepers is killed: what it left runs on until it is swept.
func TestSweep(t *testing.T) {
	token := token()
	defer nothingLeft(t, token)
	cmd, child := another(t, "bare", fill(detached, token))
	await(t, token, 4)
	pids := shell.Running(token)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()

	// Records that are not true of the innocent process, by one thing each.
	innocent := exec.Command("sleep", "1000")
	if err := innocent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = innocent.Process.Kill()
		_ = innocent.Wait()
	}()
	pid := innocent.Process.Pid
	children := []shell.Child{
		{ID: child.ID, PID: pid, Start: child.Start}, // the pid was used again
		{ID: shell.NewID(shell.NewRun()), PID: pid, Start: shell.Ticks(pid)},
		{ID: "", PID: pid, Start: shell.Ticks(pid)},
		{ID: ".", PID: pid}, {ID: "x.y", PID: pid}, {},
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if reports := shell.Sweep(ended, children); len(reports) > 0 || len(shell.Running(token)) < 5 {
		t.Errorf("with no time there was time for %+v", reports)
	}
	if reports := shell.Sweep(t.Context(), children[1:]); len(reports) > 0 || len(shell.Running(token)) < 5 {
		t.Errorf("records of nothing ended %+v", reports)
	}
	reports := shell.Sweep(t.Context(), children)
	nothingLeft(t, token)
	for _, r := range reports {
		if r.Left || r.ID != child.ID || !strings.Contains(r.Command, token) {
			t.Errorf("%+v", r)
		}
		pids = slices.DeleteFunc(pids, func(p int) bool { return p == r.PID })
	}
	if len(pids) > 0 {
		t.Errorf("not reported: %v in %+v", pids, reports)
	}
	if err := innocent.Process.Signal(syscall.Signal(0)); err != nil || shell.Ticks(pid) == 0 {
		t.Errorf("the innocent process: %v", err)
	}
}

// The process that was started is there, as recorded.
func TestSweepRecorded(t *testing.T) {
	token := token()
	cmd, child := another(t, "bare", fill("trap : TERM; sleep T; sleep T; sleep T", token))
	await(t, token, 1)
	if shell.Ticks(child.PID) != child.Start || shell.Marker(child.PID) != child.ID {
		t.Errorf("%+v is not what runs", child)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if r := shell.Sweep(t.Context(), []shell.Child{child}); len(r) < 2 || !slices.ContainsFunc(r, func(r shell.Report) bool { return r.PID == child.PID }) {
		t.Errorf("%+v", r)
	}
	nothingLeft(t, token)
}

// With keepers nothing outlives parley, whatever ends it.
func TestParleyKilled(t *testing.T) {
	token := token()
	cmd, child := another(t, "parley", fill(detached, token)+"; : env -i")
	await(t, token, 4)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	gone(t, token)
	// The keeper goes last. It came to this process, a sub-reaper as well.
	if p, err := os.FindProcess(child.PID); err == nil {
		_, _ = p.Wait()
	}
	if r := shell.Sweep(t.Context(), []shell.Child{child}); len(r) > 0 {
		t.Errorf("left was %+v", r)
	}
}

// What parley knows is not to be read by others of its user.
func TestShield(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("it takes root to start a process of another user")
	}
	as := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd := exec.Command("/proc/self/exe")
	cmd.SysProcAttr, cmd.Env, cmd.Dir = as, []string{role + "=shield", "KEY=secret"}, "/"
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "<nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	look := exec.Command("cat", "/proc/"+strconv.Itoa(cmd.Process.Pid)+"/environ")
	look.SysProcAttr = as
	if text, err := look.CombinedOutput(); err == nil {
		t.Errorf("another process reads %q", text)
	}
}
