package terminal_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"parley/adapters/terminal"
	"parley/core/chat"
)

// script is a program that talks to the adapter through pipes, in a bubble.
type script struct {
	t      *testing.T
	a      *terminal.Adapter
	in     *inbound
	stdin  *io.PipeWriter
	out    text
	errs   text
	cancel context.CancelFunc
	result chan error
	left   bool
}

// text is a writer to be looked at while it is written.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// piped runs a test with the adapter on a pipe. Every step of the test is
// taken when the adapter has nothing left to do.
func piped(t *testing.T, test func(t *testing.T, s *script)) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t, in: newInbound(), result: make(chan error, 1)}
		var stdin *io.PipeReader
		stdin, s.stdin = io.Pipe()
		s.a = terminal.New(terminal.Config{
			In: stdin, Out: &s.out, Errs: &s.errs, Commands: commands, OnLeave: func() { s.left = true },
		})
		ctx, cancel := context.WithCancel(t.Context())
		s.cancel = cancel
		go func() { s.result <- s.a.Run(ctx, s.in) }()
		test(t, s)
		cancel()
		synctest.Wait()
	})
}

func (s *script) write(lines string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, lines); err != nil {
		s.t.Fatalf("writing: %v", err)
	}
	synctest.Wait()
}

func (s *script) show(p chat.Post) chat.MessageID {
	s.t.Helper()
	m := show(s.t, s.a, p)
	synctest.Wait()
	return m
}

// answer answers the n-th event.
func (s *script) answer(id string, n int) {
	s.t.Helper()
	s.show(chat.Post{ID: id, Text: "answer " + id, Answers: []string{s.in.event(n).ID}})
}

func (s *script) edit(m chat.MessageID, now chat.Part) {
	s.t.Helper()
	if err := s.a.Edit(s.t.Context(), here, m, chat.Part{}, now); err != nil {
		s.t.Fatalf("Edit: %v", err)
	}
	synctest.Wait()
}

func (s *script) wantSaid(want ...string) {
	s.t.Helper()
	if got := s.in.said(); !slices.Equal(got, want) {
		s.t.Errorf("said %q, want %q", got, want)
	}
}

func (s *script) wantOut(want string) {
	s.t.Helper()
	if got := s.out.String(); got != want {
		s.t.Errorf("printed %q, want %q", got, want)
	}
}

func (s *script) wantRunning() {
	s.t.Helper()
	select {
	case err := <-s.result:
		s.t.Fatalf("Run returned %v too early", err)
	default:
	}
}

func (s *script) wantLeft() {
	s.t.Helper()
	synctest.Wait()
	select {
	case err := <-s.result:
		if err != nil || !s.left {
			s.t.Errorf("Run = %v, left %v; want nil, true", err, s.left)
		}
	default:
		s.t.Errorf("Run goes on")
	}
}

func TestPipeSendsOneAfterTheOther(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.write("one\n\n  \r\ntwo\r\nthree")
		s.wantSaid("one")
		draft(t, s.a, "a", "ans")
		s.answer("a", 0)
		s.wantSaid("one", "two")
		s.stdin.Close()
		s.answer("b", 1)
		s.wantSaid("one", "two", "three")
		s.wantRunning()
		s.answer("c", 2)
		s.wantLeft()
		s.wantOut("answer a\n\nanswer b\n\nanswer c\n\n")
	})
}

func TestPipeLeavesOnEmptyInput(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.stdin.Close()
		s.wantLeft()
	})
}

func TestPipeOnlyTheLastPartAnswers(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.write("one\ntwo\n")
		part := chat.Part{ID: "a#0", Post: "a", Text: "first half"}
		for range 2 {
			if _, err := s.a.Deliver(t.Context(), here, part); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			s.wantSaid("one")
		}
		part = chat.Part{ID: "a#1", Post: "a", Text: "rest", Last: true, Answers: []string{s.in.event(0).ID}}
		if _, err := s.a.Deliver(t.Context(), here, part); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.wantSaid("one", "two")
		s.wantOut("first half\n\nrest\n\n")
	})
}

func TestPipeUrgentCommandsOvertake(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.write("one\ntwo\n/status\n/stop now\n/stopped\n")
		s.wantSaid("one", "/stop now")
		s.answer("a", 0)
		s.wantSaid("one", "/stop now") // it has to be answered as well
		s.answer("b", 1)
		s.wantSaid("one", "/stop now", "two")
	})
}

func TestPipeAnswersAnAsk(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.write("one\nblue\nnext\n")
		s.wantSaid("one")
		m := s.show(chat.Post{ID: "c", Kind: chat.Card, Text: "Which colour?", Buttons: approval})
		s.wantSaid("one", "blue") // and not "next": blue may be the answer
		s.stdin.Close()
		synctest.Wait()
		s.wantRunning()
		s.edit(m, chat.Part{Text: "Answered: blue"})
		s.wantSaid("one", "blue")
		s.answer("a", 0)
		s.answer("b", 1)
		s.wantSaid("one", "blue", "next")
		s.answer("d", 2)
		s.wantLeft()
	})
}

func TestPipeNoticeLetsTheNextLinePass(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.write("one\ntwo\nthree\n")
		s.show(chat.Post{ID: "c", Kind: chat.Card, Text: "May I?", Buttons: approval})
		s.wantSaid("one", "two")
		s.show(chat.Post{ID: "n", Kind: chat.Notice, Text: "Waiting for k7f3."})
		s.wantSaid("one", "two", "three")
	})
}

func TestPipeLeavesAnOpenAsk(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.write("one\n")
		s.stdin.Close()
		synctest.Wait()
		s.wantRunning()
		s.show(chat.Post{ID: "c", Kind: chat.Card, Text: "May I?", Buttons: approval})
		s.wantLeft()
		s.wantOut("May I?\n1) Approve\n2) Reject\n\nStill open: k7f3 (/approve k7f3 once)\n\n")
	})
}

func TestPipePressesButtons(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.write("one\n")
		m := s.show(chat.Post{ID: "c", Kind: chat.Card, Text: "May I?", Buttons: approval})
		s.write("2\nnot now\n")
		s.wantSaid("one", "press /reject k7f3 not now on c#0")
		s.stdin.Close()
		synctest.Wait()
		s.wantRunning()
		s.edit(m, chat.Part{Text: "Rejected."})
		s.wantRunning()
		s.answer("a", 0)
		s.wantLeft()
		s.wantOut("May I?\n1) Approve\n2) Reject\n\nWhy?\n\nRejected.\n\nanswer a\n\n")
	})
}

func TestPipePressGoesPastWaitingLines(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.write("one\n")
		s.show(chat.Post{ID: "c", Kind: chat.Card, Text: "May I?", Buttons: approval})
		s.write("two\nthree\n1\n")
		s.wantSaid("one", "two", "press /approve k7f3 once on c#0")
	})
}

func TestPipeLongLine(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		longest := strings.Repeat("x", terminal.LongestLine)
		s.write("\n" + longest + "y\n" + longest + "\n")
		s.stdin.Close()
		if got, want := s.errs.String(), "Line 2 is longer than 1048576 bytes (1 MiB) and was left out.\n"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		s.wantSaid(longest)
		s.answer("a", 0)
		s.wantLeft()
	})
}

func TestPipeTriesAgainUntilStored(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		var ids []string
		s.in.accept = func(e chat.Event) error {
			if ids = append(ids, e.ID); len(ids) < 4 {
				return errors.New("disk full")
			}
			return nil
		}
		s.write("one\n")
		time.Sleep(time.Minute) // of the bubble: nobody waits
		s.wantSaid("one")
		if len(slices.Compact(ids)) != 1 || len(ids) != 4 {
			t.Errorf("ids %q, want one four times", ids)
		}
		if got := s.errs.String(); got != "Line 1 could not be stored (disk full); trying again.\n" {
			t.Errorf("told %q", got)
		}
	})
}

func TestPipeEndsWithItsContext(t *testing.T) {
	for _, state := range []string{"idle", "waiting", "storing"} {
		piped(t, func(t *testing.T, s *script) {
			if state == "storing" {
				s.in.accept = func(chat.Event) error { return errors.New("disk full") }
			}
			if state != "idle" {
				s.write("one\n")
			}
			s.cancel()
			if err := <-s.result; err != nil || s.left {
				t.Errorf("%s: Run = %v, left %v; want nil, false", state, err, s.left)
			}
		})
	}
}

func TestPipePrintsNoControls(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.show(chat.Post{ID: "a", Text: "\n**b** \x1b[2J\ttab\n ", Files: []chat.File{{Name: "x.png"}}})
		s.wantOut("**b** ␛[2J\ttab\n[file: x.png, size unknown]\n\n")
	})
}

func TestPipeReadError(t *testing.T) {
	piped(t, func(t *testing.T, s *script) {
		s.stdin.CloseWithError(errors.New("wire cut"))
		if err := <-s.result; !errors.Is(err, chat.ErrPermanent) || !strings.Contains(err.Error(), "wire cut") {
			t.Errorf("Run = %v", err)
		}
	})
}

// brokenPipe takes nothing.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// When nobody reads, the run ends: what was not shown is left for the next one.
func TestPipeWriteError(t *testing.T) {
	in := newInbound()
	stdin, write := io.Pipe()
	a := terminal.New(terminal.Config{In: stdin, Out: brokenPipe{}})
	result := make(chan error, 1)
	go func() { result <- a.Run(t.Context(), in) }()
	if _, err := io.WriteString(write, "one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	parts, err := a.Render(here, chat.Post{ID: "p1", Text: "answer", Answers: []string{in.event(0).ID}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Deliver(t.Context(), here, parts[0]); !errors.Is(err, syscall.EPIPE) || errors.Is(err, chat.ErrPermanent) {
		t.Errorf("Deliver = %v", err)
	}
	if err := <-result; !errors.Is(err, syscall.EPIPE) || !errors.Is(err, chat.ErrPermanent) {
		t.Errorf("Run = %v", err)
	}
	if got := in.said(); !slices.Equal(got, []string{"one"}) {
		t.Errorf("said %q", got)
	}
}

func TestIDsAreNewInEveryRun(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		piped(t, func(t *testing.T, s *script) {
			s.write("one\n/stop\n")
			for i := range 2 {
				if id := s.in.event(i).ID; seen[id] || !strings.HasPrefix(id, "terminal:") {
					t.Errorf("id %q again, or not ours", id)
				} else {
					seen[id] = true
				}
			}
		})
	}
}
