package shell_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/core/chat"
	"parley/tools"
	"parley/tools/shell"
)

func TestSpec(t *testing.T) {
	s := newTool(t).Spec()
	if s.Name != tools.ExecuteCmd || s.Category != tools.Shell || s.Effect != tools.Once || s.Source != tools.Core {
		t.Errorf("%+v", s)
	}
	if strings.Contains(s.Description, "SHELL") || !strings.Contains(s.Description, "sh -c`") {
		t.Errorf("the description does not name the shell: %s", s.Description)
	}
	if mended, err := tools.Mend(s.Schema); err != nil || string(mended) != string(s.Schema) {
		t.Errorf("the schema is mended to %s, %v", mended, err)
	}
}

func TestResult(t *testing.T) {
	for _, c := range []struct {
		name, command string
		state         tools.State
		text          string
	}{
		{"output", "echo one; echo two >&2; echo three", tools.Completed, "one\ntwo\nthree\n[exit status 0 after less than 1 s]"},
		{"no line break", "printf x", tools.Completed, "x\n[exit status 0 after less than 1 s]"},
		{"nothing", "true", tools.Completed, "[no output]\n[exit status 0 after less than 1 s]"},
		{"status", "exit 7", tools.Completed, "[no output]\n[exit status 7 after less than 1 s]"},
		{"signal", "kill -SEGV $$", tools.Completed, "[no output]\n[killed by signal 11 (segmentation fault) after less than 1 s]"},
		{"empty input", "cat; read x; echo $?", tools.Completed, "1\n[exit status 0 after less than 1 s]"},
		{"closed output", "exec >&- 2>&-; sleep 0.1; exit 3", tools.Completed, "[no output]\n[exit status 3 after less than 1 s]"},
		{"no terminal", "echo x >/dev/tty", tools.Completed, "/dev/tty"},
		{"not there", "no-such-program", tools.Completed, "[exit status 127 after"},
		{"two lines", "echo a\necho b", tools.Completed, "a\nb\n[exit"},
		{"not text", `printf 'a\033[31mb\033[0m\r\nc\000\377'`, tools.Completed, "ab\nc␀\uFFFD\n[exit"},
		{"a full group signal", "trap '' TERM; kill -TERM 0; echo still", tools.Completed, "still\n[exit status 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if o := do(t, newTool(t), callIn(t.TempDir(), c.command)); o.State != c.state || !strings.Contains(o.Text, c.text) {
				t.Errorf("%s: %q, want %q", o.State, o.Text, c.text)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	o := do(t, newTool(t), callIn(t.TempDir(), "echo begun; sleep 500 & wait", arg("timeout", 1)))
	if o.State != tools.Failed || o.Text != "begun\n[timed out after 1 s and was ended]" {
		t.Errorf("%s: %q", o.State, o.Text)
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		name string
		call tools.Call
		want string
	}{
		{"empty", callIn(".", "  \n"), "command is empty"},
		{"NUL", callIn(".", "echo a\x00b"), "NUL"},
		{"long", callIn(".", strings.Repeat("x", 200_000)), "write it to a file"},
		{"no time", callIn(".", "true", arg("timeout", 0)), "1 to 600"},
		{"too much time", callIn(".", "true", arg("timeout", 601)), "1 to 600"},
		{"no number", callIn(".", "true", arg("timeout", "soon")), "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if o := do(t, newTool(t), c.call); o.State != tools.Failed || !strings.Contains(o.Text, c.want) {
				t.Errorf("%s: %q, want %q", o.State, o.Text, c.want)
			}
			if _, err := newTool(t).Preview(t.Context(), c.call); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the preview says %v, want %q", err, c.want)
			}
		})
	}
}

func TestWorkdir(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"work/sub", "work/secrets", "work/data", "read", "write", "other", "worker"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"work/out": "../other", "work/in": "sub", "work/gone": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(base+"/work/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ arg, target, want string }{
		{"", "", "work"}, {".", "", "work"}, {"sub", "", "work/sub"}, {"sub/..", "", "work"}, {"in", "", "work/sub"},
		{base + "/work/sub/", "", "work/sub"}, {base + "/read", "", "read"}, {base + "/write", "", "write"},
		{"../read", "", "read"}, {base + "/other", base + "/other", "other"}, {"out", base + "/other", "other"},
		{"..", "", "! outside"}, {"../worker", "", "! outside"}, {"out", "", "! outside"}, {"/", "", "! outside"},
		{base + "/other", "", "! outside"}, {"out", base + "/read", "! no longer leads"}, {"sub", base + "/other", "! no longer leads"},
		{"secrets", "", "! closed"}, {"data", "", "! no tool may enter"}, {base + "/work/data", base + "/work/data", "! no tool may enter"},
		{"file", "", "! not a directory"}, {"nowhere", "", "! no such file"}, {"gone", "", "! no such file"}, {"a\x00b", "", "! NUL"},
		{strings.Repeat("x", 5000), "", "! too long"}, {"file/", "", "! not a directory"},
	} {
		t.Run(c.arg, func(t *testing.T) {
			call := callIn(base+"/work", "pwd -P", arg("workdir", c.arg), func(_ map[string]any, r *tools.Reach) {
				r.Reads, r.Writes, r.Denied = []string{base + "/read"}, []string{base + "/write"}, []string{base + "/work/data"}
				r.Target = c.target
			})
			o := do(t, newTool(t), call)
			p, err := newTool(t).Preview(t.Context(), call)
			if why, wrong := strings.CutPrefix(c.want, "! "); wrong {
				if o.State != tools.Failed || !strings.Contains(o.Text, why) || err == nil || err.Error() != o.Text {
					t.Errorf("%s: %q, preview %v, want %q", o.State, o.Text, err, why)
				}
				return
			}
			if want := filepath.Join(base, c.want); !strings.HasPrefix(o.Text, want+"\n") || p.Where != want {
				t.Errorf("%q, preview %q, want %q", o.Text, p.Where, want)
			}
		})
	}
}

func TestPreview(t *testing.T) {
	dir := t.TempDir()
	p, err := newTool(t).Preview(t.Context(), callIn(dir, "echo a\n\techo \x1b[2K\u202eb\r"))
	if err != nil || p.Kind != tools.PreviewCommand || p.Text != "echo a\n\techo \\u{1B}[2K\\u{202E}b\\u{D}" {
		t.Errorf("%+v, %v", p, err)
	}
	if !strings.HasPrefix(p.Note, "No sandbox is in force") {
		t.Errorf("the note is %q", p.Note)
	}
	tool := newTool(t, shell.Options{}).With(shell.Status{NoLandlock: "none"})
	if p, err := tool.Preview(t.Context(), callIn(dir, "true")); err != nil || p.Note != "" {
		t.Errorf("under bwrap: %+v, %v", p, err)
	}
	tool = newTool(t, shell.Options{Sandbox: shell.Bwrap}).With(shell.Status{NoBwrap: "no such thing"})
	if _, err := tool.Preview(t.Context(), callIn(dir, "true")); err == nil || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("without what is configured: %v", err)
	}
	if o := do(t, tool, callIn(dir, "true")); o.State != tools.Failed || !strings.Contains(o.Text, "no such thing") {
		t.Errorf("without what is configured: %+v", o)
	}
}

func TestDescribe(t *testing.T) {
	call := callIn(".", "make \\\n all", arg("description", "build it"))
	if label := newTool(t).Describe(call.Args, tools.Short); label != `$ make \ all` {
		t.Errorf("short: %q", label)
	}
	if label := newTool(t).Describe(call.Args, tools.Full); label != `$ make \ all — build it` {
		t.Errorf("full: %q", label)
	}
	if label := newTool(t).Describe([]byte(`{`), tools.Full); label != "" {
		t.Errorf("broken: %q", label)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key-of-parley")
	t.Setenv("TELEGRAM_BOT_TOKEN", "token-of-parley")
	t.Setenv("PARLEY_CHILD", "of another parley")
	t.Setenv("LC_TIME", "C")
	t.Setenv("PASSED", "passed on")
	tool := newTool(t, shell.Options{Sandbox: shell.None, Env: []string{"PASSED", "GIVEN=a=b", "ABSENT", "PATH=/bin:/usr/bin", "PARLEY_CHILD=x"}})
	text := printed(t, tool, callIn(t.TempDir(), `printenv; tr '\0' '\n' </proc/$PPID/environ; tr '\0' ' ' </proc/$PPID/cmdline`))
	if strings.Contains(text, "of-parley") || strings.Contains(text, "another parley") {
		t.Errorf("keys are to be seen:\n%s", text)
	}
	for _, want := range []string{"LC_TIME=C", "PASSED=passed on", "GIVEN=a=b", "PATH=/bin:/usr/bin", "TERM=dumb", "PARLEY_CHILD="} {
		if !strings.Contains("\n"+text, "\n"+want) {
			t.Errorf("%s is missing:\n%s", want, text)
		}
	}
	allowed := []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "TERM", "PAGER", "SHELL",
		"PARLEY_CHILD", "PASSED", "GIVEN", "GORACE", "PWD", "SHLVL", "_", "OLDPWD"}
	for line := range strings.Lines(printed(t, tool, callIn(t.TempDir(), "printenv"))) {
		if name, _, _ := strings.Cut(line, "="); !slices.Contains(allowed, name) && !strings.HasPrefix(name, "LC_") {
			t.Errorf("not on the list: %s", line)
		}
	}
}

func TestRecord(t *testing.T) {
	record := &memory{}
	tool := newTool(t, shell.Options{Sandbox: shell.None, Record: record})
	one := printed(t, tool, callIn(t.TempDir(), "echo $PARLEY_CHILD"))
	two := printed(t, tool, callIn(t.TempDir(), "echo $PARLEY_CHILD"))
	if open, all := record.counts(); open != 0 || all != 2 {
		t.Fatalf("%d of %d records are open", open, all)
	}
	for i, marker := range []string{one, two} {
		c := record.all[i]
		if c.ID+"\n" != marker || c.PID == 0 || c.Session != "s1" || c.Call != "call_1" {
			t.Errorf("%+v, marker %s", c, marker)
		}
	}
	run, call, _ := strings.Cut(one, ".")
	if run2, call2, _ := strings.Cut(two, "."); run != run2 || call == call2 || len(call) < 20 {
		t.Errorf("markers %q, %q", one, two)
	}
	record.err = errors.New("the disk is full")
	dir := t.TempDir()
	o := do(t, tool, callIn(dir, "touch ran"))
	if _, err := os.Stat(dir + "/ran"); o.State != tools.Failed || !strings.Contains(o.Text, "the disk is full") || err == nil {
		t.Errorf("%+v, the command ran: %v", o, err == nil)
	}
}

func TestChoose(t *testing.T) {
	no := "not here"
	for _, c := range []struct {
		mode   shell.Mode
		status shell.Status
		want   shell.Mode
		level  chat.Level
		says   string
	}{
		{shell.Auto, shell.Status{}, shell.Bwrap, chat.Good, "under bwrap"},
		{"", shell.Status{}, shell.Bwrap, chat.Good, "under bwrap"},
		{shell.Auto, shell.Status{NoBwrap: no, ABI: 7}, shell.Landlock, chat.Good, "can make no unix sockets"},
		{shell.Auto, shell.Status{NoBwrap: no, ABI: 9}, shell.Landlock, chat.Good, "reach no unix socket"},
		{shell.Auto, shell.Status{NoBwrap: no, NoLandlock: no}, shell.None, chat.Warn, "no sandbox is in force: "},
		{shell.None, shell.Status{}, shell.None, chat.Warn, "as configured"},
		{shell.Landlock, shell.Status{}, shell.Landlock, chat.Good, "under landlock"},
		{shell.Landlock, shell.Status{NoLandlock: no}, "", chat.Fail, "no command runs"},
		{shell.Bwrap, shell.Status{NoBwrap: no}, "", chat.Fail, no},
		{"docker", shell.Status{}, "", chat.Fail, "none of auto"},
	} {
		got, err := c.status.Choose(c.mode)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q of %+v: %q, %v", c.mode, c.status, got, err)
		}
		f := newTool(t, shell.Options{Sandbox: c.mode}).With(c.status).Findings()
		if len(f) != 1 || f[0].Level != c.level || !strings.Contains(f[0].Says, c.says) || (f[0].Remedy == "") != (c.level == chat.Good) {
			t.Errorf("%q of %+v: %+v", c.mode, c.status, f)
		}
	}
	if _, err := shell.ParseMode("docker"); err == nil {
		t.Error("docker is a mode")
	}
	if m, err := shell.ParseMode(""); m != shell.Auto || err != nil {
		t.Errorf("the zero mode is %q, %v", m, err)
	}
}
