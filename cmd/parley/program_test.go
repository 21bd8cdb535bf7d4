package main_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	program "parley/cmd/parley"
	"parley/tools/shell"
)

// asProgram makes the test binary be parley over the fake or, if it is "real",
// parley itself.
const asProgram = "PARLEY_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if shell.Launcher(os.Args[1:]) {
		return
	}
	switch os.Getenv(asProgram) {
	case "":
	case "real":
		os.Exit(program.RealMain(os.Args[1:]))
	default:
		os.Exit(program.Main(os.Args[1:], openFake, tryFake))
	}
	if is, err := program.CrashChild(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	} else if is {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// parley is one run of the program in a folder of its own.
type parley struct {
	dir   string
	stdin string
	env   []string
	as    *syscall.Credential // another user
	exe   string              // "" for the test binary
}

type result struct {
	out, err string
	code     int
}

func (p parley) command(ctx context.Context, args ...string) *exec.Cmd {
	exe := p.exe
	if exe == "" {
		exe = os.Args[0]
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir = p.dir
	// The race detector would let each process sleep for a second at its end.
	cmd.Env = append([]string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TZ=UTC", "GORACE=atexit_sleep_ms=0"}, p.env...)
	cmd.Stdin = strings.NewReader(p.stdin)
	if p.as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	}
	return cmd
}

func (p parley) run(t *testing.T, args ...string) result {
	t.Helper()
	return p.start(t, args...).end(t)
}

// running is a run that has not been waited for.
type running struct {
	dir       string
	cmd       *exec.Cmd
	out, errs bytes.Buffer
}

func (p parley) start(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{dir: p.dir, cmd: p.command(t.Context(), args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *running) end(t *testing.T) result {
	t.Helper()
	err := r.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	shown := func(b *bytes.Buffer) string { return strings.ReplaceAll(b.String(), r.dir, "DIR") }
	return result{shown(&r.out), shown(&r.errs), r.cmd.ProcessState.ExitCode()}
}

func (p parley) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r result) expect(t *testing.T, code int, out, err string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	if r.out != out {
		t.Errorf("stdout\n got %s\nwant %s", r.out, out)
	}
	if r.err != err {
		t.Errorf("stderr\n got %s\nwant %s", r.err, err)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct{ args, err string }{
		{"nonsense", "parley: unexpected argument nonsense; `parley --help` lists what there is\n"},
		{"serve --loud", "parley: unknown flag --loud; `parley --help` lists what there is\n"},
		{"pair approve", "parley: expected \"<code>\"; `parley --help` lists what there is\n"},
		{"pair", "parley: expected one of \"list\", \"approve\", \"remove\"; `parley --help` lists what there is\n"},
		{"--config", "parley: --config: expected string value but got \"EOL\" (<EOL>); `parley --help` lists what there is\n"},
	} {
		parley{dir: t.TempDir()}.run(t, strings.Fields(c.args)...).expect(t, 2, "", c.err)
	}
	help := parley{dir: t.TempDir()}.run(t, "--help")
	if help.code != 0 || !strings.Contains(help.out, "Exit codes: 0 done, 1 failed") || strings.Contains(help.out, "default") && strings.Contains(help.out, "default  ") {
		t.Errorf("help: %+v", help)
	}
}

func TestWithoutAnything(t *testing.T) {
	p := parley{dir: t.TempDir(), stdin: "hello\n"}
	p.run(t, "chat").expect(t, 0, "You said hello.\n\n", "")
	p.run(t, "check").expect(t, 0, `ok    config      No config.yaml here; the built-in defaults are in force.
                  → `+"`parley init`"+` writes one.
off   model main  Not used: it has no api_key, and api.openai.com wants one.
                  → Set OPENAI_API_KEY, write api_key, or point base_url at another server.
ok    store       Opened.
`, "")
	p.run(t, "doctor", "--config", "x.yaml").expect(t, 1, "", "parley: config file \"x.yaml\" does not exist; correct the path, or run `parley init --config x.yaml` to write it\n")
	p.run(t, "status").expect(t, 1, "", "parley: no parley is running on the data in \"DIR/data\"; `parley serve` starts one\n")
	p.run(t, "pair", "list").expect(t, 0, "telegram:5  Ada  asked 0001-01-01 00:00:00 UTC, until 0001-01-01 00:00:00 UTC\n", "")
	p.run(t, "pair", "approve", "CODE2345").expect(t, 0, "Ada (telegram:5) may talk to parley now.\n", "")
	p.run(t, "pair", "approve", "X").expect(t, 1, "", "parley: no pairing has this code; ask for a new one\n")
	p.run(t, "pair", "remove", "telegram:9").expect(t, 0, "telegram:9 may not talk to parley any more.\n", "")
	if r := p.run(t, "version"); r.code != 0 || !regexp.MustCompile(`^parley \S+ \(go\S+, \w+/\w+\)\n$`).MatchString(r.out) {
		t.Errorf("version: %+v", r)
	}
	p.env = []string{"FAKE_BROKEN=1"}
	if r := p.run(t, "doctor"); r.code != 1 || r.err != "" || !strings.Contains(r.out, "fail  store ") {
		t.Errorf("doctor that finds something: %+v", r)
	}
}

func TestConfigErrors(t *testing.T) {
	p := parley{dir: t.TempDir()}
	p.write(t, "config.yaml", "htpt: {}\nsandbox: x\n")
	for _, command := range [][]string{nil, {"serve"}, {"chat"}, {"check"}, {"doctor"}, {"status"}, {"pair", "list"}} {
		p.run(t, command...).expect(t, 1, "", "config.yaml:1:1: htpt: unknown key; did you mean http?\nconfig.yaml:2:1: sandbox: \"x\" is not allowed; want one of auto, none, landlock, bwrap\n")
	}
	p.write(t, "config.yaml", "log: {file: config.yaml/log}\n")
	p.run(t, "serve").expect(t, 1, "", "parley: log.file \"DIR/config.yaml/log\" cannot be opened (not a directory); set another file\n")
}

// serving is a parley that serves beside the test.
type serving struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner // of its log
}

func (p parley) serve(t *testing.T, args ...string) *serving {
	t.Helper()
	return started(t, p.command(t.Context(), append([]string{"serve"}, args...)...))
}

// started waits until a command serves.
func started(t *testing.T, cmd *exec.Cmd) *serving {
	t.Helper()
	s := &serving{cmd: cmd}
	errs, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	s.lines = bufio.NewScanner(errs)
	s.await(t, "serving")
	return s
}

// await reads the log up to the line with the text and returns that.
func (s *serving) await(t *testing.T, text string) string {
	t.Helper()
	var all []string
	for s.lines.Scan() {
		if strings.Contains(s.lines.Text(), text) {
			return s.lines.Text()
		}
		all = append(all, s.lines.Text())
	}
	t.Fatalf("it ended without saying %q:\n%s", text, strings.Join(all, "\n"))
	return ""
}

func TestBesideServe(t *testing.T) {
	p := parley{dir: t.TempDir()}
	p.write(t, "config.yaml", "models: [{model: m, api_key: sk-invented-key}]\n")
	s := p.serve(t)
	if r := p.run(t, "status"); r.code != 0 || !strings.HasPrefix(r.out, "parley 7 runs as process ") || !strings.HasSuffix(r.out, "with DIR/config.yaml\n       3  sessions in memory\n") {
		t.Errorf("status: %+v", r)
	}
	p.run(t, "pair", "approve", "CODE2345").expect(t, 0, "Ada (telegram:5) may talk to parley now.\n", "")
	for _, command := range []string{"check", "doctor"} {
		if r := p.run(t, command); r.code != 0 || !strings.Contains(r.out, "the lines below are its own") {
			t.Errorf("%s: %+v", command, r)
		}
	}
	for _, command := range []string{"serve", "chat"} {
		p.run(t, command).expect(t, 1, "", "parley: another parley is running on the data in \"DIR/data\"; stop it first, or give this one a data_dir of its own\n")
	}
	p.write(t, "other.yaml", "models: []\n")
	if r := p.run(t, "check", "--config", "other.yaml"); r.code != 0 || !strings.Contains(r.out, "with another configuration (DIR/config.yaml)") {
		t.Errorf("check of another file: %+v", r)
	}
	s.stop(t, 0)
}

// stop sends one SIGTERM and wants the exit code.
func (s *serving) stop(t *testing.T, code int) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.await(t, "stopping")
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	p := parley{dir: t.TempDir(), env: []string{"FAKE_STUCK=1"}}
	s := p.serve(t)
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.await(t, "stopping")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	if code := s.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestServingButDeaf(t *testing.T) {
	p := parley{dir: t.TempDir(), env: []string{"FAKE_DEAF=1"}}
	p.serve(t)
	p.run(t, "pair", "list").expect(t, 1, "", "parley: a parley holds the data in \"DIR/data\" but does not answer on its socket; give it a moment if it has just been started, else restart it\n")
}

// A command of the agent cannot answer what the agent asks.
func TestAgentCannotApprove(t *testing.T) {
	p := parley{dir: t.TempDir(), env: []string{"FAKE_AGENT=1"}}
	p.write(t, "config.yaml", "log: {format: json}\n")
	line := p.serve(t).await(t, "agent")
	if !strings.Contains(line, "this command was started by parley itself") || !strings.Contains(line, "exit status 1") {
		t.Errorf("got %s", line)
	}
}

func TestLogIsRedacted(t *testing.T) {
	for _, format := range []string{"console", "json"} {
		p := parley{dir: t.TempDir()}
		p.write(t, "config.yaml", "models: [{model: m, api_key: 'sk-inv\"ented-key'}]\nlog: {file: ./parley.log, format: "+format+"}\n")
		s := p.serve(t)
		s.stop(t, 0)
		text, err := os.ReadFile(filepath.Join(p.dir, "parley.log"))
		if err != nil || !strings.Contains(string(text), `"key":"[redacted]","time":`) || strings.Contains(string(text), "ented-key") {
			t.Errorf("file: %s, %v", text, err)
		}
	}
}

func TestLogFileTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "parley.log")
	f, err := program.OpenLogFile(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"one\n", "two\n", "three\n", "a line longer than the limit\n", "end\n"} {
		if n, err := f.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{path: "end\n", path + ".1": "a line longer than the limit\n"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestWarningsAtStart(t *testing.T) {
	p := parley{dir: t.TempDir()}
	p.write(t, "config.yaml", "adapters: {telegram: {token: tok-invented}}\n")
	cmd := p.command(t.Context(), "serve")
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	(&serving{cmd, bufio.NewScanner(errs)}).await(t, "this build of parley has no adapter for it yet")
}

// unprivileged gives a run as a user without rights, in a folder it may enter.
func unprivileged(t *testing.T) parley {
	t.Helper()
	if os.Getuid() != 0 {
		return parley{dir: t.TempDir()}
	}
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	p := parley{dir: dir, exe: filepath.Join(dir, "parley"), as: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(p.exe, binary, 0o755)); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWithoutRights(t *testing.T) {
	p := unprivileged(t)
	p.write(t, "config.yaml", "sandbox: none\n")
	p.write(t, "key", "sk")
	if err := errors.Join(os.Chmod(filepath.Join(p.dir, "config.yaml"), 0), os.Chmod(filepath.Join(p.dir, "key"), 0)); err != nil {
		t.Fatal(err)
	}
	p.run(t, "check").expect(t, 1, "", "parley: config file \"config.yaml\" may not be read by this user; give it the right (chown, chmod), or run parley as the user it belongs to\n")
	open := func(text string) {
		if err := os.WriteFile(filepath.Join(p.dir, "open.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open("models: [{model: m, api_key_file: key}]\n")
	p.run(t, "check", "--config", "open.yaml").expect(t, 1, "", "open.yaml:1:21: models[0].api_key_file: \"DIR/key\" may not be read by this user; give it the right (chown, chmod) or name another file\n")
	if err := os.Mkdir(filepath.Join(p.dir, "data"), 0); err != nil {
		t.Fatal(err)
	}
	open("models: []\n")
	p.run(t, "serve", "--config", "open.yaml").expect(t, 1, "", "parley: opening store: open DIR/data/lock: permission denied; hand it over with chown\n")
	if r := p.run(t, "check", "--config", "open.yaml"); r.code != 1 || r.err != "" || !strings.Contains(r.out, "fail  parley ") {
		t.Errorf("check: %+v", r)
	}
	open("log: {file: data/log}\n")
	p.run(t, "serve", "--config", "open.yaml").expect(t, 1, "", "parley: log.file \"DIR/data/log\" may not be written by this user; give it the right (chown, chmod) or set another file\n")
}
