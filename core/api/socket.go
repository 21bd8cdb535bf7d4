package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Socket is parley's side of the socket, listening. The caller runs Serve and
// closes it.
type Socket struct {
	path     string
	link     string // in data_dir, to a path elsewhere; "" for none
	listener *net.UnixListener
}

// Refusal is a caller that was turned away.
type Refusal struct {
	PID int
	UID int
	Why string // one sentence
}

// Listen opens the socket of a data_dir, which must exist and should be locked
// already: the lock, not the socket, decides which parley is the one. A socket
// that a dead process left is replaced, a living one left alone: then the
// error says that another parley serves there.
func Listen(dataDir string) (*Socket, error) {
	path, err := SocketPath(dataDir)
	if err != nil {
		return nil, err
	}
	s := &Socket{path: path}
	own := filepath.Join(dataDir, socketName)
	if full, err := realPath(dataDir); err == nil {
		own = filepath.Join(full, socketName)
	}
	if path != own {
		if err := makePrivate(filepath.Dir(path)); err != nil {
			return nil, err
		}
		s.link = own
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Socket) listen() error {
	if err := clear(s.path); err != nil {
		return err
	}
	var err error
	s.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: s.path, Net: "unix"})
	if err != nil {
		return unlistenable(s.path, err)
	}
	if err := os.Chmod(s.path, 0o600); err != nil {
		_ = s.listener.Close()
		return fmt.Errorf("closing %q to others: %w", s.path, err)
	}
	if s.link == "" {
		return nil
	}
	_ = os.Remove(s.link)
	if err := os.Symlink(s.path, s.link); err != nil {
		_ = s.listener.Close()
		return fmt.Errorf("linking the socket into data_dir: %w", err)
	}
	return nil
}

// unlistenable says why there can be no socket at a path.
func unlistenable(path string, err error) error {
	e := &Error{
		Says:   fmt.Sprintf("the socket %q cannot be made (%v)", path, rootCause(err)),
		Remedy: "set another data_dir",
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		e.Remedy = "run parley as the user that its folder belongs to, or hand that over with chown"
	case errors.Is(err, syscall.ENOSPC):
		e.Remedy = "make room on its disk"
	}
	return e
}

// rootCause is what the kernel said, without what was being done.
func rootCause(err error) error {
	var cause syscall.Errno
	if errors.As(err, &cause) {
		return cause
	}
	return err
}

// clear removes a socket that nobody listens on.
func clear(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking at %q: %w", path, err)
	}
	if link := info.Mode()&fs.ModeSymlink != 0; !link {
		if info.Mode()&fs.ModeSocket == 0 {
			return &Error{Says: fmt.Sprintf("%q is in the way of parley's socket", path), Remedy: "move it away"}
		}
		if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
			_ = conn.Close()
			return &Error{Says: fmt.Sprintf("another parley serves on %q", path), Remedy: "stop it, or use another data_dir"}
		}
	}
	if err := os.Remove(path); err != nil {
		return &Error{
			Says:   fmt.Sprintf("the socket %q that an ended parley left cannot be removed (%v)", path, rootCause(err)),
			Remedy: "run parley as the user that its folder belongs to, or hand that over with chown",
		}
	}
	return nil
}

// Path returns where the socket is.
func (s *Socket) Path() string { return s.path }

// Close ends Serve and removes the socket. Twice is fine.
func (s *Socket) Close() error {
	if s.link != "" {
		_ = os.Remove(s.link)
	}
	if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing %q: %w", s.path, err)
	}
	return nil
}

// Serve answers with the host until ctx ends, lets what is under way finish for
// a moment, and closes the socket. It blocks; nil after a clean stop. refused,
// if not nil, is told of every request that was turned away; it is called from
// several goroutines and should not block.
func (s *Socket) Serve(ctx context.Context, h Host, refused func(Refusal)) error {
	defer func() { _ = s.Close() }()
	server := newServer(onlyOwners(Handler(h), h, refused), h.Errors)
	server.WriteTimeout = DoctorTimeout + helloTimeout
	server.ConnContext = withPeer
	return serve(ctx, server, s.listener)
}

// newServer bounds what a caller may do.
func newServer(h http.Handler, errors io.Writer) *http.Server {
	if errors == nil {
		errors = io.Discard
	}
	return &http.Server{
		Handler:           h,
		ErrorLog:          log.New(errors, "", 0),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
}

// lastWords is how long requests may go on when parley stops.
const lastWords = 2 * time.Second

// serve runs a server until ctx ends.
func serve(ctx context.Context, server *http.Server, l net.Listener) error {
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		_ = server.Close()
	}
	<-done
	return nil
}
