package main_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/core/llm/llmtest"
)

// real is parley itself in a folder of its own, with a model at base.
func real(t *testing.T, base string) parley {
	t.Helper()
	p := parley{dir: t.TempDir(), env: []string{asProgram + "=real"}}
	p.model(t, base)
	return p
}

func (p parley) model(t *testing.T, base string) {
	t.Helper()
	p.write(t, "config.yaml", `http: {listen: off}
models: [{name: main, model: m, base_url: "`+base+`", api_key: sk-invented, limits: {first_byte: 1s, silence: 1s}}]
`)
}

// fakeModel is a model server until the test ends.
func fakeModel(t *testing.T, answer func(llmtest.Request) llmtest.Script) *llmtest.Server {
	t.Helper()
	s := llmtest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

// said answers with what was said, without what parley adds to it.
func said(r llmtest.Request) llmtest.Script {
	text, _, _ := strings.Cut(r.Last("user"), "\n")
	return llmtest.Script{llmtest.Text("You said " + text)}
}

// On a machine with nothing, somebody answers all the same.
func TestRealWithoutAnything(t *testing.T) {
	p := parley{dir: t.TempDir(), env: []string{asProgram + "=real"}, stdin: "hello\n"}
	if r := p.run(t, "chat"); r.code != 0 || r.err != "" || len(r.out) < 3 || !strings.HasSuffix(r.out, "\n\n") {
		t.Errorf("got %+v", r)
	}
}

// Whatever a model's server does, the chat says what is the matter and what
// helps, in a sentence; the log has the rest, and doctor says the same.
func TestModelServers(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	const (
		unreachable = "could not be reached. Check that its server runs and that base_url is right, or choose another model with /models."
		garbage     = "gave an answer that cannot be read. Check that base_url leads to an OpenAI-compatible server, or choose another model with /models."
		silent      = "did not answer within a second. Check that its server runs, or choose another model with /models."
		cut         = "broke off in the middle of its answer. Send the message once more, or choose another model with /models."
		refused     = "refused the key. Check api_key in the configuration, and that the key may use this model."
		missing     = "was not found at its server. Check model and base_url in the configuration, or choose another model with /models."
		trouble     = "is in trouble at its server. Try again in a few minutes, or choose another model with /models."
	)
	var alive llmtest.Script // keep-alives without an end
	for range 100 {
		alive = append(alive, llmtest.Raw(": still here\n\n"), llmtest.Wait(200*time.Millisecond))
	}
	stream := llmtest.Raw(`data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}` + "\n\n")
	type chat struct {
		name, says string
		p          parley
		r          *running
	}
	var chats []chat
	for name, c := range map[string]struct {
		script llmtest.Script
		base   string
		says   string
	}{
		"refuses":             {base: "http://" + closed.Addr().String() + "/v1", says: unreachable},
		"hangs":               {script: llmtest.Script{llmtest.Hang{}}, says: silent},
		"hangs in mid-answer": {script: llmtest.Script{stream, llmtest.Hang{}}, says: silent},
		"only stays alive":    {script: alive, says: silent},
		"stays alive later":   {script: append(llmtest.Script{stream}, alive...), says: silent},
		"page":                {script: llmtest.Script{llmtest.Respond{Status: 200, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html><title>Welcome</title>"}}, says: garbage},
		"page of a gateway":   {script: llmtest.Script{llmtest.Respond{Status: 502, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html><title>Bad Gateway</title>"}}, says: trouble},
		"garbage":             {script: llmtest.Script{llmtest.Respond{Status: 200, Body: "\x00\x01\xff\xfe not a stream\n"}}, says: garbage},
		"401":                 {script: llmtest.Fail(401, "invalid_api_key", "Incorrect API key provided: sk-invented"), says: refused},
		"404":                 {script: llmtest.Script{llmtest.Respond{Status: 404, Body: "404 page not found"}}, says: missing},
		"cuts":                {script: llmtest.Script{stream, llmtest.Cut{}}, says: cut},
		"ends too early":      {script: llmtest.Script{stream, llmtest.End{}}, says: cut},
		"closes at once":      {script: llmtest.Script{llmtest.Drop{}}, says: cut},
	} {
		base := c.base
		if base == "" {
			base = fakeModel(t, func(llmtest.Request) llmtest.Script { return c.script }).URL()
		}
		p := real(t, base)
		p.stdin = "hello\n"
		chats = append(chats, chat{name, "The model \"main\" " + c.says, p, p.start(t, "chat")})
	}
	for _, c := range chats { // most of the time they wait: all at once
		if r := c.r.end(t); r.code != 0 || r.out != c.says+"\n\n" || !strings.Contains(r.err, "asking a model") || strings.Contains(r.err, "sk-invented") {
			t.Errorf("%s: chat: %+v\nwant %s", c.name, r, c.says)
		}
		if r := c.p.run(t, "doctor"); r.code != 1 || !strings.Contains(r.out, "fail  model main  "+c.says+"\n") {
			t.Errorf("%s: doctor: %+v", c.name, r)
		}
	}
}

// Beside a serve everything works that asks, and what wants the data for itself
// says who has it.
func TestRealBesideServe(t *testing.T) {
	p := real(t, fakeModel(t, said).URL())
	s := p.serve(t)
	for _, command := range []string{"serve", "chat"} {
		p.run(t, command).expect(t, 1, "", "parley: another parley is running on the data in \"DIR/data\"; stop it first, or give this one a data_dir of its own\n")
	}
	for _, command := range []string{"check", "doctor", "status"} {
		if r := p.run(t, command); r.code != 0 || r.err != "" || !strings.Contains(r.out, "as process ") {
			t.Errorf("%s: %+v", command, r)
		}
	}
	p.run(t, "pair", "list").expect(t, 0, "Nobody waits to be let in.\n", "")
	for args, says := range map[string]string{
		"approve ":        "no code was given; `parley pair list` says who waits; the code is what they were shown",
		"approve \x1b[1m": "Nobody is waiting with the code `[1m`. Codes are good for an hour; /pair lists those that are",
		"remove nonsense": "`nonsense` is no id that I know. Write platform:ID; the person finds theirs with /whoami",
	} {
		verb, arg, _ := strings.Cut(args, " ")
		p.run(t, "pair", verb, arg).expect(t, 1, "", "parley: "+says+"\n")
	}
	s.stop(t, 0)
	p.run(t, "pair", "list").expect(t, 0, "Nobody waits to be let in.\n", "")
}

// A parley that was killed leaves its socket and a file that was not closed;
// neither is in the way of what comes next.
func TestRealAfterAKill(t *testing.T) {
	p := real(t, fakeModel(t, said).URL())
	s := p.serve(t)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	if _, err := os.Lstat(filepath.Join(p.dir, "data", "parley.sock")); err != nil {
		t.Fatal(err)
	}
	p.run(t, "status").expect(t, 1, "", "parley: no parley is running on the data in \"DIR/data\"; `parley serve` starts one\n")
	p.run(t, "pair", "list").expect(t, 0, "Nobody waits to be let in.\n", "")
	for _, command := range []string{"check", "doctor"} {
		if r := p.run(t, command); r.code != 0 {
			t.Errorf("%s: %+v", command, r)
		}
	}
	p.stdin = "hello\n"
	p.run(t, "chat").expect(t, 0, "You said hello\n\n", "")
}

// Data that cannot be used is told with file and remedy.
func TestRealDataThatCannotBeUsed(t *testing.T) {
	p := unprivileged(t)
	p.env = []string{asProgram + "=real"}
	const helps = "parley has to be able to read and write the file and its directory: run it as the user they belong to, or hand them over with chown"
	for name, c := range map[string]struct {
		dir, says, remedy string
		prepare           func() error
	}{
		"a folder that is closed": {
			"data", "opening store \"DIR/data/parley.db\": stat DIR/data/parley.db: permission denied", helps,
			func() error { return os.Mkdir(filepath.Join(p.dir, "data"), 0) },
		},
		"a file in its place": {
			"file", "data_dir \"DIR/file\" cannot be made: mkdir DIR/file: not a directory", "make it, or set another data_dir",
			func() error { return os.WriteFile(filepath.Join(p.dir, "file"), nil, 0o644) },
		},
		"a damaged file": {
			"damaged", "opening store \"DIR/damaged/parley.db\": the file is damaged: neither of its two meta pages is whole", "",
			func() error {
				dir := filepath.Join(p.dir, "damaged")
				err := errors.Join(os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777), os.WriteFile(filepath.Join(dir, "parley.db"), bytes.Repeat([]byte("no store "), 10_000), 0o666))
				return errors.Join(err, os.Chmod(filepath.Join(dir, "parley.db"), 0o666))
			},
		},
	} {
		if err := c.prepare(); err != nil {
			t.Fatal(err)
		}
		text := "http: {listen: off}\nmodels: []\ndata_dir: " + c.dir + "\n"
		if err := os.WriteFile(filepath.Join(p.dir, "config.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"serve", "chat"} {
			r := p.run(t, command)
			if r.code != 1 || r.out != "" || !strings.HasPrefix(r.err, "parley: "+c.says+"; "+c.remedy) {
				t.Errorf("%s: %s: %+v", name, command, r)
			}
		}
		if r := p.run(t, "check"); r.code != 1 || r.err != "" || !strings.Contains(r.out, "fail  parley  ") {
			t.Errorf("%s: check: %+v", name, r)
		}
	}
}
