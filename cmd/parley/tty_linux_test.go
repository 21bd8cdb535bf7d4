package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/core/llm/llmtest"
)

// window is a run of the program on a terminal of its own, as somebody in front
// of it has it.
type window struct {
	t             *testing.T
	cmd           *exec.Cmd
	master, slave *os.File
	before        unix.Termios

	mu    sync.Mutex
	seen  bytes.Buffer
	more  sync.Cond
	ended bool
}

// onTerminal starts the program on a new terminal.
func (p parley) onTerminal(t *testing.T, args ...string) *window {
	t.Helper()
	w := &window{t: t, cmd: p.command(t.Context(), args...)}
	w.more.L = &w.mu
	w.open()
	w.before = w.termios()
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = w.slave, w.slave, w.slave
	w.cmd.Env = append(w.cmd.Env, "TERM=xterm")
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(w.watch)
	dog := time.AfterFunc(time.Minute, func() { w.over() })
	t.Cleanup(func() {
		dog.Stop()
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
		_ = w.slave.Close()
		_ = w.master.Close()
		reading.Wait()
	})
	return w
}

func (w *window) open() {
	w.t.Helper()
	var err error
	if w.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		missing(w.t, fmt.Errorf("no pseudo terminals here: %w", err))
	}
	conn, err := w.master.SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	ioErr := conn.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err = errors.Join(err, ioErr); err == nil {
		w.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		missing(w.t, fmt.Errorf("no pseudo terminals here: %w", err))
	}
}

func (w *window) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := w.master.Read(buf)
		w.mu.Lock()
		w.seen.Write(buf[:n])
		w.more.Broadcast()
		w.mu.Unlock()
		if err != nil {
			w.over()
			return
		}
	}
}

// over says that nothing more comes, or not in time: whoever waits gives up.
func (w *window) over() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.more.Broadcast()
}

// see waits for a text.
func (w *window) see(text string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !bytes.Contains(w.seen.Bytes(), []byte(text)) {
		if w.ended {
			w.t.Fatalf("never saw %q in\n%q", text, w.seen.String())
		}
		w.more.Wait()
	}
}

func (w *window) press(keys string) {
	w.t.Helper()
	if _, err := w.master.WriteString(keys); err != nil {
		w.t.Fatal(err)
	}
}

func (w *window) signal(s os.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *window) termios() unix.Termios {
	w.t.Helper()
	conn, err := w.slave.SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	var state *unix.Termios
	ioErr := conn.Control(func(fd uintptr) { state, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) })
	if err = errors.Join(err, ioErr); err != nil {
		w.t.Fatal(err)
	}
	return *state
}

// end waits for the program, and wants the terminal as it was.
func (w *window) end(code int) {
	w.t.Helper()
	_ = w.cmd.Wait()
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		w.t.Errorf("exit code %d, want %d:\n%q", got, code, w.seen.String())
	}
	if now := w.termios(); now != w.before {
		w.t.Errorf("the terminal is %+v, was %+v", now, w.before)
	}
}

// halting answers "half" with half an answer.
func halting(r llmtest.Request) llmtest.Script {
	if said(r)[0] == llmtest.Text("You said half") {
		return llmtest.Script{llmtest.Text("One half"), llmtest.Hang{}}
	}
	return said(r)
}

func TestRealChatOnATerminal(t *testing.T) {
	p := real(t, fakeModel(t, halting).URL())
	w := p.onTerminal(t) // without a command, too
	w.see("> ")
	w.press("hello\r")
	w.see("You said hello")
	w.press("\x04")
	w.end(0)
}

// However a chat is ended in the middle of an answer, the terminal is given
// back; a later chat takes the turn up.
func TestRealChatEndsInMidAnswer(t *testing.T) {
	for name, end := range map[string]func(*window){
		"Ctrl-D":  func(w *window) { w.press("\x04") },
		"SIGTERM": func(w *window) { w.signal(syscall.SIGTERM) },
		"SIGHUP":  func(w *window) { w.signal(syscall.SIGHUP) },
		"Ctrl-C":  func(w *window) { w.press("\x03"); w.see("Ctrl-C again leaves"); w.press("\x03") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := real(t, fakeModel(t, halting).URL())
			w := p.onTerminal(t, "chat")
			w.see("> ")
			w.press("half\r")
			w.see("One half")
			end(w)
			w.end(0)
		})
	}
}

// Closing the window stops the chat in order.
func TestRealWindowIsClosed(t *testing.T) {
	p := real(t, fakeModel(t, halting).URL())
	w := p.onTerminal(t, "chat")
	w.see("> ")
	w.press("half\r")
	w.see("One half")
	if err := errors.Join(w.slave.Close(), w.master.Close()); err != nil {
		t.Fatal(err)
	}
	_ = w.cmd.Wait()
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "data", "parley.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// Ctrl-D at a question of init is how a person leaves it.
func TestInitLeftAtAQuestion(t *testing.T) {
	for _, at := range []string{"Address of", "Name of"} { // a hidden answer takes Ctrl-C only
		p := real(t, "http://127.0.0.1:1/v1")
		w := p.onTerminal(t, "init", "--config", "new.yaml")
		for _, asked := range []string{"Address of", "API key", "Name of"} {
			w.see(asked)
			if asked == at {
				break
			}
			w.press("http://127.0.0.1:1/v1\n")
		}
		w.press("\x04")
		w.see("the questions were not answered to the end, and nothing was written; `parley init` asks them again")
		w.end(1)
		if _, err := os.Stat(filepath.Join(p.dir, "new.yaml")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a file was written: %v", at, err)
		}
	}
}
