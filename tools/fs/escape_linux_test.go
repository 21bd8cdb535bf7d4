package fs_test

import (
	"fmt"
	"maps"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"parley/tools"
)

// mark stands in everything that no call may read, and the trees that hold it
// may not change.
const mark = "FORBIDDEN"

// newTrap makes a working directory full of ways out, and what they lead to.
func newTrap(t testing.TB) *world {
	t.Helper()
	what := map[string]string{
		"outside/secret.txt": mark, "outside/dir/deep.txt": mark, "ws-sibling/x": mark, "data/parley.db": mark, "data/blobs/b": mark,
		"ws/plain.txt": "text\n", "ws/sub/deep/file.txt": "text\n", "ws/secrets/key": mark, "ws/sub/secrets/key": mark, "ws/inner/db": mark,
		"granted/x": "text\n", "granted/secrets/key": mark,

		"ws/lfile": "->../outside/secret.txt", "ws/labs": "->TOP/outside/secret.txt", "ws/ldir": "->../outside", "ws/labsdir": "->TOP/outside",
		"ws/lup": "->..", "ws/lroot": "->/", "ws/lback": "->sub/deep/../../../outside", "ws/lself": "->lself", "ws/lping": "->lpong", "ws/lpong": "->lping",
		"ws/lnew": "->../outside/new.txt", "ws/labsnew": "->TOP/outside/new.txt", "ws/lnewdir": "->../outside/newdir/new.txt", "ws/lchain": "->lchain1", "ws/lchain1": "->sub/lchain2", "ws/sub/lchain2": "->../ldir",
		"ws/lproc": "->/proc/self/cwd", "ws/lenv": "->/proc/self/environ", "ws/lzero": "->/dev/zero", "ws/ltty": "->/dev/tty", "ws/lfifo": "->fifo",
		"ws/lsecrets": "->secrets", "ws/lkey": "->secrets/key", "ws/ldata": "->../data", "ws/ldb": "->TOP/data/parley.db", "ws/linner": "->inner", "ws/lsibling": "->../ws-sibling/x", "ws/sub/lparent": "->../../outside",
	}
	for i := range 45 {
		what[fmt.Sprintf("ws/l%d", i+1)] = fmt.Sprintf("->l%d", i)
	}
	what["ws/l0"] = "->../outside/secret.txt"
	w := newWorld(t, what)
	w.reach.Reads = []string{w.at("granted")}
	w.reach.Denied = []string{w.at("data"), w.at("ws/inner")}
	if err := unix.Mkfifo(w.at("ws/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.at("ws/socket"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return w
}

// attacks are paths that lead out, or to what is not a file: every tool must
// refuse each of them.
func attacks(w *world, open *os.File) []string {
	top := w.top
	all := []string{
		// up
		"../outside/secret.txt", "./../outside/secret.txt", "sub/../../outside/secret.txt", "sub/deep/../../../outside/secret.txt", ".//..//outside//secret.txt",
		"sub/./.././../outside/secret.txt", "../ws/../outside/secret.txt", "../ws-sibling/x", "../outside", "../outside/", "../outside/.", "../outside/dir/..", "..", "../", "../..", "/..",
		"missing/../../outside/secret.txt", "plain.txt/../../outside/secret.txt", "plain.txt/../plain.txt", "missing/../plain.txt", strings.Repeat("../", 60) + top[1:] + "/outside/secret.txt",
		"../outside/new.txt", "../outside/newdir/new.txt", "../new.txt",
		// absolute
		top + "/outside/secret.txt", "/" + top + "/outside/secret.txt", "//" + top + "//outside/./secret.txt", top + "/ws/../outside/secret.txt", top + "/ws/sub/../../outside/secret.txt", top + "/outside/secret.txt/",
		top + "/ws-sibling/x", top, "/", "/etc/passwd", "/etc/", "/root/.ssh/id_rsa", top + "/granted/../outside/secret.txt", top + "/outside/new.txt",
		// links
		"lfile", "lfile/", "labs", "ldir", "ldir/", "ldir/secret.txt", "ldir/./secret.txt", "ldir/dir/deep.txt", "ldir/../outside/secret.txt", "ldir/dir/../secret.txt", "labsdir/secret.txt", "labsdir/new.txt", "ldir/newdir/new.txt",
		"lup/outside/secret.txt", "lup/ws/ldir/secret.txt", "lroot" + top + "/outside/secret.txt", "lroot/etc/passwd", "lback/secret.txt", "lchain/secret.txt", "sub/lchain2/secret.txt", "sub/lparent/secret.txt", "sub/lparent/../outside/secret.txt",
		"lnew", "labsnew", "lnewdir", "lself", "lself/x", "lping", "lpong/..", "l10", "l45", "lsibling", top + "/ws/ldir/secret.txt", top + "/ws/lfile",
		// what is no file
		"fifo", "lfifo", "./fifo", "fifo/", "fifo/x", "socket", "lzero", "ltty", "/dev/zero", "/dev/null", "/dev/tty", "/dev/random", "/dev/stdin", "/dev/fd/0", "/dev/mem", "plain.txt/", "plain.txt/.",
		// what the kernel makes up
		"/proc/self/environ", "/proc/self/mem", "/proc/self/cmdline", "/proc/1/environ", "/proc/thread-self/environ", "/proc/version", "/proc/kmsg", "/proc", "/proc/self", "lenv", "lproc/../outside", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys",
		"/proc/self/root" + top + "/outside/secret.txt", "/proc/self/cwd/../../etc/passwd", fmt.Sprintf("/proc/self/fd/%d", open.Fd()), fmt.Sprintf("/dev/fd/%d", open.Fd()), fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), open.Fd()), "lroot/proc/self/environ",
		// secrets
		"secrets", "secrets/", "secrets/key", "./secrets/key", "secrets//key", "secrets/./key", "sub/../secrets/key", "SECRETS/key", "Secrets/KEY", "sEcReTs", "secrets./key", "secrets /key", "ſecrets/key", "sec\u200drets/key", "secrets\ufe0f/key",
		"sub/secrets/key", "lsecrets", "lsecrets/key", "lkey", "secrets/new", "secrets/new/deep", "SECRETS/new", "lsecrets/new", top + "/ws/secrets/key", top + "/granted/secrets/key", "lup/ws/secrets/key", "sub/deep/../../secrets/../secrets/key",
		// data_dir, beside the working directory and in it
		"../data/parley.db", top + "/data/parley.db", top + "/data", top + "/data/", top + "/data/new", "ldata/parley.db", "ldata/blobs/b", "ldb", "../data/../data/parley.db", "inner", "inner/db", "./inner/../inner/db", "linner/db", "inner/new", "lup/data/parley.db", "sub/../inner/db",
		// what is no path
		"plain.txt\x00", "\x00", "plain.txt\x00.md", "../outside/secret.txt\x00", strings.Repeat("x", 300), strings.Repeat("x/", 2100) + "x", strings.Repeat("a", 100_000), "sub/" + strings.Repeat("y", 256), strings.Repeat("../", 1400) + "etc/passwd", strings.Repeat("./", 2100) + "plain.txt",
	}
	return all
}

// lookalikes are paths that look like ways out and are plain names.
func lookalikes() []string {
	return []string{"․․/outside/secret.txt", "‥/outside/secret.txt", "．．/outside/secret.txt", "..／outside／secret.txt", "..∕outside∕secret.txt", "ѕecrets/key", "secretѕ/key", "%2e%2e/outside/secret.txt", "..%2foutside%2fsecret.txt",
		`..\outside\secret.txt`, `sub\..\..\outside\secret.txt`, "~/secret.txt", "~root/.ssh/id_rsa", "$HOME/x", "${HOME}/x", "file:///etc/passwd", ".../outside/secret.txt", ".. /outside/secret.txt", " ../outside/secret.txt", "..\t/x", "..\n/x", "-rf", "*", "?", "sub/..hidden", "\u202e../outside/secret.txt", "C:\\Windows", "\\\\host\\share", "\xff\xfe/x", "$(cat ../outside/secret.txt)"}
}

// forbidden is all that no call may change.
func forbidden(w *world) map[string]string {
	all := map[string]string{}
	for _, dir := range []string{"outside", "ws-sibling", "data", "granted", "ws/secrets", "ws/sub/secrets", "ws/inner"} {
		maps.Copy(all, w.content(dir))
	}
	return all
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	w := newTrap(t)
	open, err := os.Open(w.at("outside/secret.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	all := attacks(w, open)
	if len(all) < 60 {
		t.Fatalf("only %d escapes", len(all))
	}
	before := forbidden(w)
	within := w.content("ws")
	for _, path := range all {
		at, err := tools.Resolve(w.reach.Dir, path)
		if err == nil && w.reach.Closed(at) == "" && tools.Within(w.reach.Dir, at) && !isOdd(at) {
			t.Errorf("%.60q resolves to %q", path, at)
		}
		for name, a := range everyTool(path) {
			o := w.run(name, a)
			if o.State != tools.Failed || strings.Contains(o.Text, mark) || len(o.Text) > 1000 {
				t.Errorf("%s %.60q: %s: %.300q", name, path, o.State, o.Text)
			}
			if _, ok := w.tools[name].(tools.Previewer); !ok {
				continue
			}
			p, err := w.preview(name, a)
			if err == nil && (w.reach.Closed(at) != "" || isOdd(at)) && p.Kind != tools.PreviewArgs || err != nil && strings.Contains(err.Error(), mark) {
				t.Errorf("preview of %s %.60q: %.300v, %v", name, path, p, err)
			}
		}
	}
	if after := forbidden(w); !maps.Equal(before, after) {
		t.Errorf("something outside was changed: %v", after)
	}
	if after := w.content("ws"); !maps.Equal(within, after) {
		t.Errorf("something inside was changed")
	}
	t.Logf("%d escapes × %d tools", len(all), len(w.tools))
}

// isOdd reports whether something is there that is no plain file or directory,
// or a file that was asked for as a directory.
func isOdd(at string) bool {
	info, err := os.Lstat(at)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

func TestLookalikes(t *testing.T) {
	t.Parallel()
	w := newTrap(t)
	before := forbidden(w)
	for _, path := range lookalikes() {
		for name, a := range everyTool(path) {
			if o := w.run(name, a); strings.Contains(o.Text, mark) {
				t.Errorf("%s %q: %s", name, path, o.Text)
			}
		}
	}
	if after := forbidden(w); !maps.Equal(before, after) {
		t.Errorf("something outside was changed: %v", after)
	}
}

// What is closed stays closed, whoever allowed it, and whatever was granted.
func TestClosedForAll(t *testing.T) {
	t.Parallel()
	w := newTrap(t)
	w.reach.Reads, w.reach.Writes = []string{"/", w.top}, []string{"/", w.top, w.at("data")}
	before := forbidden(w)
	for _, path := range []string{"secrets/key", "../data/parley.db", "../data/new", "inner/db", "ldb", "lkey", "../granted/secrets/key", "../data", "secrets", "/proc/self/environ", "lenv", "fifo", "lzero", "/proc/self/fd/0", "sub/secrets/new"} {
		at, err := tools.Resolve(w.reach.Dir, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, w.reach.Target = range []string{"", at} {
			for name, a := range everyTool(path) {
				if o := w.run(name, a); o.State != tools.Failed || strings.Contains(o.Text, mark) {
					t.Errorf("%s %q, allowed %q: %s: %s", name, path, w.reach.Target, o.State, o.Text)
				}
			}
		}
	}
	w.reach.Target = ""
	for _, dir := range []string{".", "..", w.top} { // recursive ones leave it out
		for _, name := range []string{tools.ListFiles, tools.GrepFiles} {
			o := w.run(name, args{"path": dir, "pattern": mark, "glob": "{ws,data,granted,secrets,inner,sub}/**"})
			for row := range strings.Lines(o.Text) {
				if named, _, _ := strings.Cut(row, "\t"); strings.Contains(row, ": "+mark) || strings.Contains(named, "parley.db") || strings.Contains(named, "secrets/key") {
					t.Errorf("%s %q: %s", name, dir, row)
				}
			}
		}
	}
	if after := forbidden(w); !maps.Equal(before, after) {
		t.Errorf("something closed was changed: %v", after)
	}
}

// A second way into a closed directory, which only its identity gives away.
func TestClosedMount(t *testing.T) {
	t.Parallel()
	w := newTrap(t)
	w.mkdir("ws/mounted")
	if err := unix.Mount(w.at("data"), w.at("ws/mounted"), "", unix.MS_BIND, ""); err != nil {
		missing(t, err)
	}
	t.Cleanup(func() { _ = unix.Unmount(w.at("ws/mounted"), unix.MNT_DETACH) })
	for name, a := range everyTool("mounted/parley.db") {
		w.fails(name, a, "no tool may enter")
	}
	if got := w.done(tools.GrepFiles, args{"pattern": mark}); strings.Contains(got, ": "+mark) {
		t.Error(got)
	}
}

// swapping exchanges two names, each time in one step, until stop is called.
func swapping(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
		missing(t, err)
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
			}
		}
	})
	return func() { close(done); all.Wait() }
}

// Somebody exchanges a name on the way while the tools run.
func TestSwapped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		other string // what the name is exchanged with
		path  string
	}{
		"directory, link out":        {"->../outside", "swap/f"},
		"directory, link to secrets": {"->secrets", "swap/f"},
		"directory, link to data":    {"->inner", "swap/f"},
		"file, link out":             {"->../outside/f", "swap"},
		"file, link to secrets":      {"->secrets/f", "swap"},
		"file, pipe":                 {"pipe", "swap"},
		"directory, pipe":            {"pipe", "swap/f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrap(t)
			for _, dir := range []string{"outside", "ws/secrets", "ws/inner"} {
				w.put(dir+"/f", mark)
			}
			w.put("ws/"+c.path, "text\n")
			if c.other == "pipe" {
				if err := unix.Mkfifo(w.at("ws/other"), 0o644); err != nil {
					t.Fatal(err)
				}
			} else {
				w.put("ws/other", c.other)
			}
			before := forbidden(w)
			stop := swapping(t, w.at("ws/swap"), w.at("ws/other"))
			worked := 0
			for range 30 {
				for tool, a := range everyTool(c.path) {
					o := w.run(tool, a)
					if strings.Contains(o.Text, mark) {
						t.Errorf("%s got out: %s", tool, o.Text)
					}
					if o.State == tools.Completed {
						worked++
					}
				}
				if o := w.run(tools.GrepFiles, args{"pattern": "."}); strings.Contains(o.Text, mark) {
					t.Errorf("a search got out: %s", o.Text)
				}
			}
			stop()
			if after := forbidden(w); !maps.Equal(before, after) {
				t.Errorf("something outside was changed: %v", after)
			}
			t.Logf("%d calls got through to the file", worked)
		})
	}
}

// A link that leads elsewhere by the time the tool runs is not what was
// allowed.
func TestTargetMoved(t *testing.T) {
	t.Parallel()
	w := newTrap(t)
	w.put("outside/allowed.txt", "text\n")
	w.put("ws/turn", "->../outside/allowed.txt")
	w.reach.Target = w.at("outside/allowed.txt")
	if got := w.done(tools.ReadFile, args{"path": "turn"}); !strings.Contains(got, "text") {
		t.Fatal(got)
	}
	for _, to := range []string{"../outside/secret.txt", "plain.txt", "nowhere"} {
		if err := os.Remove(w.at("ws/turn")); err != nil {
			t.Fatal(err)
		}
		w.put("ws/turn", "->"+to)
		for name, a := range everyTool("turn") {
			w.fails(name, a, "no longer leads to where it led")
		}
	}
}
