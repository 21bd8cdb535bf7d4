package terminal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/adapters/terminal"
	"parley/core/chat"
)

func TestDraftBecomesTheFinalText(t *testing.T) {
	w := openWindow(t, 30, 12, nil)
	w.press("hello\r")
	w.in.event(0)
	text := "# Tides\n\nThe sea **rises** twice a day, mostly.\n\n- one\n- two"
	for i := range len(text) {
		draft(t, w.a, "p1", text[:i])
	}
	w.see("• tw")
	show(t, w.a, chat.Post{ID: "p1", Text: text + "\n"})
	draft(t, w.a, "p1", text[:9]) // late
	show(t, w.a, chat.Post{ID: "p1", Text: text})
	w.wantTranscript(`
> hello

Tides

The sea rises twice a day,
mostly.

• one
• two
`)
}

func TestGreeting(t *testing.T) {
	w := openWindow(t, 40, 12, func(c *terminal.Config, _ *inbound) { c.Greeting = "Well met." })
	w.press("hello\r")
	w.in.event(0)
	w.wantTranscript("Well met.\n\n> hello\n")
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d.\n", i)
	}
	return b.String()
}

func TestDraftLongerThanTheWindow(t *testing.T) {
	w := openWindow(t, 40, 8, nil)
	text := numbered(50)
	for i := 0; i < len(text); i += 5 {
		draft(t, w.a, "p1", text[:i])
	}
	show(t, w.a, chat.Post{ID: "p1", Text: text})
	w.wantTranscript(text)
}

func TestFinalTextDiffersFromWhatScrolledAway(t *testing.T) {
	w := openWindow(t, 60, 8, nil)
	draft(t, w.a, "p1", numbered(20))
	w.see("line 19.")
	show(t, w.a, chat.Post{ID: "p1", Text: strings.Replace(numbered(20), "line 3.", "line three.", 1)})
	got := w.transcript()
	_, after, found := strings.Cut(got, "(the text above has changed; from here on it reads:)\n")
	want := "line three.\n" + strings.SplitAfterN(numbered(20), "line 3.\n", 2)[1]
	if !found || after != strings.TrimSpace(want) {
		t.Errorf("shown:\n%s\nwant after the note:\n%s", got, want)
	}
}

func TestFinalTextDiffersOnTheScreen(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	draft(t, w.a, "p1", "one\ntwo\nthree and much more")
	w.see("much more")
	show(t, w.a, chat.Post{ID: "p1", Text: "one\n2"})
	w.wantTranscript("one\n2")
}

func TestDraftTakenBack(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	draft(t, w.a, "p1", "not meant to be")
	w.see("not meant")
	draft(t, w.a, "p1", "")
	w.dontSee("not meant")
	show(t, w.a, chat.Post{ID: "p2", Text: "fine"})
	w.wantTranscript("fine")
}

func TestTypingWhileItStreams(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	draft(t, w.a, "p1", "The answer")
	w.press("half")
	w.see("> half")
	draft(t, w.a, "p1", "The answer is long\nand has lines")
	w.see("has lines\n\n> half")
	w.press(" a line\r")
	if got := w.in.event(0).Body.(chat.Said).Text; got != "half a line" {
		t.Errorf("said %q", got)
	}
	show(t, w.a, chat.Post{ID: "p1", Text: "The answer is long\nand has lines."})
	w.wantTranscript("The answer is long\nand has lines.\n\n> half a line")
}

func TestEventsSayWhoAndWhere(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	w.press("hi\r")
	e := w.in.event(0)
	said := e.Body.(chat.Said)
	if e.Key != here || e.From.ID != "terminal:local" || !e.At.Equal(w.now()) {
		t.Errorf("event %+v", e)
	}
	if !said.Addressed || !said.Private || said.Message == "" {
		t.Errorf("said %+v", said)
	}
	w.transcript()
}

func TestSecondInterruptLeaves(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	w.press("\x03")
	show(t, w.a, chat.Post{ID: "p1", Kind: chat.Notice, Text: "Nothing is running.", Answers: []string{w.in.event(0).ID}})
	w.see("Ctrl-C again leaves")
	w.press("\x03")
	if err := w.end(); err != nil || !w.left {
		t.Errorf("Run = %v, left %v", err, w.left)
	}
	if got := w.in.said(); !slices.Equal(got, []string{"/stop"}) {
		t.Errorf("said %q", got)
	}
}

func TestInterruptsThatDoNotLeave(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	w.press("\x03x")
	w.see("> x")
	w.press("\x03")
	w.in.event(1)
	w.pass(3 * time.Second)
	w.dontSee("again leaves")
	w.press("\x03")
	w.in.event(2)
	show(t, w.a, chat.Post{ID: "c", Kind: chat.Card, Text: "Really?", Buttons: approval})
	w.press("\x03")
	w.in.event(3)
	w.transcript()
	if got := w.in.said(); !slices.Equal(got, []string{"/stop", "/stop", "/stop", "/stop"}) || w.left {
		t.Errorf("said %q, left %v", got, w.left)
	}
}

func TestEndOfFileLeavesOnAnEmptyLine(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	w.press("ab\x01\x04")
	w.see("> b")
	w.press("\x04\x04")
	if err := w.end(); err != nil || !w.left {
		t.Errorf("Run = %v, left %v", err, w.left)
	}
}

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	keep := func(c *terminal.Config, _ *inbound) { c.HistoryFile = file }
	w := openWindow(t, 40, 10, keep)
	w.press("first\r second secret\r\x1b[200~two\nlines\\n\x1b[201~\r")
	w.in.event(2)
	w.transcript()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("history file: %v, %v", info, err)
	}
	w = openWindow(t, 40, 10, keep)
	w.press("now\x1b[A")
	w.see("> two\n  lines\\n")
	w.press("\x1b[A\x1b[A\x1b[A")
	w.see("> first")
	w.press("\x1b[B\x1b[B\x1b[B\x1b[B")
	w.see("> now")
	w.transcript()
}

func TestPasteIsOneMessage(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	w.press("look: \x1b[200~a\rb\x1b[31m\r\nc\x1b[201~")
	w.see("> look: a\n  b[31m\n  c")
	w.press(" end\r")
	if got := w.in.event(0).Body.(chat.Said).Text; got != "look: a\nb[31m\nc end" {
		t.Errorf("said %q", got)
	}
	w.wantTranscript("> look: a\n  b[31m\n  c end")
}

func TestEditing(t *testing.T) {
	tests := map[string]struct{ keys, want string }{
		"wide":      {"日本語\x7f\x1b[D\x7fx", "x本"},
		"marks":     {"ae\u0301\x7fb", "ab"},
		"family":    {"a👨\u200d👩\u200d👧\x7fb", "ab"},
		"lone mark": {"a\x1b\r\u0301b", "a\n\u0301b"},
		"words":     {"one two three\x17\x1bb\x1b[3~Y", "one Ywo "},
		"kill":      {"one two\x01\x1bf\x0b\x01\x19-", "two-one"},
		"line":      {"gone\x15kept", "kept"},
		"newline":   {"a\x1b\rb\x1b[Ac", "ac\nb"},
		"home, end": {"b\x1b[Ha\x1b[Fc\x1bOHx", "xabc"},
		"unknown":   {"a\x1b[99;99z\x1b[Ib\x1bqc", "abc"},
		"tab":       {"/s\ta\t", "/status"},
		"complete":  {"/n\tx", "/new x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := openWindow(t, 40, 10, nil)
			w.press(tt.keys + "\r")
			if got, want := w.in.event(0).Body.(chat.Said).Text, strings.TrimSpace(tt.want); got != want {
				t.Errorf("said %q, want %q", got, want)
			}
			w.transcript()
		})
	}
}

func TestButtonsAreNumbers(t *testing.T) {
	w := openWindow(t, 50, 24, nil)
	card := chat.Post{ID: "c1", Kind: chat.Card, Text: "Run it?", Buttons: approval}
	m := show(t, w.a, card)
	w.see("Run it?\n\n1) Approve\n2) Reject")
	w.press("1\r")
	w.in.event(0)
	w.press("2\r")
	w.see("Why?")
	w.press("too risky\r")
	w.in.event(1)
	w.edit(m, chat.Part{Text: "Run it?", Buttons: approval}, chat.Part{Text: "Rejected by you."})
	w.edit(m, chat.Part{Text: "Run it?", Buttons: approval}, chat.Part{Text: "Rejected by you."})
	w.press("1\r")
	w.in.event(2)
	show(t, w.a, chat.Post{ID: "c2", Kind: chat.Card, Text: "And this?", Buttons: approval})
	w.see("4) Reject")
	w.press("2\r")
	w.see("2 is no button any more; the newest: 3 to 4")
	w.press("\x15" + "3\r")
	w.in.event(3)
	got := w.in.said()
	want := []string{"press /approve k7f3 once on c1#0", "press /reject k7f3 too risky on c1#0", "1", "press /approve k7f3 once on c2#0"}
	if !slices.Equal(got, want) {
		t.Errorf("said %q, want %q", got, want)
	}
	w.wantTranscript(`
Run it?

1) Approve
2) Reject

> 1) Approve

> 2) Reject: too risky

Rejected by you.

> 1

And this?

3) Approve
4) Reject

> 3) Approve
`)
}

func TestPromptCanBeLeft(t *testing.T) {
	w := openWindow(t, 50, 12, nil)
	show(t, w.a, chat.Post{ID: "c1", Kind: chat.Card, Text: "Run it?", Buttons: approval})
	for _, back := range []string{"\r", "\x03", "\x04"} {
		w.press("2\r")
		w.see("? ")
		w.see("Why?")
		w.press(back)
		w.dontSee("Why?")
	}
	w.transcript()
	if got := w.in.said(); len(got) > 0 {
		t.Errorf("said %q", got)
	}
}

func TestHostileText(t *testing.T) {
	w := openWindow(t, 80, 14, nil)
	evil := "a\x1b]0;owned\x07b\x1b[2Jc\u009b31md\re\bf\x00g\x7fh\u202ei\xffj\x1b"
	draft(t, w.a, "p1", evil)
	show(t, w.a, chat.Post{ID: "p1", Text: evil})
	show(t, w.a, chat.Post{
		ID: "p2", Kind: chat.Card, Text: "x", Files: []chat.File{{Name: "e\x1b[Avil\n.txt", Size: 1234}},
		Buttons: [][]chat.Button{{{Label: "ok\x1b[A\nno", Line: "/x"}}},
	})
	w.wantTranscript(`
a␛]0;owned␇b␛[2Jc<U+009B>31md␍e␈f␀g␡h<U+202E>i�j␛

x

[file: e␛[Avil .txt, 1.2 kB]

1) ok␛[A no
`)
}

func TestNarrowWindow(t *testing.T) {
	w := openWindow(t, 12, 8, nil)
	text := "日本語のテキスト is fine\n\n- a list item wraps\n\n```\ncode that is long\n```"
	for i := range len(text) {
		draft(t, w.a, "p1", text[:i])
	}
	w.press("0123456789abcdef")
	w.see("> 0123456789\n  abcdef")
	show(t, w.a, chat.Post{ID: "p1", Text: text})
	w.press("\r")
	w.in.event(0)
	w.wantTranscript(`
日本語のテキ
スト is fine

• a list
  item wraps

  code that
  is long

> 0123456789
  abcdef
`)
}

func TestTinyWindow(t *testing.T) {
	w := openWindow(t, 3, 2, nil)
	draft(t, w.a, "p1", numbered(5))
	w.press("abcdef")
	show(t, w.a, chat.Post{ID: "p1", Text: "日本 ok"})
	w.press("\r")
	w.in.event(0)
	w.transcript()
}

func TestResizeKeepsTheLine(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	draft(t, w.a, "p1", "some words that are going to be wrapped")
	w.press("typed so far")
	w.see("> typed so far")
	w.resize(20, 10)
	w.see("going to be wrapped\n\n> typed so far")
	w.resize(60, 12)
	w.see("some words that are going to be wrapped\n\n> typed so far")
	w.transcript()
}

func TestRefusedLineIsKept(t *testing.T) {
	full := errors.New("disk full")
	var ids []string
	w := openWindow(t, 60, 12, func(_ *terminal.Config, in *inbound) {
		in.accept = func(e chat.Event) error {
			ids = append(ids, e.ID)
			if len(ids) == 1 {
				return full
			}
			return nil
		}
	})
	w.press("keep me\r")
	w.see("Not sent, since it could not be stored (disk full).")
	w.see("> keep me")
	w.press("\r")
	w.in.event(0)
	w.transcript()
	if len(ids) != 2 || ids[0] != ids[1] {
		t.Errorf("ids %q, want the same twice", ids)
	}
}

func TestPanicRestoresTheTerminal(t *testing.T) {
	w := openWindow(t, 60, 12, func(_ *terminal.Config, in *inbound) {
		in.accept = func(chat.Event) error { panic("boom") }
	})
	w.press("x\r")
	if err := w.end(); !errors.Is(err, chat.ErrPermanent) || !strings.Contains(err.Error(), "boom") {
		t.Errorf("Run = %v, want the panic, permanent", err)
	}
}

func TestWorkingIndicator(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	typing := func() {
		if err := w.a.Signal(t.Context(), here, chat.Typing{}); err != nil {
			t.Fatal(err)
		}
	}
	typing()
	w.see("working")
	draft(t, w.a, "p1", "text")
	w.dontSee("working")
	show(t, w.a, chat.Post{ID: "p1", Text: "text"})
	typing()
	w.see("working")
	w.pass(time.Minute)
	w.dontSee("working")
	w.transcript()
}

// A turn that ends without an answer has ended: nothing is at work. A command's
// reply says nothing about the turn beside it.
func TestWorkingEndsWithTheTurn(t *testing.T) {
	w := openWindow(t, 40, 12, nil)
	if err := w.a.Signal(t.Context(), here, chat.Typing{}); err != nil {
		t.Fatal(err)
	}
	w.press("hello\r/status\r")
	hello, status := w.in.event(0), w.in.event(1)
	show(t, w.a, chat.Post{ID: "n1", Kind: chat.Notice, Text: "All is well.", Answers: []string{status.ID}})
	w.see("All is well.")
	w.see("working")
	show(t, w.a, chat.Post{ID: "n2", Kind: chat.Notice, Text: "The model is gone.", Answers: []string{hello.ID}})
	w.see("gone.")
	w.dontSee("working")
	w.transcript()
}

// While the process was stopped, a shell had the terminal: its settings hold,
// and its words stand where the prompt was.
func TestStoppedAndContinued(t *testing.T) {
	w := openWindow(t, 40, 12, nil)
	raw := w.termios()
	w.press("half")
	w.see("> half")
	w.control(func(fd int) error { return unix.IoctlSetTermios(fd, unix.TCSETS, &w.before) })
	if _, err := w.slave.WriteString("\x1b[?2004l\r\n[1]+ Stopped\r\nsh> fg\r\n"); err != nil {
		t.Fatal(err)
	}
	w.see("sh> fg")
	if err := syscall.Kill(os.Getpid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.until("a prompt that takes pastes", func(v *vt) bool { return v.pasting && strings.HasSuffix(v.screen(), "sh> fg\n> half") })
	if now := w.termios(); now != raw {
		t.Errorf("the terminal's state is %+v, want %+v", now, raw)
	}
	w.press(" a line\r")
	if got := w.in.event(0).Body.(chat.Said).Text; got != "half a line" {
		t.Errorf("said %q", got)
	}
	w.wantTranscript("> half\n[1]+ Stopped\nsh> fg\n> half a line")
}

func TestNoticesDoNotBreakADraft(t *testing.T) {
	w := openWindow(t, 40, 9, nil)
	text := numbered(12)
	draft(t, w.a, "p1", text[:40])
	show(t, w.a, chat.Post{ID: "n", Kind: chat.Notice, Text: "by the way"})
	for i := 40; i < len(text); i += 3 {
		draft(t, w.a, "p1", text[:i])
	}
	show(t, w.a, chat.Post{ID: "p1", Text: text})
	w.wantTranscript(text + "\nby the way")
}

func TestColours(t *testing.T) {
	for _, none := range []bool{false, true} {
		w := openWindow(t, 40, 10, func(c *terminal.Config, _ *inbound) { c.NoColor = none })
		show(t, w.a, chat.Post{ID: "p1", Text: "**bold** and `code`"})
		w.wantTranscript("bold and code")
		if w.vt.styled == none {
			t.Errorf("NoColor %v, attributes %v", none, w.vt.styled)
		}
	}
}

func TestShownBeforeAndAfterTheRun(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	w.cancel()
	if err := w.end(); err != nil || w.left {
		t.Errorf("Run = %v, left %v", err, w.left)
	}
	show(t, w.a, chat.Post{ID: "p1", Text: "late news"})
	draft(t, w.a, "p2", "nobody looks")
	w.see("late news")
}

func TestHangupLeaves(t *testing.T) {
	w := openWindow(t, 40, 10, nil)
	w.master.Close()
	if err := <-w.result; err != nil || !w.left {
		t.Errorf("Run = %v, left %v", err, w.left)
	}
}
