package terminal_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/adapters/terminal"
	"parley/core/chat"
)

// window is a person's side of a pseudo terminal, with the adapter running on
// the other one.
type window struct {
	t      *testing.T
	a      *terminal.Adapter
	in     *inbound
	master *os.File
	slave  *os.File
	before unix.Termios
	cancel context.CancelFunc
	result chan error
	left   bool

	mu    sync.Mutex
	vt    *vt
	drawn sync.Cond
	clock time.Time
	stuck bool
}

// openWindow starts the adapter on a new pseudo terminal and waits for its
// prompt.
func openWindow(t *testing.T, width, height int, change func(*terminal.Config, *inbound)) *window {
	t.Helper()
	w := &window{t: t, in: newInbound(), vt: newVT(width, height), result: make(chan error, 1)}
	w.drawn.L = &w.mu
	w.clock = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.master, w.slave = openPTY(t)
	w.size(width, height)
	w.before = w.termios()
	c := terminal.Config{In: w.slave, Out: w.slave, Commands: commands, Now: w.now, OnLeave: func() { w.left = true }}
	if change != nil {
		change(&c, w.in)
	}
	w.a = terminal.New(c)
	var threads sync.WaitGroup
	threads.Go(w.watch)
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	threads.Go(func() { w.result <- w.a.Run(ctx, w.in) })
	dog := time.AfterFunc(30*time.Second, w.bark)
	t.Cleanup(func() {
		dog.Stop()
		cancel()
		w.slave.Close()
		w.master.Close()
		threads.Wait()
	})
	w.see(">")
	return w
}

func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		missing(t, fmt.Errorf("no pseudo terminals here: %w", err))
	}
	conn, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var name string
	conn.Control(func(fd uintptr) {
		err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		n, _ := unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		name = fmt.Sprintf("/dev/pts/%d", n)
	})
	if err != nil {
		t.Fatalf("unlocking pseudo terminal: %v", err)
	}
	slave, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		missing(t, fmt.Errorf("no pseudo terminals here: %w", err))
	}
	return master, slave
}

// bark ends a test that waits for what never comes.
func (w *window) bark() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stuck = true
	w.drawn.Broadcast()
}

func (w *window) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *window) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

// watch is the screen: it draws whatever the adapter writes.
func (w *window) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := w.master.Read(buf)
		w.mu.Lock()
		w.vt.Write(buf[:n])
		w.drawn.Broadcast()
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (w *window) control(f func(fd int) error) {
	w.t.Helper()
	conn, err := w.slave.SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	if e := conn.Control(func(fd uintptr) { err = f(int(fd)) }); e != nil || err != nil {
		w.t.Fatalf("controlling pseudo terminal: %v, %v", e, err)
	}
}

func (w *window) size(width, height int) {
	w.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)})
	})
}

func (w *window) resize(width, height int) {
	w.mu.Lock()
	w.vt.resize(width, height)
	w.mu.Unlock()
	w.size(width, height)
	syscall.Kill(os.Getpid(), syscall.SIGWINCH) // the terminal isn't ours, so nobody else tells us
}

func (w *window) termios() (state unix.Termios) {
	w.control(func(fd int) error {
		s, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			state = *s
		}
		return err
	})
	return state
}

func (w *window) press(keys string) {
	w.t.Helper()
	if _, err := w.master.WriteString(keys); err != nil {
		w.t.Fatalf("pressing %q: %v", keys, err)
	}
}

// until waits for the screen to be as wanted.
func (w *window) until(what string, ok func(v *vt) bool) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !ok(w.vt) {
		if w.stuck {
			w.t.Fatalf("never saw %s; the screen:\n%s", what, w.vt.all())
		}
		w.drawn.Wait()
	}
}

func (w *window) see(text string) {
	w.t.Helper()
	w.until(text, func(v *vt) bool { return strings.Contains(v.screen(), text) })
}

func (w *window) dontSee(text string) {
	w.t.Helper()
	w.until("the end of "+text, func(v *vt) bool { return !strings.Contains(v.screen(), text) })
}

// end waits for Run, and checks that the terminal is as it was.
func (w *window) end() error {
	w.t.Helper()
	err := <-w.result
	w.slave.WriteString("\r\n$")
	w.see("$")
	if now := w.termios(); !reflect.DeepEqual(now, w.before) {
		w.t.Errorf("the terminal's state is %+v, was %+v", now, w.before)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.vt.pasting || !w.vt.wrap {
		w.t.Errorf("bracketed paste %v, wrapping %v; want them as they were", w.vt.pasting, w.vt.wrap)
	}
	return err
}

// transcript ends the run and returns all that was ever shown.
func (w *window) transcript() string {
	w.t.Helper()
	w.cancel()
	if err := w.end(); err != nil {
		w.t.Errorf("Run: %v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.vt.bad) > 0 {
		w.t.Errorf("the terminal got %q", w.vt.bad)
	}
	text, _, _ := strings.Cut(w.vt.all(), "$")
	return strings.TrimRight(text, "\n")
}

func (w *window) wantTranscript(want string) {
	w.t.Helper()
	if got := w.transcript(); got != strings.TrimSpace(want) {
		w.t.Errorf("shown:\n%s\n\nwant:\n%s", got, strings.TrimSpace(want))
	}
}

func (w *window) edit(m chat.MessageID, was, now chat.Part) {
	w.t.Helper()
	if err := w.a.Edit(w.t.Context(), here, m, was, now); err != nil {
		w.t.Fatalf("Edit: %v", err)
	}
}
