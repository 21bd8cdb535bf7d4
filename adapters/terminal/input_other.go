//go:build !unix

package terminal

import (
	"context"
	"io"
	"os"
)

// interruptible can interrupt what can be closed, but no file: a Read of
// standard input outlives Run here.
func interruptible(ctx context.Context, r io.Reader) (reader io.Reader, release func(), sure bool) {
	if _, ok := r.(*os.File); ok {
		return r, func() {}, false
	}
	return closable(ctx, r)
}

// resizes never tells: there is no signal for it here.
func resizes() (changed <-chan os.Signal, stop func()) { return nil, func() {} }

// resumptions never tells either.
func resumptions() (resumed <-chan os.Signal, stop func()) { return nil, func() {} }
