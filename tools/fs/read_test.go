package fs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"parley/tools"
)

// numberedLines are lines "line 1", "line 2" …
func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"ws/ten":     numberedLines(10),
		"ws/many":    numberedLines(5000),
		"ws/open":    "a\nb",
		"ws/empty":   "",
		"ws/blank":   "\n",
		"ws/crlf":    "a\r\nb\r\n",
		"ws/mark":    "\xef\xbb\xbfa\nb\n",
		"ws/latin":   "caf\xe9\n",
		"ws/long":    "short\n" + strings.Repeat("é", 5000) + "\nend\n",
		"ws/wide":    strings.Repeat(strings.Repeat("x", 1500)+"\n", 100),
		"ws/late":    strings.Repeat("x\n", 6000) + "\x00\n",
		"ws/png":     "\x89PNG\r\n\x1a\n\x00\x00\x00",
		"ws/utf16":   "\xff\xfea\x00",
		"ws/zero":    "a\x00b",
		"ws/dir/x":   "",
		"ws/link":    "->ten",
		"granted/x":  "granted\n",
		"writable/x": "writable\n",
	})
	w.reach.Reads, w.reach.Writes = []string{w.at("granted")}, []string{w.at("writable")}
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": "ten", "start_line": 3, "end_line": 4}, "ten, lines 3–4 of 10\n3\tline 3\n4\tline 4\n(6 lines left; go on with start_line 5)"},
		{args{"path": "ten", "start_line": 9}, "ten, lines 9–10 of 10\n9\tline 9\n10\tline 10"},
		{args{"path": "ten", "start_line": -1}, "ten, line 10 of 10\n10\tline 10"},
		{args{"path": "ten", "start_line": -3, "end_line": 8}, "ten, line 8 of 10\n8\tline 8\n(2 lines left; go on with start_line 9)"},
		{args{"path": "open", "end_line": 100}, "open, lines 1–2 of 2\n1\ta\n2\tb"},
		{args{"path": "open", "start_line": -50}, "open, lines 1–2 of 2\n1\ta\n2\tb"},
		{args{"path": "empty"}, "empty is empty"},
		{args{"path": "blank"}, "blank, line 1 of 1\n1\t"},
		{args{"path": "crlf"}, "crlf, lines 1–2 of 2, CRLF\n1\ta\n2\tb"},
		{args{"path": "mark"}, "mark, lines 1–2 of 2, with a byte order mark\n1\ta\n2\tb"},
		{args{"path": "latin"}, "latin, line 1 of 1\n1\tcaf\uFFFD"},
		{args{"path": "link", "end_line": 1}, "link, line 1 of 10\n1\tline 1\n(9 lines left; go on with start_line 2)"},
		{args{"path": w.at("ws/open")}, w.at("ws/open") + ", lines 1–2 of 2\n1\ta\n2\tb"},
		{args{"path": w.at("granted/x")}, w.at("granted/x") + ", line 1 of 1\n1\tgranted"},
		{args{"path": "../writable/x"}, "../writable/x, line 1 of 1\n1\twritable"},
		{args{"path": "long"}, "long, lines 1–3 of 3\n1\tshort\n2\t" + strings.Repeat("é", 1000) + "… (8000 more bytes in this line)\n3\tend"},
	} {
		if got := w.done(tools.ReadFile, c.args); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.args, got, c.want)
		}
	}
	if got := w.done(tools.ReadFile, args{"path": "many"}); !strings.HasSuffix(got, "2000\tline 2000\n(3000 lines left; go on with start_line 2001)") {
		t.Errorf("many ends with %q", got[len(got)-100:])
	}
	if got := w.done(tools.ReadFile, args{"path": "wide"}); len(got) > 41_000 || !strings.HasSuffix(got, "(74 lines left; go on with start_line 27)") {
		t.Errorf("wide: %d bytes, ends with %q", len(got), got[len(got)-60:])
	}
	if got := w.done(tools.ReadFile, args{"path": "late", "start_line": 6001}); got != "late, line 6001 of 6001\n6001\t\uFFFD" {
		t.Errorf("late: %q", got)
	}
	w.fails(tools.ReadFile, args{"path": "ten", "start_line": 11}, "only 10 lines")
	w.fails(tools.ReadFile, args{"path": "ten", "start_line": 5, "end_line": 4}, "before")
	w.fails(tools.ReadFile, args{"path": "png"}, "image/png", "11 B")
	w.fails(tools.ReadFile, args{"path": "utf16"}, "UTF-16")
	w.fails(tools.ReadFile, args{"path": "zero"}, "binary")
	w.fails(tools.ReadFile, args{"path": "dir"}, "dir is a directory", tools.ListFiles)
	w.fails(tools.ReadFile, args{"path": "."}, "directory")
	w.fails(tools.ReadFile, args{"path": "ten/"}, "not a directory")
}

// A file that is larger than what is counted is still read.
func TestReadHugeFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"ws/huge": "first\nsecond\nthird\n"})
	if err := os.Truncate(w.at("ws/huge"), 10<<30); err != nil { // sparse
		t.Fatal(err)
	}
	w.fails(tools.ReadFile, args{"path": "huge"}, "binary") // the hole is all zeros
	w.put("ws/log", strings.Repeat("a line of a log, again and again\n", 300))
	if err := os.Truncate(w.at("ws/log"), 10<<30); err != nil {
		t.Fatal(err)
	}
	if got, want := w.done(tools.ReadFile, args{"path": "log", "end_line": 1}), "log, line 1 of more\n1\ta line of a log, again and again\n(more lines follow; go on with start_line 2)"; got != want {
		t.Errorf("%q", got)
	}
	w.fails(tools.SearchFile, args{"path": "log", "pattern": "x"}, "too large", tools.ReadFile)
	w.fails(tools.GetASTOutline, args{"path": "log"}, "too large", tools.SearchFile)
	w.fails(tools.EditFile, args{"path": "log", "old_text": "a", "new_text": "b"}, "too large")
	if got := w.done(tools.GrepFiles, args{"pattern": "again"}); !strings.Contains(got, "larger than 10.5 MB and left out: huge, log") {
		t.Errorf("%q", got)
	}
}

func TestSimilarNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"ws/notes/plan.md": "x", "ws/README.md": "x", "ws/secrets/key": "x", "outside/near": "x"})
	w.fails(tools.ReadFile, args{"path": "notes/plam.md"}, "notes/plam.md: no such file; similar names: plan.md")
	w.fails(tools.ReadFile, args{"path": "notes/plan.txt"}, "similar names: plan.md")
	w.fails(tools.ReadFile, args{"path": "readme.md"}, "similar names: README.md")
	w.fails(tools.ReadFile, args{"path": "nots/plan.md"}, "no such directory as nots; similar names: notes/")
	w.fails(tools.EditFile, args{"path": "notes/pla.md", "old_text": "a", "new_text": "b"}, "no such file; similar names: plan.md")
	w.fails(tools.InsertAtLine, args{"path": "notes/pla.md", "line": 1, "text": "b"}, "no such file")
	w.fails(tools.ReplaceLines, args{"path": "notes/pla.md", "start_line": 1, "end_line": 1, "text": "b"}, "no such file")
	w.fails(tools.ListFiles, args{"path": "note"}, "similar names: notes/")
	w.fails(tools.GrepFiles, args{"path": "note", "pattern": "x"}, "similar names: notes/")
	if o := w.run(tools.ReadFile, args{"path": "secret"}); strings.Contains(o.Text, "secrets") {
		t.Errorf("it points at what is closed: %s", o.Text)
	}
	if o := w.run(tools.ReadFile, args{"path": "../outside/nea"}); strings.Contains(o.Text, "similar") {
		t.Errorf("it tells what lies outside: %s", o.Text)
	}
	w.reach.Dir = w.at("gone")
	w.fails(tools.ReadFile, args{"path": "x"}, "the working directory does not exist")
	w.fails(tools.ListFiles, args{}, "the working directory does not exist")
}

func TestListFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"ws/a.md": "12345", "ws/b.txt": strings.Repeat("x", 2048), "ws/docs/c.md": "x", "ws/docs/deep/d.md": "x",
		"ws/link": "->docs/c.md", "ws/.git/config": "x", "ws/secrets/key": "x", "ws/docs/secrets/key.md": "x",
		"ws/data/parley.db": "x", "ws/odd\nname": "",
	})
	w.reach.Denied = []string{w.at("ws/data")}
	day := time.Date(2026, 11, 30, 14, 2, 0, 0, time.Local)
	for _, name := range []string{"a.md", "b.txt", "odd\nname", "docs/c.md", "docs/deep/d.md"} {
		if err := os.Chtimes(w.at("ws/"+name), day, day); err != nil {
			t.Fatal(err)
		}
	}
	const at = "2026-11-30 14:02"
	for _, c := range []struct {
		args args
		want string
	}{
		{args{}, ".git/\na.md\t5 B\t" + at + "\nb.txt\t2.0 kB\t" + at + "\ndata/\ndocs/\nlink\tlink to docs/c.md\n\"odd\\nname\"\t0 B\t" + at + "\nsecrets/\tclosed"},
		{args{"path": "docs", "depth": 3}, "c.md\t1 B\t" + at + "\ndeep/\ndeep/d.md\t1 B\t" + at + "\nsecrets/\tclosed\n(not entered: secrets)"},
		{args{"glob": "*.md"}, "a.md\t5 B\t" + at + "\ndocs/c.md\t1 B\t" + at + "\ndocs/deep/d.md\t1 B\t" + at + "\n(not entered: .git, data, docs/secrets, secrets)"},
		{args{"glob": "docs/**/*.md", "limit": 1}, "docs/c.md\t1 B\t" + at + "\n(not entered: .git, data)\n(entries 1–1; more follow: offset 1)"},
		{args{"glob": "docs/**/*.md", "limit": 1, "offset": 1}, "docs/deep/d.md\t1 B\t" + at + "\n(not entered: .git, data, docs/secrets, secrets)\n(entries 2–2, the last ones)"},
		{args{"path": "docs/deep", "offset": 7}, "there are only 1 entries, all of them before this offset"},
		{args{"path": "docs/deep", "glob": "*.go"}, "docs/deep holds no such files"},
		{args{"path": w.at("ws/docs/deep")}, "d.md\t1 B\t" + at},
	} {
		if got := w.done(tools.ListFiles, c.args); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.args, got, c.want)
		}
	}
	w.mkdir("ws/void")
	if got := w.done(tools.ListFiles, args{"path": "void"}); got != "void is empty" {
		t.Errorf("%q", got)
	}
	w.fails(tools.ListFiles, args{"path": "a.md"}, "not a directory")
	w.fails(tools.ListFiles, args{"glob": "[a"}, "glob")
	w.fails(tools.ListFiles, args{"glob": strings.Repeat("**/", 20)}, "glob")
	w.fails(tools.ListFiles, args{"path": "data"}, "no tool may enter")
}

func TestListMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 450 {
		w.put(fmt.Sprintf("ws/f%03d", i), "")
	}
	for offset, want := range map[int]string{0: "(entries 1–200; more follow: offset 200)", 200: "(entries 201–400; more follow: offset 400)", 400: "(entries 401–450, the last ones)"} {
		if got := w.done(tools.ListFiles, args{"offset": offset}); !strings.HasSuffix(got, want) || !strings.HasPrefix(got, fmt.Sprintf("f%03d\t", offset)) {
			t.Errorf("offset %d: %q … %q", offset, got[:10], got[len(got)-60:])
		}
	}
}
