package fs_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/tools"
)

func TestSearchFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"ws/a":    "one\ntwo\nthree\nfour\nfive\nsix\nseven\ntwo again\n",
		"ws/crlf": "one\r\ntwo\r\n",
		"ws/dots": "a.b\naxb\n",
		"ws/long": strings.Repeat("x", 1000) + "needle" + strings.Repeat("y", 1000),
		"ws/bin":  "a\x00b",
	})
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": "a", "pattern": "two"}, "2: two\n8: two again"},
		{args{"path": "a", "pattern": "^two$"}, "2: two"},
		{args{"path": "a", "pattern": "TWO", "ignore_case": true, "limit": 1}, "2: two\n(matches 1–1; more follow: offset 1)"},
		{args{"path": "a", "pattern": "two", "offset": 1}, "8: two again\n(matches 2–2, the last ones)"},
		{args{"path": "a", "pattern": "two", "context": 1}, "1- one\n2: two\n3- three\n--\n7- seven\n8: two again"},
		{args{"path": "a", "pattern": "t", "context": 2}, "1- one\n2: two\n3: three\n4- four\n5- five\n6- six\n7- seven\n8: two again"},
		{args{"path": "a", "pattern": "nine"}, "no match in a"},
		{args{"path": "a", "pattern": "two", "offset": 5}, "there are only 2 matches, all of them before this offset"},
		{args{"path": "crlf", "pattern": "o$"}, "2: two"},
		{args{"path": "dots", "pattern": "a.b"}, "1: a.b\n2: axb"},
		{args{"path": "dots", "pattern": "a.b", "literal": true}, "1: a.b"},
		{args{"path": "long", "pattern": "needle"}, "1: …" + strings.Repeat("x", 100) + "needle" + strings.Repeat("y", 194) + "… (a line of 2006 bytes)"},
	} {
		if got := w.done(tools.SearchFile, c.args); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.args, got, c.want)
		}
	}
	w.fails(tools.SearchFile, args{"path": "a", "pattern": "("}, "regular expression", "literal")
	w.fails(tools.SearchFile, args{"path": "a", "pattern": ""}, "empty")
	w.fails(tools.SearchFile, args{"path": "a", "pattern": "a\nb"}, "line by line")
	w.fails(tools.SearchFile, args{"path": "bin", "pattern": "a"}, "binary")
	w.fails(tools.SearchFile, args{"path": ".", "pattern": "a"}, "directory")
}

func TestGrepFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"ws/a.go": "package a\n\nfunc Needle() {}\n", "ws/b.md": "no\nneedle needle\nyes\n", "ws/sub/c.go": "needle\nneedle\n",
		"ws/bin": "needle\x00", "ws/.git/x": "needle", "ws/secrets/key": "needle", "ws/sub/Secrets/key": "needle",
		"ws/data/x": "needle", "ws/sub/deep/secrets": "needle", "ws/link": "->../out", "ws/flink": "->../out/x", "out/x": "needle outside",
	})
	w.reach.Denied = []string{w.at("ws/data")}
	notes := "\n(not entered: .git, data, secrets, sub/Secrets)\n(1 binary file left out)"
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"pattern": "needle"}, "b.md\n2: needle needle\nsub/c.go\n1: needle\n2: needle" + notes},
		{args{"pattern": "needle", "ignore_case": true, "glob": "*.go"}, "a.go\n3: func Needle() {}\nsub/c.go\n1: needle\n2: needle\n(not entered: .git, data, secrets, sub/Secrets)"},
		{args{"pattern": "needle", "mode": "files_only"}, "b.md\nsub/c.go" + notes},
		{args{"pattern": "needle", "mode": "count"}, "b.md: 1\nsub/c.go: 2" + notes},
		{args{"pattern": "needle", "mode": "count", "limit": 1}, "b.md: 1\n(not entered: .git, data, secrets, sub/Secrets)\n(1 binary file left out)\n(files 1–1; more follow: offset 1)"},
		{args{"pattern": "needle", "context": 1}, "b.md\n1- no\n2: needle needle\n3- yes\nsub/c.go\n1: needle\n2: needle" + notes},
		{args{"pattern": "needle", "offset": 1, "limit": 1}, "sub/c.go\n1: needle\n(not entered: .git, data, secrets, sub/Secrets)\n(1 binary file left out)\n(matches 2–2; more follow: offset 2)"},
		{args{"pattern": "needle", "path": "sub"}, "c.go\n1: needle\n2: needle\n(not entered: Secrets)"},
		{args{"pattern": "needle", "path": "sub/c.go", "mode": "count"}, "c.go: 2"},
		{args{"pattern": "Needle()", "literal": true, "path": w.at("ws")}, "a.go\n3: func Needle() {}" + notes},
		{args{"pattern": "absent", "path": "sub"}, "no match in sub\n(not entered: Secrets)"},
	} {
		if got := w.done(tools.GrepFiles, c.args); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.args, got, c.want)
		}
	}
	w.fails(tools.GrepFiles, args{"pattern": "["}, "regular expression", "literal")
	w.fails(tools.GrepFiles, args{"pattern": "a", "glob": "[a"}, "glob")
	w.fails(tools.GrepFiles, args{"pattern": "a", "path": "data"}, "no tool may enter")
}

// What does not fit into one result is reached by going on, and nothing comes
// twice.
func TestGrepPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 7 {
		w.put(fmt.Sprintf("ws/f%d", i), strings.Repeat("a line that matches "+strings.Repeat("x", 200)+"\n", 100))
	}
	seen, calls := 0, 0
	for offset := 0; ; calls++ {
		got := w.done(tools.GrepFiles, args{"pattern": "matches", "context": 2, "limit": 1000, "offset": offset})
		if len(got) > 45_000 {
			t.Fatalf("a result of %d bytes", len(got))
		}
		seen += strings.Count(got, ": a line")
		at := strings.LastIndex(got, "more follow: offset ")
		if at < 0 {
			break
		}
		if n, err := fmt.Sscanf(got[at:], "more follow: offset %d", &offset); n != 1 || offset != seen {
			t.Fatalf("after %d matches it says %q (%v)", seen, got[at:], err)
		}
	}
	if seen != 700 || calls < 2 {
		t.Errorf("%d matches in %d calls", seen, calls)
	}
}
