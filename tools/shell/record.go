package shell

import (
	"context"
	"crypto/rand"
	"strings"
)

// Child is a process that parley started, as it is recorded.
type Child struct {
	ID      string // its marker, unguessable: RUN.CALL, where RUN names the run of parley
	PID     int
	Start   uint64 // when it began, in the kernel's ticks since the system did; 0 where that cannot be told
	Session string
	Call    string
}

// Recorder keeps what is running, so that [Sweep] can end it after a crash.
// Both methods may be called from several goroutines at once.
type Recorder interface {
	// Started is called before the command begins, which waits for it. The
	// child must be durable when it returns; an error cancels the call.
	Started(ctx context.Context, c Child) error
	// Ended is called when nothing of the child is left. An error is ignored:
	// the worst that follows is a look for a process that is not there.
	Ended(ctx context.Context, id string) error
}

// Report is one process that [Sweep] found.
type Report struct {
	ID      string // of the child that it belongs to, as far as that can be told
	PID     int
	Command string // its command line, cut
	Left    bool   // it could not be ended
}

// newRun names a run of parley.
func newRun() string { return rand.Text() }

// newID names a child.
func newID(run string) string { return run + "." + rand.Text() }

// runOf returns the run that an id belongs to, if it is one of ours.
func runOf(id string) (run string, ok bool) {
	run, call, _ := strings.Cut(id, ".")
	return run, len(run) >= minText && len(call) >= minText
}

// minText is the least length of what rand.Text returns.
const minText = 26
