//go:build unix

package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// interruptible returns a reader whose Read ends with ctx. Files are polled
// together with a pipe of ours: deadlines work on few of them, and making a
// terminal non-blocking would do so for every process that shares it.
func interruptible(ctx context.Context, r io.Reader) (reader io.Reader, release func(), sure bool) {
	f, ok := r.(*os.File)
	if !ok {
		return closable(ctx, r)
	}
	woken, wake, err := os.Pipe()
	if err != nil {
		return r, func() {}, false
	}
	calledOff := whenOver(ctx, func() { wake.Close() })
	release = func() {
		calledOff()
		wake.Close() // twice is an error nobody minds
		woken.Close()
	}
	return &pollReader{file: f, woken: int(woken.Fd())}, release, true
}

// pollReader reads a file once it is readable, and ends when woken is.
type pollReader struct {
	file  *os.File
	woken int
}

func (p *pollReader) Read(b []byte) (int, error) {
	conn, err := p.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	ready := false
	var failed error
	err = conn.Control(func(fd uintptr) { ready, failed = poll(int(fd), p.woken) })
	if err = errors.Join(err, failed); err != nil {
		return 0, fmt.Errorf("waiting for input: %w", err)
	}
	if !ready {
		return 0, io.EOF
	}
	n, err := p.file.Read(b)
	if errors.Is(err, unix.EIO) { // the terminal was closed
		err = io.EOF
	}
	return n, err
}

// poll waits until fd can be read; false means that woken ended it.
func poll(fd, woken int) (bool, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(woken), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return false, err
		}
		return fds[1].Revents == 0, nil
	}
}

// resizes tells when the window changed its size, until stop is called.
func resizes() (changed <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGWINCH)
	return c, func() { signal.Stop(c) }
}

// resumptions tells when the process goes on after it was stopped, until stop
// is called.
func resumptions() (resumed <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGCONT)
	return c, func() { signal.Stop(c) }
}
