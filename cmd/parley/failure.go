package main

import (
	"errors"
	"fmt"
	"io"

	"parley/cmd/parley/config"
)

// The exit codes.
const (
	exitDone  = 0
	exitFail  = 1
	exitUsage = 2
)

// failure is what a command ends with that people can do something about.
type failure struct {
	says   string // what is wrong
	remedy string // what to do
}

// Error joins the two into one sentence.
func (f *failure) Error() string { return f.says + "; " + f.remedy }

// errShown ends a command that has told everything already.
var errShown = errors.New("failed")

// usage is a mistake in the command line.
type usage struct{ err error }

// Error is what is wrong with the command line.
func (u usage) Error() string { return u.err.Error() }

// report tells an error on w and returns the exit code. Problems of the
// configuration stand alone on their lines, so that an editor can jump to them.
func report(w io.Writer, err error) int {
	var wrong *config.Error
	var bad usage
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errShown):
	case errors.As(err, &bad):
		_, _ = fmt.Fprintf(w, "parley: %s; `parley --help` lists what there is\n", visible(bad.Error()))
		return exitUsage
	case errors.As(err, &wrong):
		_, _ = fmt.Fprintln(w, visible(wrong.Error()))
	default:
		_, _ = fmt.Fprintf(w, "parley: %s\n", visible(err.Error()))
	}
	return exitFail
}
