package fs_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"parley/tools"
)

// edit is a change of a file with this content.
type edit struct {
	was  string
	args args
	want string // what the file holds then; "" if the call fails
	say  []string
}

func (e edit) run(t *testing.T, tool string) {
	t.Helper()
	w := newWorld(t, map[string]string{"ws/f": e.was})
	e.args["path"] = "f"
	o := w.run(tool, e.args)
	got := w.get("ws/f")
	switch {
	case e.want == "" && o.State != tools.Failed, e.want != "" && o.State != tools.Completed:
		t.Errorf("%s %v on %q: %s: %s", tool, e.args, e.was, o.State, o.Text)
	case e.want == "" && got != e.was:
		t.Errorf("%s %v on %q failed and left %q", tool, e.args, e.was, got)
	case e.want != "" && got != e.want:
		t.Errorf("%s %v on %q: %q, want %q", tool, e.args, e.was, got, e.want)
	}
	for _, s := range e.say {
		if !strings.Contains(o.Text, s) {
			t.Errorf("%s %v on %q says %q, not %q", tool, e.args, e.was, o.Text, s)
		}
	}
}

func TestEditFile(t *testing.T) {
	t.Parallel()
	change := func(old, new string) args { return args{"old_text": old, "new_text": new} }
	all := func(old, new string) args { return args{"old_text": old, "new_text": new, "replace_all": true} }
	for _, e := range []edit{
		{"one\ntwo\nthree\n", change("two", "2"), "one\n2\nthree\n", []string{"replaced 1 place in f, on line 2; it now reads:\n1\tone\n2\t2\n3\tthree"}},
		{"a\nb\nc", change("b\nc", "x"), "a\nx", nil},
		{"a\nb\nc", change("c", "c\n"), "a\nb\nc\n", nil},
		{"a b a", all("a", "aa"), "aa b aa", []string{"2 places"}},
		{"aaa", all("aa", "b"), "ba", nil},
		{"a\r\nb\r\nc\r\n", change("a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n", nil},
		{"a\r\nb\r\n", change("a\r\nb", "x\r\ny"), "x\r\ny\r\n", nil},
		{"a\r\nb\nc\r\n", change("b", "x\ny"), "a\r\nx\r\ny\nc\r\n", nil},
		{"a\nb\n", change("a\r\nb", "x\r\ny"), "x\ny\n", nil},
		{"a\r\nb", change("b", "x\ny"), "a\r\nx\r\ny", nil},
		{"\xef\xbb\xbfa\n", change("a", "b"), "\xef\xbb\xbfb\n", nil},
		{"caf\xe9 a\n", change("a\n", "b\n"), "caf\xe9 b\n", nil},
		{"\xe9 x\n", change("x", "y"), "\xe9 y\n", nil},
		{"a\nb\n", change("\n", ""), "", []string{"2 times", "lines 1, 2"}},
		{"old\rmac\rx\n", change("mac", "m\nn"), "old\rm\nn\rx\n", nil},
		{"keep\ngone\n", change("gone\n", ""), "keep\n", nil},
		{"a\n\na\nb a\n", change("a", "x"), "", []string{"stands in f 3 times, on lines 1, 3, 4", "replace_all"}},
		{"aaa", change("aa", "x"), "", []string{"2 times"}},
		{"a\n", change("b", "x"), "", []string{"stands in f 0 times"}},
		{"\tif x {\n\t\ty\n\t}\n", change("if x {\n  y\n}", "z"), "", []string{"0 times", "apart from spaces", "line 1"}},
		{"one\ntwo\n", change("1\tone\n2\ttwo", "z"), "", []string{"leave out the line numbers"}},
		{"one\ntwo\n", change("two\nthree", "z"), "", []string{"its first line does, on line 2"}},
		{"a\n", change("", "x"), "", []string{"empty", tools.InsertAtLine}},
		{"a\n", change("a", "a"), "", []string{"same"}},
		{"a\x00", change("a", "b"), "", []string{"binary"}},
		{"", change("a", "b"), "", []string{"0 times"}},
	} {
		e.run(t, tools.EditFile)
	}
}

func TestInsertAtLine(t *testing.T) {
	t.Parallel()
	at := func(line int, text string) args { return args{"line": line, "text": text} }
	for _, e := range []edit{
		{"a\nb\n", at(1, "x"), "x\na\nb\n", []string{"inserted 1 line into f at line 1; it now reads:\n1\tx\n2\ta\n3\tb"}},
		{"a\nb\n", at(2, "x\ny\n"), "a\nx\ny\nb\n", []string{"2 lines"}},
		{"a\nb\n", at(3, "x"), "a\nb\nx\n", nil},
		{"a\nb", at(3, "x"), "a\nb\nx", nil},
		{"a\nb", at(2, "x"), "a\nx\nb", nil},
		{"a\n", at(1, "\n"), "\na\n", nil},
		{"a\n", at(2, "x\n\n"), "a\nx\n\n", nil},
		{"", at(1, "x"), "x\n", nil},
		{"a\r\nb\r\n", at(2, "x\ny"), "a\r\nx\r\ny\r\nb\r\n", nil},
		{"a\r\nb", at(3, "x"), "a\r\nb\r\nx", nil},
		{"\xef\xbb\xbfa\n", at(1, "x"), "\xef\xbb\xbfx\na\n", nil},
		{"a\n", at(3, "x"), "", []string{"line 3 is out of range: the file has 1 line, so 1 to 2"}},
		{"a\n", at(0, "x"), "", []string{"out of range"}},
		{"a\n", at(1, ""), "", []string{"empty"}},
		{"\x00", at(1, "x"), "", []string{"binary"}},
	} {
		e.run(t, tools.InsertAtLine)
	}
}

func TestReplaceLines(t *testing.T) {
	t.Parallel()
	lines := func(first, last int, text string) args {
		return args{"start_line": first, "end_line": last, "text": text}
	}
	for _, e := range []edit{
		{"a\nb\nc\n", lines(2, 2, "x"), "a\nx\nc\n", []string{"replaced line 2 of f by 1 line; it now reads:\n1\ta\n2\tx\n3\tc"}},
		{"a\nb\nc\n", lines(1, 3, "x\ny\n"), "x\ny\n", nil},
		{"a\nb\nc\n", lines(2, 3, ""), "a\n", []string{"took lines 2–3 out of f"}},
		{"a\nb\nc", lines(3, 3, "x\ny"), "a\nb\nx\ny", nil},
		{"a\nb\nc", lines(3, 3, ""), "a\nb", nil},
		{"a\nb\nc", lines(1, 2, ""), "c", nil},
		{"a\nb\n", lines(2, 2, "\n"), "a\n\n", nil},
		{"a\r\nb\r\nc", lines(2, 3, ""), "a", nil},
		{"a\r\nb\r\nc\r\n", lines(2, 2, "x\ny"), "a\r\nx\r\ny\r\nc\r\n", nil},
		{"a\nb\r\nc\n", lines(3, 3, "x"), "a\nb\r\nx\n", nil},
		{"a\n", lines(2, 2, "x"), "", []string{"lines 2–2 are out of range: the file has 1 line"}},
		{"a\nb\n", lines(2, 1, "x"), "", []string{"out of range"}},
		{"", lines(1, 1, "x"), "", []string{"0 lines"}},
	} {
		e.run(t, tools.ReplaceLines)
	}
	w := newWorld(t, map[string]string{"ws/f": "a\nb"})
	if got := w.done(tools.ReplaceLines, args{"path": "f", "start_line": 1, "end_line": 2, "text": ""}); !strings.Contains(got, "empty now") || w.get("ws/f") != "" {
		t.Errorf("%q, %q", got, w.get("ws/f"))
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"ws/old": "a\n", "ws/crlf": "a\r\nb\r\n", "ws/mixed": "a\r\nb\n", "ws/mark": "\xef\xbb\xbfa\n", "ws/bin": "\x00", "ws/target": "t\n", "ws/link": "->target", "ws/dangling": "->made", "ws/dir/x": "",
	})
	for _, c := range []struct{ path, content, file, want, say string }{
		{"new", "x\ny", "new", "x\ny", "created new: 2 lines, 3 B"},
		{"a/b/c/new", "x\n", "a/b/c/new", "x\n", "created"},
		{"old", "b\n", "old", "b\n", "replaced old: 1 line"},
		{"old", "b\n", "old", "b\n", "nothing to do"},
		{"old", "b\r\n", "old", "b\n", "nothing to do"},
		{"crlf", "x\ny\nz", "crlf", "x\r\ny\r\nz", "CRLF"},
		{"mixed", "x\ny\r\n", "mixed", "x\ny\r\n", "replaced"},
		{"mark", "b\n", "mark", "\xef\xbb\xbfb\n", "replaced"},
		{"bin", "text", "bin", "text", "replaced"},
		{"link", "through\n", "target", "through\n", "replaced"},
		{"dangling", "x", "made", "x", "created"},
		{"empty", "", "empty", "", "created empty: 0 lines"},
		{w.at("ws/absolute"), "x", "absolute", "x", "created"},
	} {
		got := w.done(tools.WriteFile, args{"path": c.path, "content": c.content})
		if file := w.get("ws/" + c.file); file != c.want || !strings.Contains(got, c.say) {
			t.Errorf("%s: %q, want %q; says %q", c.path, file, c.want, got)
		}
	}
	if to, err := os.Readlink(w.at("ws/link")); err != nil || to != "target" {
		t.Errorf("the link became %q, %v", to, err)
	}
	w.fails(tools.WriteFile, args{"path": "dir", "content": "x"}, "directory")
	w.fails(tools.WriteFile, args{"path": "newdir/", "content": "x"}, "directory")
	w.fails(tools.WriteFile, args{"path": ".", "content": "x"}, "directory")
	w.fails(tools.WriteFile, args{"path": "old/x", "content": "x"}, "not a directory")
	w.fails(tools.WriteFile, args{"path": "big", "content": strings.Repeat("x", 11<<20)}, "too large")
	for name := range w.content("ws") {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left", name)
		}
	}
}

func TestWriteKeepsMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"ws/run": "a\n", "ws/fixed": "a\n"})
	for _, mode := range []os.FileMode{0o755, 0o600, 0o666, 0o640} {
		if err := os.Chmod(w.at("ws/run"), mode); err != nil {
			t.Fatal(err)
		}
		w.done(tools.WriteFile, args{"path": "run", "content": mode.String()})
		if info, err := os.Stat(w.at("ws/run")); err != nil || info.Mode() != mode {
			t.Errorf("%v became %v (%v)", mode, info.Mode(), err)
		}
	}
	if err := os.Chmod(w.at("ws/fixed"), 0o444); err != nil {
		t.Fatal(err)
	}
	for name, a := range everyTool("fixed") {
		if _, writes := w.tools[name].(tools.Previewer); writes {
			w.fails(name, a, "read-only (mode 0444)")
			if _, err := w.preview(name, a); err == nil || !strings.Contains(err.Error(), "read-only") {
				t.Errorf("%s: preview: %v", name, err)
			}
		}
	}
}

// A write into what may only be read needs the word of somebody, and that word
// holds for this path alone.
func TestReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"granted/f": "text\n", "writable/f": "text\n", "outside/f": "text\n", "outside/g": "text\n"})
	w.reach.Reads, w.reach.Writes = []string{w.at("granted")}, []string{w.at("writable")}
	for _, c := range []struct {
		path, target string
		read, write  bool
	}{
		{"granted/f", "", true, false}, {"granted/f", "granted/f", true, true},
		{"writable/f", "", true, true}, {"writable/new", "", false, true},
		{"outside/f", "", false, false}, {"outside/f", "outside/f", true, true}, {"outside/f", "outside/g", false, false},
		{"outside/new/deep/f", "outside/new/deep/f", false, true}, {"outside/f", "outside", false, false},
		{"ws/f", "outside/f", false, false},
	} {
		w.reach.Target = ""
		if c.target != "" {
			w.reach.Target = w.at(c.target)
		}
		if o := w.run(tools.ReadFile, args{"path": w.at(c.path)}); (o.State == tools.Completed) != c.read {
			t.Errorf("reading %s with %q allowed: %s", c.path, c.target, o.Text)
		}
		if o := w.run(tools.WriteFile, args{"path": w.at(c.path), "content": "text\nmore\n"}); (o.State == tools.Completed) != c.write {
			t.Errorf("writing %s with %q allowed: %s", c.path, c.target, o.Text)
		}
	}
	w.reach.Target = w.at("outside")
	if got := w.done(tools.ListFiles, args{"path": w.at("outside")}); !strings.HasPrefix(got, "f\t10 B") {
		t.Errorf("%q", got)
	}
	if got := w.done(tools.GrepFiles, args{"path": w.at("outside"), "pattern": "more", "mode": "files_only"}); got != "f\nnew/deep/f" {
		t.Errorf("%q", got)
	}
}

// Two calls at once do not undo each other.
func TestWritesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"ws/f": "end\n"})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				w.done(tools.InsertAtLine, args{"path": "f", "line": 1, "text": "x"})
			}
		})
	}
	all.Wait()
	if got := w.get("ws/f"); got != strings.Repeat("x\n", 40)+"end\n" {
		t.Errorf("%d bytes", len(got))
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"ws/f": "one\ntwo\n", "ws/bin": "\x00\x01", "outside/f": "private text\n", "ws/link": "->f", "ws/crlf": "a\r\nb\r\n"})
	for _, c := range []struct {
		tool, diff, note string
		args             args
	}{
		{tools.EditFile, "--- f\n+++ f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "", args{"path": "f", "old_text": "two", "new_text": "2"}},
		{tools.EditFile, "--- f\n+++ f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "", args{"path": "link", "old_text": "two", "new_text": "2"}},
		{tools.WriteFile, "--- /dev/null\n+++ sub/new\n@@ -0,0 +1,2 @@\n+a\n+b\n", "", args{"path": "sub/new", "content": "a\nb\n"}},
		{tools.WriteFile, "--- /dev/null\n+++ none\n", "It makes an empty file.", args{"path": "none", "content": ""}},
		{tools.WriteFile, "", "It changes nothing.", args{"path": "f", "content": "one\ntwo\n"}},
		{tools.InsertAtLine, "--- f\n+++ f\n@@ -1,2 +1,3 @@\n+x\n one\n two\n", "", args{"path": "f", "line": 1, "text": "x"}},
		{tools.ReplaceLines, "--- crlf\n+++ crlf\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+x\r\n", "", args{"path": "crlf", "start_line": 2, "end_line": 2, "text": "x"}},
		{tools.WriteFile, "--- bin\n+++ bin\n+text\n", "It replaces a file that is not text: binary data, 2 B. Only how the new content begins is shown.", args{"path": "bin", "content": "text"}},
		{tools.WriteFile, "--- " + w.at("outside/f") + "\n+++ " + w.at("outside/f") + "\n@@ -1 +1 @@\n-private text\n+x\n", "The file lies outside the working directory.", args{"path": "../outside/f", "content": "x\n"}},
	} {
		before := w.content(".")
		got, err := w.preview(c.tool, c.args)
		if err != nil || got.Kind != tools.PreviewDiff || got.Text != c.diff || got.Note != c.note || got.State == "" {
			t.Errorf("%s %v: %+v, %v", c.tool, c.args, got, err)
		}
		if after := w.content("."); len(after) != len(before) {
			t.Errorf("%s %v: the preview changed something", c.tool, c.args)
		}
	}
	if _, err := w.preview(tools.EditFile, args{"path": "f", "old_text": "three", "new_text": "3"}); err == nil || !strings.Contains(err.Error(), "0 times") {
		t.Errorf("a call that cannot work: %v", err)
	}
	// What lies outside is for the person alone: the model cannot learn from
	// errors what is in a file before somebody let it.
	for _, old := range []string{"private", "absent"} {
		if got, err := w.preview(tools.EditFile, args{"path": "../outside/f", "old_text": old, "new_text": "x"}); err != nil || got.State == "" {
			t.Errorf("%s: %+v, %v", old, got, err)
		} else if old == "absent" && !strings.Contains(got.Note, "will fail") {
			t.Errorf("the person is not told that it fails: %+v", got)
		}
	}
}

func TestPreviewLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"ws/f": numberedLines(90_000), "ws/g": numberedLines(20_000), "ws/huge": "x\n"})
	if err := os.Truncate(w.at("ws/huge"), 5<<30); err != nil {
		t.Fatal(err)
	}
	for name, say := range map[string]string{"f": "too much to compare", "g": "more follow", "huge": "5.4 GB"} {
		got, err := w.preview(tools.WriteFile, args{"path": name, "content": strings.Repeat("changed\n", 40_000)})
		if err != nil || !strings.Contains(got.Note, say) || len(got.Text) > 300<<10 || !strings.Contains(got.Text, "+++ "+name+"\n") || !strings.HasSuffix(got.Text, "\n") {
			t.Errorf("%s: %d bytes, note %q, %v", name, len(got.Text), got.Note, err)
		}
	}
	// A huge file has a state too.
	first, err := w.preview(tools.WriteFile, args{"path": "huge", "content": "x"})
	if err != nil {
		t.Fatal(err)
	}
	w.reach.State = first.State
	if err := os.Truncate(w.at("ws/huge"), 6<<30); err != nil {
		t.Fatal(err)
	}
	w.fails(tools.WriteFile, args{"path": "huge", "content": "x"}, "changed after")
}

// What was approved is what is written: a file that is another one by then
// is left alone.
func TestState(t *testing.T) {
	t.Parallel()
	for name, a := range everyTool("f") {
		w := newWorld(t, map[string]string{"ws/f": "text\n"})
		if _, ok := w.tools[name].(tools.Previewer); !ok {
			continue
		}
		shown, err := w.preview(name, a)
		if err != nil {
			t.Fatal(err)
		}
		w.reach.State = shown.State
		w.put("ws/f", "text, changed\n")
		w.fails(name, a, "changed after a person was shown", "read it again")
		if err := os.Remove(w.at("ws/f")); err != nil {
			t.Fatal(err)
		}
		w.fails(name, a, "changed after a person was shown")
		w.put("ws/f", "text\n")
		w.done(name, a)
		if got := w.get("ws/f"); !strings.Contains(got, "BROKEN") {
			t.Errorf("%s: %q", name, got)
		}
	}
	w := newWorld(t, nil)
	a := args{"path": "new", "content": "x"}
	shown, err := w.preview(tools.WriteFile, a)
	if err != nil || shown.State != "absent" {
		t.Fatalf("%+v, %v", shown, err)
	}
	w.reach.State = shown.State
	w.done(tools.WriteFile, a)
	w.done(tools.WriteFile, a) // run again after a crash: it is there already
	w.put("ws/new", "somebody else's")
	w.fails(tools.WriteFile, a, "changed after")
}

// A hard link is a file of its own name: writing parts it from the others.
func TestHardLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"outside/f": "text\n"})
	if err := os.Link(w.at("outside/f"), w.at("ws/f")); err != nil {
		missing(t, err)
	}
	if got := w.done(tools.ReadFile, args{"path": "f"}); !strings.Contains(got, "text") {
		t.Errorf("%q", got)
	}
	w.done(tools.WriteFile, args{"path": "f", "content": "new\n"})
	if got := w.get("outside/f"); got != "text\n" {
		t.Errorf("the other name holds %q", got)
	}
	if matches, err := filepath.Glob(w.at("outside/*")); err != nil || len(matches) != 1 {
		t.Errorf("%v, %v", matches, err)
	}
}
