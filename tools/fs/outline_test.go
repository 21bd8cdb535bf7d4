package fs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"parley/tools"
	filetools "parley/tools/fs"
)

func TestOutline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a.go": {
			"// Package a is a.\npackage a\n\nimport \"fmt\"\n\n// T is a T.\ntype T[K comparable] struct {\n\ta, b int\n\tc string\n}\n\ntype (\n\tI interface {\n\t\tDo(n int) error\n\t\tfmt.Stringer\n\t}\n\tF = func(int) bool\n)\n\nconst (\n\tA, B int = 1, 2\n\tC = 3\n)\n\nvar x map[string]int\n\nfunc (t *T[K]) Name(a, b int, c ...string) (s string, err error) {\n\treturn\n}\n\nfunc main() {}\n",
			"2\tpackage a\n7–10\ttype T[K comparable] struct (3 fields)\n13–16\ttype I interface\n14\t  Do(n int) error\n15\t  fmt.Stringer\n17\ttype F = func(int) bool\n21\tconst A, B int\n22\tconst C\n25\tvar x map[string]int\n27–29\tfunc (t *T[K]) Name(a, b int, c ...string) (s string, err error)\n31\tfunc main()",
		},
		"broken.go": {"package a\n\nfunc ok() {}\n\nfunc bad( {\n", "does not parse"},
		"none.go":   {"", "does not parse"},
		"a.md": {
			"---\ntitle: x\n---\n# One\ntext\n## Two ##\n```sh\n# no heading\n```\n~~~\n# nor this\n```\n~~~\nUnder\n-----\n#nor this\n    # nor this\n\nAnd\n===\n### Deep\n",
			"2–3\t  ## title: x\n4–18\t# One\n6–13\t  ## Two ##\n14–18\t  ## Under\n19–21\t# And\n21\t    ### Deep",
		},
		"a.toml": {
			"name = \"x\"\ntext = \"\"\"\nno = 1\n[no]\n\"\"\"\nlist = [\n  [1, 2],\n  3\n]\n[server] # here\nport = 1\nlong.key = 2\n[[hosts]]\n\"quoted key\" = 1\n",
			"1\tname\n2\ttext\n6\tlist\n10\t[server]\n11\t  port\n12\t  long.key\n13\t[[hosts]]\n14\t  \"quoted key\"\n(found by a scan of the text, not by a parser)",
		},
		"a.sql": {
			"-- CREATE TABLE no\nCREATE TABLE IF NOT EXISTS users (\n  id int\n);\n/* create view no as\ncreate view no2 */\ncreate or replace function app.f(a int)\nreturns int;\nCREATE UNIQUE INDEX i ON users (id);\ncreate materialized view v as select 1;\n",
			"2\tCREATE TABLE IF NOT EXISTS users\n7\tcreate or replace function app.f\n9\tCREATE UNIQUE INDEX i\n10\tcreate materialized view v\n(found by a scan of the text, not by a parser)",
		},
		"a.kt": {
			"package x.y\n\n/* class No */\ndata class User(val name: String)\n\ninterface I {\n    fun go(n: Int): Int\n}\n\nobject O {\n    private val size = 1\n    @JvmStatic suspend fun run(): Unit = work {\n        val local = 1\n    }\n    companion object {\n    }\n}\n// class Not\ntypealias T = String\nenum class E { A }\n",
			"1\tpackage x.y\n4\tdata class User(val name: String)\n6\tinterface I\n7\t  fun go(n: Int): Int\n10\tobject O\n11\t  private val size\n12\t  @JvmStatic suspend fun run(): Unit\n15\t  companion object\n19\ttypealias T\n20\tenum class E\n(found by a scan of the text, not by a parser)",
		},
		"empty.md": {"no heading\n", "empty.md declares nothing that an outline shows"},
	} {
		w := newWorld(t, map[string]string{"ws/" + name: c.text})
		got := w.done(tools.GetASTOutline, args{"path": name})
		if got != c.want && !(strings.Contains(name, "n.go") || name == "none.go") || !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	w := newWorld(t, map[string]string{"ws/many.md": strings.Repeat("# heading\n", 900), "ws/x.bin": "\x00"})
	if got := w.done(tools.GetASTOutline, args{"path": "many.md"}); !strings.HasSuffix(got, "(500 symbols of 900 symbols; "+tools.SearchFile+" finds the others)") {
		t.Errorf("%q", got[len(got)-100:])
	}
	w.fails(tools.GetASTOutline, args{"path": "x.bin"}, "binary")
	w.fails(tools.GetASTOutline, args{"path": "y.go"}, "no such file")
}

func TestOutlineCtags(t *testing.T) {
	t.Parallel()
	said, err := exec.Command("ctags", "--version").Output()
	if err != nil || !strings.Contains(string(said), "Universal Ctags") {
		t.Skip("universal-ctags is not installed")
	}
	w := newWorld(t, map[string]string{
		"ws/a.py":   "class A:\n    def f(self, x):\n        pass\n\ndef g():\n    pass\n",
		"ws/-e.c":   "int main(void) {\n  return 0;\n}\n",
		"ws/a.none": "text\n",
		"ws/.ctags": "--langdef=x\n",
	})
	for name, want := range map[string]string{
		"a.py": "1–3\tclass A\n2–3\t  member f(self, x)\n5–6\tfunction g()",
		"-e.c": "1–3\tfunction main(void)",
	} {
		if got := w.done(tools.GetASTOutline, args{"path": name}); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	w.fails(tools.GetASTOutline, args{"path": "a.none"}, "no such language", tools.SearchFile)
}

// A program that is no universal-ctags is said to be none.
func TestOutlineOddCtags(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell")
	}
	for script, say := range map[string]string{
		"echo usage: ctags; exit 1": "universal-ctags",
		"echo main 1 a.c":           "gives no JSON",
		"exec yes '{\"_type\":\"tag\",\"name\":\"x\",\"line\":1}'": "more than could be read",
		"exit 0": "no such language",
	} {
		w := newWorld(t, map[string]string{"ws/a.c": "int x;\n"})
		program := filepath.Join(w.top, "ctags")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		w.use(filetools.Options{Ctags: program})
		if o := w.run(tools.GetASTOutline, args{"path": "a.c"}); !strings.Contains(o.Text, say) {
			t.Errorf("%q: %.300s", script, o.Text)
		}
	}
	w := newWorld(t, map[string]string{"ws/a.c": "int x;\n"})
	w.use(filetools.Options{Ctags: filepath.Join(w.top, "none")})
	w.fails(tools.GetASTOutline, args{"path": "a.c"}, "does not start")
}
