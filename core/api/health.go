package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"

	"parley/core/chat"
)

// listenOff is the http.listen that switches the server off.
const listenOff = "off"

// ListenHTTP opens http.listen; off gives nil. The error is a sentence that
// names the key.
func ListenHTTP(listen string) (net.Listener, error) {
	if listen == listenOff {
		return nil, nil
	}
	l, err := net.Listen("tcp", listen)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &Error{Says: fmt.Sprintf("http.listen: another program listens on %s", listen), Remedy: "stop it, or set another address or off"}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, &Error{Says: fmt.Sprintf("http.listen: this machine does not have the address of %s", listen), Remedy: "set one that it has, 127.0.0.1 for this machine alone, or off"}
	case errors.Is(err, fs.ErrPermission):
		return nil, &Error{Says: fmt.Sprintf("http.listen: this user may not listen on %s", listen), Remedy: "set a port above 1023, or off"}
	}
	var detail *net.OpError
	if errors.As(err, &detail) {
		err = detail.Err
	}
	return nil, &Error{Says: fmt.Sprintf("http.listen: parley cannot listen on %s (%v)", listen, err), Remedy: "set another address or off"}
}

// ServeHTTP serves h on l until ctx ends, lets what is under way finish for a
// moment, and closes l. It blocks; nil after a clean stop, and at once for a
// nil listener. errors gets a line for each thing that goes wrong in the server
// itself, if it is not nil.
func ServeHTTP(ctx context.Context, l net.Listener, h http.Handler, errors io.Writer) error {
	if l == nil {
		return nil
	}
	return serve(ctx, newServer(h, errors), l)
}

// Health returns the mux with /healthz, which says that the process lives, and
// /readyz, which says whether it can do its work: 200 with what ready reports,
// or 503 if anything of it fails. Others may add to the mux before it is
// served. ready is called for each request, must not block for long, and ends
// with its context; what it says goes through redact if that is not nil.
func Health(ready func(ctx context.Context) []chat.Finding, redact func(string) string) *http.ServeMux {
	h := Host{Redact: redact}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		findings := ready(r.Context())
		status := http.StatusOK
		for _, f := range findings {
			if f.Level == chat.Fail {
				status = http.StatusServiceUnavailable
			}
		}
		if findings == nil {
			findings = []chat.Finding{}
		}
		write(w, h, status, findings)
	})
	return mux
}
