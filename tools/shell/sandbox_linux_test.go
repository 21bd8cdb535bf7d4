package shell_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/tools"
	"parley/tools/shell"
)

// here is what this machine has.
var here = sync.OnceValue(shell.Detect)

// sandboxes calls f for each sandbox that there is. Where the tests must be
// complete, all of them have to be there.
func sandboxes(t *testing.T, f func(t *testing.T, tool *shell.Tool)) {
	s := here()
	t.Log(s.Says(shell.Auto))
	for _, c := range []struct {
		name   string
		mode   shell.Mode
		status shell.Status
		why    string
	}{
		{"bwrap", shell.Bwrap, s, s.NoBwrap},
		{"landlock", shell.Landlock, s, s.NoLandlock},
		{"landlock without mounts", shell.Landlock, shell.Status{ABI: s.ABI}, s.NoLandlock},
		{"landlock of version 1", shell.Landlock, shell.Status{ABI: 1, Mounts: s.Mounts}, s.NoLandlock},
	} {
		t.Run(c.name, func(t *testing.T) {
			switch {
			case c.why != "" && os.Getenv("CI") == "true":
				t.Fatalf("it cannot be tested here: %s", c.why)
			case c.why != "":
				t.Skipf("it cannot be tested here: %s", c.why)
			}
			f(t, newTool(t, shell.Options{Sandbox: c.mode}).With(c.status))
		})
	}
}

// ground is a place for sandboxed commands, by name. The current directory of
// the tests is no part of it.
type ground struct {
	base string
	r    tools.Reach
}

func newGround(t *testing.T) ground {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"work/file": "of work", "work/sub/file": "below work", "work/secrets/key": "KEY", "read/file": "of read", "read/secrets/key": "KEY",
		"write/file": "of write", "data/parley.db": "KEY", "read/data/file": "KEY", "other/file": "KEY", "home/.netrc": "KEY",
	} {
		path = filepath.Join(base, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return ground{base, tools.Reach{
		Dir: base + "/work", Reads: []string{base + "/read"}, Writes: []string{base + "/write"}, Denied: []string{base + "/data", base + "/read/data"},
	}}
}

func (g ground) call(command string) tools.Call {
	return callIn(g.r.Dir, strings.ReplaceAll(command, "BASE", g.base), func(_ map[string]any, r *tools.Reach) { *r = g.r })
}

func TestSandbox(t *testing.T) {
	t.Setenv("HOME", "/root")
	may := []string{
		"cat file sub/file BASE/read/file BASE/write/file", "echo x >file", "mkdir -p a/b && echo x >a/b/c && mv a/b/c sub/c && rm -r a sub/c",
		"echo x >BASE/write/new", "cat <(echo x) /etc/passwd", "echo x >/dev/null", "head -c 10 /dev/urandom", "ls /usr /etc . BASE/read",
		"echo x >$TMPDIR/a && mv $TMPDIR/a $TMPDIR/b", "mkdir -p ~/.cache && echo x >~/.cache/x", "ln -s file link && cat link", "ln file hard",
		"sh -c 'kill -0 $$'", "sleep 0.01 & wait", "echo $PATH | grep bin", "pwd | grep work", "test -r /proc/self/status", "chmod 600 file",
	}
	mayNot := []string{
		"cat secrets/key", "cat BASE/read/secrets/key", "cat BASE/data/parley.db", "cat BASE/read/data/file", "cat BASE/other/file", "cat BASE/home/.netrc",
		"cat ../data/parley.db", "ln -s ../data/parley.db l && cat l", "echo x >BASE/other/new", "echo x >>BASE/data/parley.db", "echo x >BASE/read/new",
		"rm BASE/other/file", "rm BASE/read/file", "mv BASE/other BASE/moved", "echo x >/etc/new", "echo x >/usr/new", "echo x >secrets/new", "cat /etc/shadow",
		"cat /proc/$PARLEY/environ", "kill -0 $PARLEY", "umount BASE/read/data || umount secrets", "ln BASE/other/file l2", "mknod dev b 7 0",
		"truncate -s 0 BASE/other/file", "perl -e 'truncate(\"BASE/other/file\", 0) or die'", "ls /root/.bashrc && cat /root/.bashrc", "echo x >/tmp/../etc/new",
		"chroot / true", "mount -t tmpfs none sub", "unshare -Urm umount secrets && cat secrets/key",
	}
	beside := map[string]bool{may[2]: true, "ln -s file link && cat link": true, "ln file hard": true} // see TestSandboxBeside
	sandboxes(t, func(t *testing.T, tool *shell.Tool) {
		g := newGround(t)
		old, noMounts := strings.Contains(t.Name(), "version_1"), strings.Contains(t.Name(), "without_mounts")
		for i, o := range try(t, tool, g, slices.Concat(may, mayNot)) {
			if old && (strings.Contains(o.command, "kill") || o.command == may[2]) || noMounts && beside[o.command] {
				continue // it is not known there, or not allowed
			}
			if (o.status == "0") != (i < len(may)) || strings.Contains(o.text, "KEY") {
				t.Errorf("%s: status %s: %s", o.command, o.status, o.text)
			}
		}
		for _, path := range []string{"data/parley.db", "other/file", "read/data/file", "work/secrets/key", "home/.netrc"} {
			if text, err := os.ReadFile(filepath.Join(g.base, path)); err != nil || string(text) != "KEY" {
				t.Errorf("%s holds %q, %v", path, text, err)
			}
		}
	})
}

// tried is how one of several commands ended.
type tried struct{ command, status, text string }

// try runs commands one after the other in one call, each in a shell of its
// own.
func try(t *testing.T, tool *shell.Tool, g ground, commands []string) (all []tried) {
	t.Helper()
	var script strings.Builder
	for _, c := range commands {
		c = strings.ReplaceAll(c, "$PARLEY", fmt.Sprintf("%d", os.Getpid()))
		fmt.Fprintf(&script, "out=$( (%s) 2>&1 </dev/null ); echo \"@@$? $out\"\n", c)
	}
	for i, text := range strings.Split(printed(t, tool, g.call(script.String())), "@@")[1:] {
		status, text, _ := strings.Cut(text, " ")
		all = append(all, tried{commands[i], status, text})
	}
	if len(all) != len(commands) {
		t.Fatalf("%d of %d commands ran", len(all), len(commands))
	}
	return all
}

// What the keeper may do, a command must not come by.
func TestSandboxKeeper(t *testing.T) {
	sandboxes(t, func(t *testing.T, tool *shell.Tool) {
		if strings.HasSuffix(t.Name(), "bwrap") {
			t.Skip("there it cannot be seen")
		}
		for _, o := range try(t, tool, newGround(t), []string{"cat /proc/$PPID/environ", "cat /proc/$PPID/maps", "readlink /proc/$PPID/fd/3", "ls /proc/$PPID/root/"}) {
			if o.status == "0" {
				t.Errorf("%s: %s", o.command, o.text)
			}
		}
	})
}

// A file may be made beside what is hidden, unless mounts are forbidden.
func TestSandboxBeside(t *testing.T) {
	sandboxes(t, func(t *testing.T, tool *shell.Tool) {
		s := tool.Status()
		g := newGround(t)
		o := do(t, tool, g.call("echo x >new && cat new"))
		can := s.NoBwrap == "" && strings.Contains(t.Name(), "bwrap") || s.Mounts
		if worked := strings.HasPrefix(o.Text, "x\n"); worked != can {
			t.Errorf("%s", o.Text)
		}
	})
}

func TestSandboxTemp(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	sandboxes(t, func(t *testing.T, tool *shell.Tool) {
		g := newGround(t)
		lines := strings.Split(printed(t, tool, g.call("mktemp; echo x >$TMPDIR/x && cat $TMPDIR/x; echo $HOME")), "\n")
		if len(lines) != 4 || lines[1] != "x" || lines[2] != g.r.Dir+"/.parley/home" {
			t.Errorf("%q", lines)
		}
		left, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if strings.HasPrefix(e.Name(), "parley-") {
				t.Errorf("left is %s", e.Name())
			}
		}
	})
}

// The socket is in data_dir, and so are those of services that would act for
// the command.
func TestSandboxSocket(t *testing.T) {
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	sandboxes(t, func(t *testing.T, tool *shell.Tool) {
		g := newGround(t)
		if err := os.WriteFile(g.base+"/work/sub/client", exe, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{"data", "other"} {
			path := filepath.Join(g.base, dir, "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			c := fmt.Sprintf("sub/client connect %s", path)
			if text := printed(t, tool, g.call(c)); !strings.HasPrefix(text, "no:") {
				t.Errorf("%s: %s", dir, text)
			}
			if text := printed(t, newTool(t), g.call(c)); text != "connected\n" {
				t.Errorf("%s without a sandbox: %s", dir, text)
			}
		}
	})
}

func TestSandboxStop(t *testing.T) {
	sandboxes(t, func(t *testing.T, tool *shell.Tool) {
		for _, c := range trees {
			if !strings.Contains(c.name, "detached") && !strings.Contains(c.name, "twice") && c.name != "pipes" {
				continue // the ways to end are the same
			}
			token := token()
			g := newGround(t)
			e := tool.Run(t.Context(), g.call(fill(c.command, token)))
			await(t, token, c.n)
			e.Stop(t.Context())
			nothingLeft(t, token)
			if o := e.Wait(t.Context()); o.State != tools.Cancelled {
				t.Errorf("%s: %s: %s", c.name, o.State, o.Text)
			}
		}
	})
}

// Also in a sandbox a command is asked first, and may tidy up.
func TestSandboxAsked(t *testing.T) {
	sandboxes(t, func(t *testing.T, tool *shell.Tool) {
		token := token()
		e := tool.Run(t.Context(), newGround(t).call(fill("trap 'echo tidy; exit' TERM; sleep T & wait", token)))
		await(t, token, 1)
		e.Stop(t.Context())
		if o := e.Wait(t.Context()); !strings.HasPrefix(o.Text, "tidy\n[stopped") {
			t.Errorf("%s", o.Text)
		}
		nothingLeft(t, token)
	})
}

func TestSandboxStatus(t *testing.T) {
	sandboxes(t, func(t *testing.T, tool *shell.Tool) {
		g := newGround(t)
		for command, want := range map[string]string{"exit 9": "[exit status 9", "exec 2>&1; echo a >&2; exit 0": "a\n[exit status 0"} {
			if o := do(t, tool, g.call(command)); !strings.Contains(o.Text, want) {
				t.Errorf("%s: %s", command, o.Text)
			}
		}
		// Where the whole working directory is closed, nothing runs.
		g.r.Denied = append(g.r.Denied, g.base)
		if o := do(t, tool, g.call("true")); o.State != tools.Failed || !strings.Contains(o.Text, "no tool may enter") {
			t.Errorf("%s: %s", o.State, o.Text)
		}
	})
}

func TestCarve(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"a/x/1", "a/x/2", "a/y", "b"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ hidden, want string }{
		{"", "."}, {"a/x/2", "a/x/1 a/y b"}, {"a", "b"}, {"a/x b", "a/y"}, {".", ""}, {"elsewhere", "a b"}, {"../x", "."},
	} {
		var hidden, got []string
		for _, h := range strings.Fields(c.hidden) {
			hidden = append(hidden, filepath.Join(base, h))
		}
		for _, dir := range shell.Carve(base, hidden) {
			rel, err := filepath.Rel(base, dir)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("without %q it is %v, want %s", c.hidden, got, c.want)
		}
	}
}
