package fs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/tools"
)

// paper is the simple model of a file: lines, each with its end.
type paper []string

func toPaper(s string) paper {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(strings.TrimSuffix(s, "\n")+"\n", "\n")[:strings.Count(strings.TrimSuffix(s, "\n"), "\n")+1]
}

// drawFile draws a content of a few short lines that end in one way, or mixed,
// and says whether its last line has an end.
func drawFile(t *rapid.T) (content, end string) {
	end = rapid.SampledFrom([]string{"\n", "\r\n", "mixed"}).Draw(t, "end")
	word := rapid.SampledFrom([]string{"", "a", "b", "aa", "ab a", "\ta", "é", "\xff"})
	var b strings.Builder
	if rapid.Bool().Draw(t, "mark") {
		b.WriteString("\xef\xbb\xbf")
	}
	rows := rapid.SliceOfN(word, 0, 6).Draw(t, "rows")
	for i, row := range rows {
		b.WriteString(row)
		if i == len(rows)-1 && rapid.Bool().Draw(t, "open") {
			break
		}
		switch {
		case end != "mixed":
			b.WriteString(end)
		case rapid.Bool().Draw(t, "crlf"):
			b.WriteString("\r\n")
		default:
			b.WriteString("\n")
		}
	}
	return b.String(), end
}

// drawLines draws whole lines as a model writes them.
func drawLines(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"", "x", "a", "y z", "é"}), 1, 3).Draw(t, "lines"), "\n") +
		rapid.SampledFrom([]string{"", "\n"}).Draw(t, "last")
}

// flat is a content with plain line ends and without the mark.
func flat(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, "\xef\xbb\xbf"), "\r\n", "\n")
}

// ended is the opposite, for a file whose lines end in one way.
func ended(was, now, end string) string {
	if end == "\r\n" && strings.Contains(was, "\r\n") {
		now = strings.ReplaceAll(now, "\n", "\r\n")
	}
	if strings.HasPrefix(was, "\xef\xbb\xbf") {
		now = "\xef\xbb\xbf" + now
	}
	return now
}

// spliced is the model of both line tools: rows first to last of s, which may
// be none, make way for text.
func spliced(s string, first, last int, text string) string {
	open := s != "" && !strings.HasSuffix(s, "\n")
	rows := toPaper(s)
	var with paper
	if text != "" {
		with = toPaper(text)
		if text == "\n" {
			with = paper{"\n"}
		}
	}
	now := strings.Join(rows[:first-1], "") + strings.Join(with, "") + strings.Join(rows[last:], "")
	if open {
		now = strings.TrimSuffix(now, "\n")
	}
	return now
}

// sameEnds checks what every edit keeps: the mark, and the bytes of the lines
// before and after.
func sameEnds(t *rapid.T, was, now string, before, after int) {
	was, now = strings.TrimPrefix(was, "\xef\xbb\xbf"), strings.TrimPrefix(now, "\xef\xbb\xbf")
	rows, news := strings.SplitAfter(was, "\n"), strings.SplitAfter(now, "\n")
	for i := range before {
		if strings.HasSuffix(rows[i], "\n") && (i >= len(news) || rows[i] != news[i]) {
			t.Fatalf("line %d was %q and is %q", i+1, rows[i], news[i])
		}
	}
	for i := range after {
		if a, b := rows[len(rows)-1-i], news[len(news)-1-i]; a != b {
			t.Fatalf("line %d from the end was %q and is %q", i+1, a, b)
		}
	}
}

// desk runs one tool on a file again and again.
func desk(t *testing.T) func(rt *rapid.T, tool, was string, a args) (now string, failed bool) {
	w := newWorld(t, nil)
	return func(rt *rapid.T, tool, was string, a args) (string, bool) {
		if err := os.WriteFile(w.at("ws/f"), []byte(was), 0o644); err != nil {
			rt.Fatal(err)
		}
		a["path"] = "f"
		o := w.run(tool, a)
		now, err := os.ReadFile(w.at("ws/f"))
		if err != nil {
			rt.Fatal(err)
		}
		return string(now), o.State == tools.Failed
	}
}

func TestInsertModel(t *testing.T) {
	t.Parallel()
	run := desk(t)
	rapid.Check(t, func(t *rapid.T) {
		was, end := drawFile(t)
		n := len(toPaper(flat(was)))
		line, text := rapid.IntRange(0, n+2).Draw(t, "line"), drawLines(t)
		now, failed := run(t, tools.InsertAtLine, was, args{"line": line, "text": text})
		if bad := line < 1 || line > n+1 || text == ""; bad != failed {
			t.Fatalf("%q: insert %q at %d: failed %v", was, text, line, failed)
		} else if bad {
			return
		}
		want := spliced(flat(was), line, line-1, text)
		if flat(was) == "" {
			want = strings.TrimSuffix(text, "\n") + "\n"
		}
		check(t, was, now, want, end)
		sameEnds(t, was, now, line-1, 0)
	})
}

func TestReplaceModel(t *testing.T) {
	t.Parallel()
	run := desk(t)
	rapid.Check(t, func(t *rapid.T) {
		was, end := drawFile(t)
		n := len(toPaper(flat(was)))
		first := rapid.IntRange(1, n+1).Draw(t, "first")
		last := rapid.IntRange(first-1, n+1).Draw(t, "last")
		text := rapid.OneOf(rapid.Just(""), rapid.Custom(drawLines)).Draw(t, "text")
		now, failed := run(t, tools.ReplaceLines, was, args{"start_line": first, "end_line": last, "text": text})
		if bad := last < first || last > n; bad != failed {
			t.Fatalf("%q: replace %d–%d by %q: failed %v", was, first, last, text, failed)
		} else if bad {
			return
		}
		check(t, was, now, spliced(flat(was), first, last, text), end)
		if last < n {
			sameEnds(t, was, now, first-1, n-last)
		}
	})
}

func TestEditModel(t *testing.T) {
	t.Parallel()
	run := desk(t)
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\né\t ")), 0, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		was, end := drawFile(t)
		old, new, all := text.Draw(t, "old"), text.Draw(t, "new"), rapid.Bool().Draw(t, "all")
		now, failed := run(t, tools.EditFile, was, args{"old_text": old, "new_text": new, "replace_all": all})
		places := 0
		for i := range flat(was) {
			if old != "" && strings.HasPrefix(flat(was)[i:], old) {
				places++
			}
		}
		if bad := old == new || places == 0 || places > 1 && !all; bad != failed {
			t.Fatalf("%q: %q by %q (all: %v), which stands there %d times: failed %v", was, old, new, all, places, failed)
		} else if bad && now != was {
			t.Fatalf("%q: it failed and left %q", was, now)
		} else if bad {
			return
		}
		check(t, was, now, strings.ReplaceAll(flat(was), old, new), end)
		if !all {
			at := strings.Index(flat(was), old)
			sameEnds(t, was, now, strings.Count(flat(was)[:at], "\n"), 0)
		}
	})
}

// check compares with the model: byte by byte if all lines end in one way.
func check(t *rapid.T, was, now, want, end string) {
	if end != "mixed" && now != ended(was, want, end) {
		t.Fatalf("%q became %q, want %q", was, now, ended(was, want, end))
	}
	if got := flat(now); got != want {
		t.Fatalf("%q became %q, want %q apart from line ends", was, got, want)
	}
	if strings.HasPrefix(was, "\xef\xbb\xbf") != strings.HasPrefix(now, "\xef\xbb\xbf") {
		t.Fatalf("the mark of %q: %q", was, now)
	}
}

// TestReadModel checks that reading in pieces of any size shows every line
// once.
func TestReadModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		was, _ := drawFile(t)
		if err := os.WriteFile(w.at("ws/f"), []byte(was), 0o644); err != nil {
			t.Fatal(err)
		}
		rows := toPaper(flat(was))
		if was == "" {
			return
		}
		for line := 1; line <= len(rows); {
			n := rapid.IntRange(1, 3).Draw(t, "n")
			got := w.done(tools.ReadFile, args{"path": "f", "start_line": line, "end_line": line + n - 1})
			for ; n > 0 && line <= len(rows); n, line = n-1, line+1 {
				want := fmt.Sprintf("\n%d\t%s", line, strings.ToValidUTF8(strings.TrimSuffix(rows[line-1], "\n"), "\uFFFD"))
				if !strings.Contains(got+"\n", want+"\n") {
					t.Fatalf("%q: line %d is not %q in %q", was, line, want, got)
				}
			}
			if more := strings.Contains(got, fmt.Sprintf("go on with start_line %d)", line)); more != (line <= len(rows)) {
				t.Fatalf("%q: at line %d it says %q", was, line, got)
			}
		}
	})
}
