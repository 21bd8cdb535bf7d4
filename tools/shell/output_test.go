package shell_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"parley/tools"
	"parley/tools/shell"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                     "plain\ttext\n",
		"a\r\nb\rc\r":                       "a\nb\nc\n",
		"\x1b[1;31mred\x1b[0m":              "red",
		"\x1b]0;title\x07x\x1b]8;;u\x1b\\y": "xy",
		"\x1b(Bx\x1b=y\x1bPdcs\x1b\\z":      "xyz",
		"\x00\x07\x08\x7f":                  "␀␇␈␡",
		"é€𝄞":                               "é€𝄞",
		"a\xffb\xc3":                        "a\uFFFDb\uFFFD",
		"\u0085\u009b":                      "\uFFFD\uFFFD",
		"\x1b[" + strings.Repeat("1;", 100): strings.Repeat("1;", 100)[64:],
		"\x1b]" + strings.Repeat("x", 5000): strings.Repeat("x", 5000-4096),
		"\x1b[12\nnext line":                "next line",
	} {
		if got := shell.Clean(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// However the text is cut into pieces, the result is the same, and safe.
func TestCleanPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "\n", "\r", "é", "€", "\xff", "\xe2\x82", "\x1b", "[", "]", "\\", "3", "m", "\x07", "\x00", "\u0085", "𝄞"})).Draw(t, "parts")
		whole := strings.Join(parts, "")
		var pieces []string
		for i := 0; i < len(whole); {
			n := min(len(whole)-i, rapid.IntRange(1, 4).Draw(t, "n"))
			pieces = append(pieces, whole[i:i+n])
			i += n
		}
		got := shell.Clean(pieces...)
		if want := shell.Clean(whole); got != want {
			t.Fatalf("%q in pieces becomes %q, in one %q", pieces, got, want)
		}
		bad := func(r rune) bool { return unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' }
		if !utf8.ValidString(got) || strings.ContainsFunc(got, bad) {
			t.Fatalf("%q becomes %q", whole, got)
		}
	})
}

func TestOutput(t *testing.T) {
	for _, size := range []int{0, 1, shell.ShownMax - 1, shell.ShownMax, shell.ShownMax + 1, 3 * shell.ShownMax} {
		for _, piece := range []int{1000, 77_777, 400_000} {
			var whole bytes.Buffer
			for i := 0; whole.Len() < size; i++ {
				fmt.Fprintf(&whole, "line %d €\n", i)
			}
			size := whole.Len()
			dir := t.TempDir()
			o := shell.NewOutput(func() (*os.File, string, error) {
				f, err := os.Create(filepath.Join(dir, "all.txt"))
				return f, "all.txt", err
			})
			for rest := whole.Bytes(); len(rest) > 0; {
				n := min(piece, len(rest))
				_, _ = o.Write(rest[:n])
				rest = rest[n:]
			}
			text := o.End()
			file, err := os.ReadFile(filepath.Join(dir, "all.txt"))
			if size <= shell.ShownMax {
				if text != whole.String() || err == nil {
					t.Errorf("%d bytes: %d shown, file %v", size, len(text), err)
				}
				continue
			}
			head, tail, _ := strings.Cut(text, "\n[cut here: shown are the first ")
			note, tail, _ := strings.Cut(tail, "]\n")
			if !strings.HasPrefix(whole.String(), head) || !strings.HasSuffix(whole.String(), tail) || len(tail) < 2*len(head) {
				t.Errorf("%d bytes: head %d, tail %d", size, len(head), len(tail))
			}
			if len(text) > shell.ShownMax+200 || len(text) < shell.ShownMax || !utf8.ValidString(text) {
				t.Errorf("%d bytes: %d shown", size, len(text))
			}
			if !strings.Contains(note, fmt.Sprintf("of %d bytes; the whole is in all.txt", size)) || !bytes.Equal(file, whole.Bytes()) {
				t.Errorf("%d bytes: %q, file %d bytes, %v", size, note, len(file), err)
			}
		}
	}
}

func TestOutputVast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.txt")
	o := shell.NewOutput(func() (*os.File, string, error) {
		f, err := os.Create(path)
		return f, "all.txt", err
	})
	line := append(bytes.Repeat([]byte("x"), 1<<20-1), '\n')
	for range shell.FileMax>>20 + 8 {
		_, _ = o.Write(line)
	}
	_, _ = o.Write([]byte("the end"))
	if held := o.Held(); held > 4<<20 {
		t.Errorf("%d bytes are held in memory", held)
	}
	text := o.End()
	if info, err := os.Stat(path); err != nil || info.Size() != shell.FileMax {
		t.Errorf("the file: %v, %v", info, err)
	}
	if !strings.HasSuffix(text, "the end") || !strings.Contains(text, "the first 67108864 bytes are in all.txt") {
		t.Errorf("%s", text[len(text)-300:])
	}
}

func TestOutputNoFile(t *testing.T) {
	o := shell.NewOutput(func() (*os.File, string, error) { return nil, "", errors.New("no room") })
	_, _ = o.Write(bytes.Repeat([]byte("x\n"), shell.ShownMax))
	if text := o.End(); !strings.Contains(text, "the rest was not kept: no room") {
		t.Errorf("%q", text[:30_000])
	}
}

func TestOutputFile(t *testing.T) {
	dir := t.TempDir()
	call := callIn(dir, "seq 1 50000")
	call.ID = "../../call:7"
	o := do(t, newTool(t), call)
	const name = ".parley/output/______call_7.txt"
	if o.State != tools.Completed || !strings.Contains(o.Text, "the whole is in "+name+",") || !strings.HasPrefix(o.Text, "1\n2\n") || !strings.Contains(o.Text, "\n50000\n[exit status 0") {
		t.Errorf("%s: %s … %s", o.State, o.Text[:20], o.Text[len(o.Text)-100:])
	}
	file, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || !strings.HasPrefix(string(file), "1\n2\n") || !strings.HasSuffix(string(file), "\n50000\n") || len(file) != 288894 {
		t.Errorf("%d bytes, %v", len(file), err)
	}
	if o := do(t, newTool(t), call); !strings.Contains(o.Text, "______call_7-2.txt") {
		t.Error("a second call of that id has no file of its own")
	}
	if ignore, err := os.ReadFile(dir + "/.parley/.gitignore"); err != nil || string(ignore) != "*\n" {
		t.Errorf(".gitignore: %q, %v", ignore, err)
	}
	for i := range shell.KeptFiles + 20 {
		if err := os.WriteFile(fmt.Sprintf("%s/.parley/output/old-%d.txt", dir, i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do(t, newTool(t), call)
	if left, err := os.ReadDir(dir + "/.parley/output"); err != nil || len(left) != shell.KeptFiles {
		t.Errorf("%d files, %v", len(left), err)
	}
}

// A command puts a link where parley is about to write.
func TestOutputLink(t *testing.T) {
	for _, c := range []string{"ln -s %s .parley", "mkdir .parley; ln -s %s .parley/output", "mkdir .parley; ln -s ../inside .parley/output; mkdir inside"} {
		dir, outside := t.TempDir(), t.TempDir()
		if strings.Contains(c, "%s") {
			c = fmt.Sprintf(c, outside)
		}
		o := do(t, newTool(t), callIn(dir, c+"; seq 1 50000"))
		if o.State != tools.Completed || !strings.Contains(o.Text, "the rest was not kept") {
			t.Errorf("%s: %s", c, o.State)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("%s: outside there is %v, %v", c, left, err)
		}
	}
}
