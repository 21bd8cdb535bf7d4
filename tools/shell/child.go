package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// child is a command that was started, together with what looks after it.
type child struct {
	Child
	cmd   *exec.Cmd // the keeper; without one, a shell that becomes the command
	kept  bool
	gate  *os.File      // what it waits for before the command begins
	out   *os.File      // what is printed
	ended chan word     // gets one word: how the command ended
	gone  chan struct{} // closed when the process that was started has been waited for
	first chan int      // gets the command's pid, or is closed
}

// keeperTime is how long a keeper gets to end what it keeps before parley does
// that itself. It is more than the keeper needs.
const keeperTime = linger + grace + killTime + time.Second

// start starts what will become the command once it is released.
func start(p plan) (*child, error) {
	c := &child{ended: make(chan word, 1), gone: make(chan struct{}), first: make(chan int, 1)}
	var files [6]*os.File // three pipes: gate, words, output
	for i := 0; i < len(files); i += 2 {
		var err error
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			closeAll(files[:]...)
			return nil, fmt.Errorf("making a pipe: %w", err)
		}
	}
	c.gate, c.out = files[1], files[4]
	c.become(p)
	c.cmd.Stdout, c.cmd.Stderr = files[5], files[5]
	c.cmd.ExtraFiles = []*os.File{files[0], files[3]}
	if err := c.cmd.Start(); err != nil {
		closeAll(files[:]...)
		return nil, fmt.Errorf("starting the command: %w", err)
	}
	closeAll(files[0], files[3], files[5])
	c.PID, c.Start = c.cmd.Process.Pid, ticks(c.cmd.Process.Pid)
	go c.listen(files[2])
	return c, nil
}

// become decides what is started: a keeper, or a shell that waits for a line
// and then becomes the command.
func (c *child) become(p plan) {
	program, kept := launcher()
	c.kept = kept
	if c.kept {
		c.cmd = &exec.Cmd{Path: program, Args: []string{keeperName, launchWord}}
	} else {
		wait := `read -r go <&3 || exit 1; exec 3<&- 4>&-; exec "$0" "$@"`
		c.cmd = &exec.Cmd{Path: "/bin/sh", Args: append([]string{"sh", "-c", wait}, p.argv...), Dir: p.dir}
	}
	c.cmd.Env = p.env
	c.cmd.SysProcAttr = attributes(p.restrict != nil && len(p.restrict.Mask) > 0)
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // nil, or nothing to lose
	}
}

// release lets the command begin.
func (c *child) release(p plan) error {
	line := []byte("go\n")
	if c.kept {
		text, err := json.Marshal(spec{Argv: p.argv, Dir: p.dir, Restrict: p.restrict})
		if err != nil {
			return fmt.Errorf("encoding the command: %w", err)
		}
		line = append(text, '\n')
	} else {
		c.first <- c.PID
	}
	if _, err := c.gate.Write(line); err != nil {
		return fmt.Errorf("releasing the command: %w", err)
	}
	return nil
}

// listen hears how the command ends and waits for the process that was
// started.
func (c *child) listen(words *os.File) {
	defer close(c.gone)
	read := json.NewDecoder(words)
	for told := false; ; {
		var w word
		if read.Decode(&w) != nil {
			break // the keeper has ended, or there is none
		}
		if w.PID > 0 {
			c.first <- w.PID
		}
		if (w.Ended || w.Error != "") && !told {
			told = true
			c.ended <- w
		}
	}
	_ = words.Close()
	_ = c.cmd.Wait() // how it ended is in its state
	if !c.kept {
		c.ended <- exited(c.cmd.ProcessState)
		return
	}
	select {
	case c.ended <- word{Error: "the process that kept it was killed"}:
	default: // it said how
	}
}

// exited says how a process ended.
func exited(state *os.ProcessState) word {
	w := word{Ended: true, Code: max(0, state.ExitCode())}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		w.Signal = int(status.Signal())
	}
	return w
}

// end ends what is left of the command, and returns how much of it it could
// not end. A command that ended by itself may leave things that need a moment.
func (c *child) end(byItself bool) (left int) {
	if !c.kept {
		return c.endTree()
	}
	late := time.NewTimer(keeperTime)
	defer late.Stop()
	if !byItself {
		_ = c.gate.Close() // the keeper ends all
	}
	select {
	case <-c.gone:
	case <-late.C:
	}
	_ = c.gate.Close()
	if c.cleanly() {
		return 0
	}
	return c.endTree()
}

// cleanly reports whether the keeper ended since nothing was left.
func (c *child) cleanly() bool {
	select {
	case <-c.gone:
		return c.cmd.ProcessState.ExitCode() == 0
	default:
		return false
	}
}

// drain copies what is printed until nobody can print any more.
func (c *child) drain(to io.Writer) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := io.Copy(to, c.out)
		if err != nil && !errors.Is(err, os.ErrClosed) {
			fmt.Fprintf(to, "\n[reading what it prints: %v]\n", err)
		}
	}()
	return done
}
