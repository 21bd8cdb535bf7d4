package api_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/core/api"
)

// serveHere serves in this process until the test ends.
func serveHere(t *testing.T, dir string, h api.Host, refused func(api.Refusal)) *api.Socket {
	t.Helper()
	s, err := api.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, h, refused) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if _, err := os.Lstat(s.Path()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
	})
	return s
}

// child prepares the test binary to run as something else.
func child(t *testing.T, as, dataDir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = childEnviron(as, dataDir)
	return cmd
}

// childEnviron says what the test binary is. The race detector would let it
// sleep for a second at its end.
func childEnviron(as, dataDir string) []string {
	return append(os.Environ(), childEnv+"="+as, "PARLEY_DATA="+dataDir, "GORACE=atexit_sleep_ms=0")
}

// serveElsewhere serves in another process until the test ends.
func serveElsewhere(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := child(t, "serve", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "listening\n" {
		t.Fatalf("child says %q, %v", line, err)
	}
	return cmd
}

func TestDescendantIsRefused(t *testing.T) {
	dir := t.TempDir()
	refusals := make(chan api.Refusal, 1)
	serveHere(t, dir, host(), func(r api.Refusal) { refusals <- r })
	const why = "this command was started by parley itself, and the agent must not decide on its own requests"
	for _, command := range [][]string{{os.Args[0]}, {"sh", "-c", os.Args[0] + "; true"}} {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Env = childEnviron("ask", dir)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "error: "+why+"; run it from a shell of your own\n" {
			t.Errorf("%v: got %q, %v", command, out, err)
		}
		if r := <-refusals; r.PID == 0 || r.Why != why {
			t.Errorf("reported %+v", r)
		}
	}
}

// This process is the parent of the one that serves, not its child.
func TestOthersOfTheUserMayAsk(t *testing.T) {
	dir := t.TempDir()
	serveElsewhere(t, dir)
	client, err := api.Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if user, err := client.Approve(t.Context(), "CODE2345"); err != nil || user.ID != "telegram:5" {
		t.Errorf("got %v, %v", user, err)
	}
}

func TestModes(t *testing.T) {
	s := serveHere(t, t.TempDir(), host(), nil)
	info, err := os.Stat(s.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	dir := t.TempDir()
	dead := serveElsewhere(t, dir)
	_ = dead.Process.Kill()
	_ = dead.Wait()
	if _, err := os.Lstat(filepath.Join(dir, "parley.sock")); err != nil {
		t.Fatal("a killed process should leave its socket: ", err)
	}
	if _, err := api.Dial(t.Context(), dir); !errors.Is(err, api.ErrNotServing) {
		t.Errorf("dialing the dead: %v", err)
	}
	serveHere(t, dir, host(), nil)
	client, err := api.Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
}

func TestLivingSocketIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s := serveHere(t, dir, host(), nil)
	_, err := api.Listen(dir)
	if want := `another parley serves on "` + s.Path() + `"; stop it, or use another data_dir`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	client, err := api.Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
}

func TestFileInTheWay(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.sock")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := api.Listen(dir)
	if want := `"` + path + `" is in the way of parley's socket; move it away`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestNobodyThere(t *testing.T) {
	if _, err := api.Dial(t.Context(), filepath.Join(t.TempDir(), "gone")); !errors.Is(err, api.ErrNotServing) {
		t.Errorf("got %v", err)
	}
}

func TestLongPath(t *testing.T) {
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := serveHere(t, dir, host(), nil)
	if len(s.Path()) > 103 || !strings.HasPrefix(s.Path(), runtime) {
		t.Errorf("got path %s", s.Path())
	}
	if info, err := os.Stat(filepath.Dir(s.Path())); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v, %v", info, err)
	}
	for _, env := range []string{runtime, "", t.TempDir()} {
		t.Setenv("XDG_RUNTIME_DIR", env)
		client, err := api.Dial(t.Context(), dir)
		if err != nil {
			t.Errorf("with XDG_RUNTIME_DIR=%q: %v", env, err)
			continue
		}
		client.Close()
	}
	t.Setenv("XDG_RUNTIME_DIR", runtime)
}

// In a folder that everybody may enter, somebody else could answer.
func TestLongPathInAFolderOfOthers(t *testing.T) {
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	if err := os.Mkdir(filepath.Join(runtime, "parley"), 0o777); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Listen(dir); err == nil || !strings.Contains(err.Error(), "is not a folder of this user alone") {
		t.Errorf("listening: %v", err)
	}
	if _, err := api.Dial(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is not a folder of this user alone") {
		t.Errorf("dialing: %v", err)
	}
}

func TestSilentServer(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "parley.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c, err := l.Accept()
		if err == nil {
			cancel() // stands for the time that runs out
			_ = c.Close()
		}
	}()
	_, err = api.Dial(ctx, dir)
	if err == nil || errors.Is(err, api.ErrNotServing) {
		t.Errorf("got %v", err)
	}
}

func TestOtherUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become somebody else")
	}
	dir := publicDir(t)
	refusals := make(chan api.Refusal, 1)
	s := serveHere(t, dir, host(), func(r api.Refusal) { refusals <- r })
	cmd := asNobody(t, child(t, "ask", dir))
	out, err := cmd.CombinedOutput()
	if want := `error: this user may not reach the socket "` + s.Path() + `"; run this command as the user that data_dir belongs to` + "\n"; err != nil || string(out) != want {
		t.Errorf("by the mode: got %q, %v", out, err)
	}
	if err := os.Chmod(s.Path(), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err = asNobody(t, child(t, "ask", dir)).CombinedOutput()
	if want := "error: only the user that parley runs as may ask it; run this command as that user\n"; err != nil || string(out) != want {
		t.Errorf("by the peer: got %q, %v", out, err)
	}
	select {
	case r := <-refusals:
		if r.UID != nobody {
			t.Errorf("reported %+v", r)
		}
	default:
		t.Error("the refusal was not reported")
	}
}

// Where the folder belongs to another user, there is no socket and no old one to
// clear away; both are told with what helps.
func TestListenWithoutRights(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become somebody else")
	}
	dir := publicDir(t)
	const helps = "; run parley as the user that its folder belongs to, or hand that over with chown\n"
	path := filepath.Join(dir, "parley.sock")
	out, err := asNobody(t, child(t, "serve", dir)).CombinedOutput()
	if want := `error: the socket "` + path + `" cannot be made (permission denied)` + helps; err != nil || string(out) != want {
		t.Errorf("got %q, %v", out, err)
	}
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	out, err = asNobody(t, child(t, "serve", dir)).CombinedOutput()
	if want := `error: the socket "` + path + `" that an ended parley left cannot be removed (permission denied)` + helps; err != nil || string(out) != want {
		t.Errorf("a stale one: got %q, %v", out, err)
	}
}

const nobody = 65534

// asNobody runs a command as an unprivileged user, from a copy of the test
// binary that this user can reach.
func asNobody(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = filepath.Join(publicDir(t), "child")
	if err := os.WriteFile(cmd.Path, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// publicDir is a folder that everybody may enter.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
