package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
)

// peer is the process at the other end, as the kernel tells it.
type peer struct {
	pid, uid int
	err      error // it cannot be told
}

type peerKey struct{}

// withPeer notes with a connection who opened it.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	p := peer{err: fmt.Errorf("%T is no unix socket", c)}
	if u, ok := c.(*net.UnixConn); ok {
		p = peerOf(u)
	}
	return context.WithValue(ctx, peerKey{}, p)
}

// onlyOwners lets pass the user that parley runs as, and root, unless the
// process descends from parley.
func onlyOwners(next http.Handler, h Host, refused func(Refusal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := r.Context().Value(peerKey{}).(peer)
		if !ok {
			p.err = fmt.Errorf("the connection has no peer")
		}
		why, remedy := judge(p)
		if why == "" {
			next.ServeHTTP(w, r)
			return
		}
		if refused != nil {
			refused(Refusal{PID: p.pid, UID: p.uid, Why: why})
		}
		writeError(w, h, &Error{Status: http.StatusForbidden, Says: why, Remedy: remedy})
	})
}

// judge says why a peer is refused, "" for one that may ask. It runs with each
// request, since a process can change parents.
func judge(p peer) (why, remedy string) {
	if p.err != nil {
		return "parley cannot tell who is asking, so it answers nothing", "use the chat commands instead"
	}
	if p.uid != os.Getuid() && p.uid != 0 {
		return "only the user that parley runs as may ask it", "run this command as that user"
	}
	descends, err := descendsFrom(p.pid, os.Getpid())
	if err != nil {
		return "parley cannot tell where the process that asks comes from, so it answers nothing", "run this command from a shell of your own"
	}
	if descends {
		return "this command was started by parley itself, and the agent must not decide on its own requests", "run it from a shell of your own"
	}
	return "", ""
}
