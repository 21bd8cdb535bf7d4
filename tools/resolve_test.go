package tools_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/tools"
)

// tree makes a directory of files, directories and links, and returns where it
// is, resolved. A text that begins with -> is where a link points.
func tree(t testing.TB, what map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range what {
		at := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		to, link := strings.CutPrefix(text, "->")
		switch {
		case link:
			err = os.Symlink(strings.ReplaceAll(to, "TOP", top), at)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// links is a tree with every kind of link.
func links() map[string]string {
	return map[string]string{
		"ws/file":       "text",
		"ws/dir/file":   "text",
		"ws/dir/sub/":   "",
		"out/file":      "text",
		"out/dir/file":  "text",
		"ws/up":         "->..",
		"ws/here":       "->.",
		"ws/tofile":     "->file",
		"ws/todir":      "->dir/sub",
		"ws/abs":        "->TOP/out",
		"ws/absfile":    "->TOP/out/file",
		"ws/rel":        "->../out/dir",
		"ws/twice":      "->rel",
		"ws/round":      "->dir/../../out/./dir//",
		"ws/dangling":   "->nowhere",
		"ws/danglabs":   "->TOP/out/new",
		"ws/dangldeep":  "->new/below",
		"ws/danglback":  "->new/../file",
		"ws/loop":       "->loop",
		"ws/ping":       "->pong",
		"ws/pong":       "->ping",
		"ws/viafile":    "->file/x",
		"ws/fileslash":  "->file/",
		"ws/root":       "->/",
		"ws/dir/Parent": "->../../out/dir",
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	top := tree(t, links())
	loop, notDir, none, long := tools.ErrLoop, tools.ErrNotDir, fs.ErrNotExist, tools.ErrTooLong
	other := errors.New("another")
	for path, want := range map[string]any{
		"file": "ws/file", "./file": "ws/file", "dir//file": "ws/dir/file", "dir/./file": "ws/dir/file",
		".": "ws", "./": "ws", "..": "", "../": "", "dir/..": "ws", "dir/": "ws/dir", "dir/.": "ws/dir",
		"../out/file": "out/file", "dir/../../out/file": "out/file", "../ws/file": "ws/file",
		"up": "", "up/out/file": "out/file", "here/here/file": "ws/file", "up/ws/up/out": "out",
		"tofile": "ws/file", "todir": "ws/dir/sub", "todir/": "ws/dir/sub",
		"todir/..": "ws/dir", "todir/../file": "ws/dir/file", // the kernel's way, not the spelling's
		"abs": "out", "abs/file": "out/file", "abs/..": "", "abs/../ws/file": "ws/file", "absfile": "out/file",
		"rel/file": "out/dir/file", "rel/../file": "out/file", "twice/file": "out/dir/file", "round/file": "out/dir/file",
		"dir/Parent/../file": "out/file",
		"new":                "ws/new", "new/": "ws/new", "new/below/": "ws/new/below", "new/./below": "ws/new/below",
		"rel/new": "out/dir/new", "twice/new/below": "out/dir/new/below",
		"dangling": "ws/nowhere", "danglabs": "out/new", "dangldeep": "ws/new/below", "dangling/below": "ws/nowhere/below",
		"File": "ws/File", "DIR/file": "ws/DIR/file", " file": "ws/ file", "файл": "ws/файл", "a\nb": "ws/a\nb",
		`..\out\file`: `ws/..\out\file`, "~": "ws/~", "...": "ws/...", "․․/x": "ws/․․/x",
		"/" + top + "//ws/./file": "ws/file", top + "/ws/todir/../file": "ws/dir/file", "root" + top + "/out/file": "out/file",

		"file/": notDir, "file/.": notDir, "file/..": notDir, "file/x": notDir, "tofile/x": notDir, "viafile": notDir, "fileslash": notDir,
		"new/..": none, "new/../file": none, "danglback": none, "dangling/..": none, "new/below/../x": none,
		"loop": loop, "loop/x": loop, "ping": loop, "ping/..": loop,
		"": other, "a\x00b": other, "\x00": other, "../out/file\x00": other,
		strings.Repeat("x", 256): long, strings.Repeat("x/", 2500): long, strings.Repeat("new/", 1023): long,
		"new/" + strings.Repeat("x", 256): long, strings.Repeat("../", 1500): long,
	} {
		got, err := tools.Resolve(filepath.Join(top, "ws"), path)
		switch want := want.(type) {
		case string:
			if at := filepath.Join(top, want); err != nil || got != at {
				t.Errorf("Resolve(%q) = %q, %v; want %q", path, got, err, at)
			}
		case error:
			if err == nil || want != other && !errors.Is(err, want) {
				t.Errorf("Resolve(%q) = %q, %v; want the error %q", path, got, err, want)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("Resolve(%.20q): the error has %d bytes", path, len(err.Error()))
			}
		}
	}
}

func TestResolveLinkLimit(t *testing.T) {
	t.Parallel()
	what := map[string]string{"l0": "text"}
	for i := range 41 {
		what[fmt.Sprint("l", i+1)] = fmt.Sprint("->l", i)
	}
	top := tree(t, what)
	if got, err := tools.Resolve(top, "l40"); err != nil || got != filepath.Join(top, "l0") {
		t.Errorf("40 links: %q, %v", got, err)
	}
	if got, err := tools.Resolve(top, "l41"); !errors.Is(err, tools.ErrLoop) {
		t.Errorf("41 links: %q, %v", got, err)
	}
}

func TestResolveDir(t *testing.T) {
	t.Parallel()
	top := tree(t, links())
	if got, err := tools.Resolve(filepath.Join(top, "ws/rel"), "file"); err != nil || got != filepath.Join(top, "out/dir/file") {
		t.Errorf("a directory that is a link: %q, %v", got, err)
	}
	for _, dir := range []string{"", ".", "ws"} {
		if got, err := tools.Resolve(dir, "file"); err == nil {
			t.Errorf("from %q: %q", dir, got)
		}
		if got, err := tools.Resolve(dir, top); err != nil || got != top {
			t.Errorf("an absolute path from %q: %q, %v", dir, got, err)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"/a/b", "/a/b", true}, {"/a/b", "/a/b/c", true}, {"/a/b", "/a/b/c/d", true}, {"/", "/", true}, {"/", "/a", true},
		{"/a/b", "/a/bc", false}, {"/a/b", "/a", false}, {"/a/b", "/a/B/c", false}, {"/a/b", "/", false}, {"", "/a", false}, {"", "", false},
	} {
		if got := tools.Within(c.dir, c.path); got != c.want {
			t.Errorf("Within(%q, %q) = %v", c.dir, c.path, got)
		}
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{"data/parley.db": "x", "ws/secrets/key": "x", "ws/inner/db": "x", "alias": "->data", "secrets/chat/x": "x"})
	at := func(name string) string { return filepath.Join(top, name) }
	r := tools.Reach{Dir: at("ws"), Reads: []string{at("docs"), at("keys/secrets")}, Writes: []string{at("out")}, Denied: []string{at("alias"), at("ws/inner"), at("gone")}}
	for name, want := range map[string]bool{
		"data": true, "data/parley.db": true, "data/new/x": true, "database": false, "gone": true, "gone/x": true,
		"ws": false, "ws/x": false, "ws/inner": true, "ws/inner/db": true, "ws/innermost": false,
		"ws/secrets": true, "ws/secrets/key": true, "ws/a/secrets/b": true, "ws/SECRETS/key": true, "ws/Secrets": true,
		"ws/ſecrets/x": true, "ws/sec\u200drets/x": true, "ws/secrets./x": true, "ws/secrets /x": true, "ws/secrets\ufe0f/x": true,
		"ws/secrets.md": false, "ws/my-secrets/x": false, "ws/secret/x": false, "ws/ѕecrets/x": false, // a Cyrillic letter: another name everywhere
		"docs/x": false, "docs/secrets/x": true, "out/secrets": true, "keys/secrets/x": true, "elsewhere/secrets/x": true, "elsewhere/x": false,
	} {
		if why := r.Closed(at(name)); (why != "") != want {
			t.Errorf("Closed(%s) = %q", name, why)
		}
	}
	r = tools.Reach{Dir: at("secrets/chat")}
	for name, want := range map[string]bool{"secrets/chat/x": false, "secrets/chat/secrets/x": true, "secrets/other/x": true} {
		if why := r.Closed(at(name)); (why != "") != want {
			t.Errorf("in a working directory below a secrets: Closed(%s) = %q", name, why)
		}
	}
}

// FuzzResolve compares with what the kernel finds.
func FuzzResolve(f *testing.F) {
	top := tree(f, links())
	for path := range links() {
		f.Add(strings.TrimPrefix(path, "ws/"))
	}
	for _, path := range []string{"", ".", "..", "todir/../file", "rel/../../ws/up/out/file", "new/../x", "loop", "a\x00", "file/", "abs/../ws/todir/../../dangling"} {
		f.Add(path)
	}
	dir := filepath.Join(top, "ws")
	f.Fuzz(func(t *testing.T, path string) {
		if filepath.IsAbs(path) || strings.Contains(path, "root/") {
			return // what is outside of the tree may change
		}
		got, err := tools.Resolve(dir, path)
		real, seen := os.Stat(dir + "/" + path)
		if err != nil {
			if seen == nil && path != "" {
				t.Fatalf("Resolve(%q): %v, but the kernel finds it", path, err)
			}
			return
		}
		if !filepath.IsAbs(got) || filepath.Clean(got) != got {
			t.Fatalf("Resolve(%q) = %q is not clean", path, got)
		}
		for at := got; at != "/"; at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				t.Fatalf("Resolve(%q) = %q, in which %q is a link", path, got, at)
			}
		}
		if seen == nil {
			if here, err := os.Lstat(got); err != nil || !os.SameFile(real, here) {
				t.Fatalf("Resolve(%q) = %q is another file than the kernel finds (%v)", path, got, err)
			}
		}
		if again, err := tools.Resolve("", got); err != nil || again != got {
			t.Fatalf("Resolve(%q) = %q, which resolves to %q, %v", path, got, again, err)
		}
	})
}
