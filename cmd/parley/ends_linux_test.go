package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"parley/core/llm/llmtest"
)

// into runs a command with a file as standard output, and returns what it says
// on the other one.
func (p parley) into(t *testing.T, out *os.File, args ...string) result {
	t.Helper()
	cmd := p.command(t.Context(), args...)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{err: errs.String(), code: cmd.ProcessState.ExitCode()}
}

// full is a file that takes nothing.
func full(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		missing(t, err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// deserted is a pipe that nobody reads any more.
func deserted(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// A chat whose words nobody takes ends in order, and the next one shows them.
func TestRealChatThatNobodyReads(t *testing.T) {
	for name, c := range map[string]struct {
		out  *os.File
		says string
	}{
		"full":     {full(t), "parley: the chat cannot go on: writing output: write /dev/stdout: no space left on device; mend that and start again; what was not answered or shown is then\n"},
		"deserted": {deserted(t), "parley: nobody reads what the chat writes any more; what was not shown is shown at the next start\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := real(t, fakeModel(t, said).URL())
			p.stdin = "hello\nand more\n"
			if r := p.into(t, c.out, "chat"); r.code != 1 || !strings.HasSuffix(r.err, c.says) {
				t.Errorf("exit code %d: %s", r.code, r.err)
			}
			p.stdin = ""
			if r := p.run(t, "chat"); r.code != 0 || !strings.HasPrefix(r.out, "You said hello\n\n") {
				t.Errorf("the next chat: %+v", r)
			}
		})
	}
}

// Input that cannot be read is no end of it.
func TestRealChatThatCannotRead(t *testing.T) {
	p := real(t, fakeModel(t, said).URL())
	folder, err := os.Open(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	cmd := p.command(t.Context(), "chat")
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = folder, &errs
	_ = cmd.Run()
	want := "parley: the chat cannot go on: reading input: read /dev/stdin: is a directory; mend that and start again; what was not answered or shown is then\n"
	if code := cmd.ProcessState.ExitCode(); code != 1 || errs.String() != want {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// Neither can init ask for ever.
func TestRealInitThatCannotRead(t *testing.T) {
	p := parley{dir: t.TempDir(), env: []string{asProgram + "=real", "OPENAI_BASE_URL=nonsense"}}
	folder, err := os.Open(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	cmd := p.command(t.Context(), "init")
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = folder, &errs
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), `"nonsense" is no web address`) {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// An answer that could not be printed is a failure; a reader that has enough
// is not told so.
func TestRealAnswersThatNobodyReads(t *testing.T) {
	p := real(t, fakeModel(t, said).URL())
	for _, command := range []string{"version", "check", "--help"} {
		if r := p.into(t, full(t), command); r.code != 1 || r.err != "parley: standard output cannot be written (no space left on device); send it elsewhere\n" {
			t.Errorf("%s into a full one: exit code %d: %s", command, r.code, r.err)
		}
		if r := p.into(t, deserted(t), command); r.code != 1 || r.err != "" {
			t.Errorf("%s into a deserted one: exit code %d: %s", command, r.code, r.err)
		}
	}
}

// A terminal that is closed sends SIGHUP, often twice: that is a stop in order.
func TestHangup(t *testing.T) {
	p := real(t, fakeModel(t, said).URL())
	s := p.serve(t)
	for range 2 {
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	s.await(t, "stopping")
	_ = s.cmd.Wait()
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Under nohup a closed terminal is no reason to stop.
func TestNohup(t *testing.T) {
	p := real(t, fakeModel(t, said).URL())
	cmd := p.command(t.Context(), "-c", `trap '' HUP; exec "$0" serve`, os.Args[0])
	var err error
	if cmd.Path, err = exec.LookPath("sh"); err != nil {
		missing(t, err)
	}
	s := started(t, cmd)
	status, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	if ignored := regexp.MustCompile(`SigIgn:\s*[0-9a-f]*[13579bdf]\n`); !ignored.Match(status) { // SIGHUP is the first bit
		t.Errorf("SIGHUP is not ignored:\n%s", status)
	}
	s.stop(t, 0)
}

// The disk takes nothing for a while: whoever asks is told, nothing is lost,
// and afterwards all is well again.
func TestRealDiskThatTakesNothing(t *testing.T) {
	p := real(t, fakeModel(t, said).URL())
	cmd := p.command(t.Context(), "chat")
	cmd.Stdin = nil
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{cmd: cmd}
	errs, err := cmd.StderrPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	s.lines = bufio.NewScanner(errs)
	answers := bufio.NewReader(stdout)
	say := func(line string) { _, _ = io.WriteString(stdin, line+"\n") }
	hear := func(want string) {
		t.Helper()
		if got, err := answers.ReadString('\n'); err != nil || got != want+"\n" {
			t.Fatalf("got %q, %v", got, err)
		}
		_, _ = answers.ReadString('\n') // the empty line
	}
	say("one")
	hear("You said one")
	var usual unix.Rlimit
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Max: unix.RLIM_INFINITY}, &usual); err != nil {
		missing(t, err)
	}
	say("two")
	s.await(t, "Line 2 could not be stored")
	if r := p.run(t, "status"); r.code != 0 || !strings.Contains(r.out, "fail  store     Nothing can be written to DIR/data: file too large.") {
		t.Errorf("status: %+v", r)
	}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &usual, nil); err != nil {
		t.Fatal(err)
	}
	hear("You said two")
	if r := p.run(t, "status"); r.code != 0 || strings.Contains(r.out, "fail") {
		t.Errorf("status afterwards: %+v", r)
	}
	if err := errors.Join(stdin.Close(), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// Secrets of every kind, and every place where one could come out.
func TestRealSecretsStayIn(t *testing.T) {
	secrets := []string{"sk-in-the-file", "sk-in-its-own-file", "sk-in-the-environment", "in-a-header-value", "in-an-address-password", "in-an-address-name", "tok-of-telegram"}
	server := fakeModel(t, func(r llmtest.Request) llmtest.Script {
		switch r.Model {
		case "refusing":
			all := strings.Join(append(secrets, r.Header.Get("Authorization")), " ")
			return llmtest.Fail(401, "invalid_api_key", "wrong: "+all)
		case "redirecting":
			return llmtest.Script{llmtest.Respond{Status: 302, Header: map[string]string{"Location": "http://x/?key=" + r.Header.Get("X-Api-Token")}, Body: "-"}}
		}
		if !strings.HasPrefix(r.Last("user"), "tell") {
			return llmtest.Script{llmtest.Text("Fine.")}
		}
		return llmtest.Script{llmtest.Text("I was called with " + strings.Join(secrets, " and "))}
	})
	p := real(t, server.URL())
	p.env = append(p.env, "MY_KEY="+secrets[2])
	p.write(t, "key", secrets[1]+"\n")
	host := strings.TrimPrefix(server.URL(), "http://")
	p.write(t, "config.yaml", `http: {listen: off}
log: {level: debug, file: ./parley.log, format: json}
models:
  - {name: a, model: m, base_url: "http://ada:`+secrets[4]+`@127.0.0.1:1/v1"}
  - {name: b, model: refusing, base_url: "`+server.URL()+`", api_key: `+secrets[0]+`}
  - {name: c, model: refusing, base_url: "`+server.URL()+`", api_key_file: ./key}
  - {name: d, model: redirecting, base_url: "`+server.URL()+`", api_key: "${MY_KEY}", headers: {X-Api-Token: `+secrets[3]+`}}
  - {name: e, model: m, base_url: "http://`+secrets[5]+`@`+host+`"}
adapters: {telegram: {token: `+secrets[6]+`}}
`)
	var seen strings.Builder
	p.stdin = "hello\n/models\n/status\n/context\n/cost\n"
	hello := p.run(t, "chat")
	data, err := os.ReadFile(filepath.Join(p.dir, "data", "parley.db"))
	if err != nil || !bytes.Contains(data, []byte("Fine.")) {
		t.Fatalf("the answer is not in %d bytes of data: %v", len(data), err)
	}
	seen.Write(data)
	p.stdin = "/model e\ntell\n" // which the store keeps as it was said
	tell := p.run(t, "chat")
	for _, r := range []result{hello, tell, p.run(t, "check"), p.run(t, "doctor")} {
		seen.WriteString(r.out + r.err)
	}
	s := p.serve(t)
	for _, command := range []string{"status", "check", "doctor"} {
		r := p.run(t, command)
		seen.WriteString(r.out + r.err)
	}
	s.stop(t, 0)
	log, err := os.ReadFile(filepath.Join(p.dir, "parley.log"))
	if err != nil || len(log) == 0 {
		t.Fatal(log, err)
	}
	seen.Write(log)
	if !strings.Contains(tell.out, "I was called with [redacted] and [redacted]") {
		t.Errorf("chat: %+v", tell)
	}
	for _, r := range server.Requests() {
		if r.Model == "m" {
			seen.Write(r.Body)
		}
	}
	if n := len(server.Requests()); n < 6 {
		t.Errorf("only %d requests", n)
	}
	for _, secret := range secrets {
		if strings.Contains(seen.String(), secret) {
			t.Errorf("%s came out:\n%s", secret, seen.String())
		}
	}
}
