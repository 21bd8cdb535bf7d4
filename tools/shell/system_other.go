//go:build !linux

package shell

import (
	"context"
	"syscall"
	"time"
)

// How long processes get: see tree_linux.go.
const (
	linger   = 100 * time.Millisecond
	grace    = 400 * time.Millisecond
	killTime = 3 * time.Second
)

const noSandbox = "this system has none that parley knows"

func adopt() {}

// Launcher reports false: there are keepers on Linux only.
func Launcher([]string) (handled bool) { return false }

func launcher() (program string, ok bool) { return "", false }

func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// ticks is to be written where the system can tell.
func ticks(int) uint64 { return 0 }

// endTree ends the command's process group. What left it stays.
func (c *child) endTree() (left int) {
	alive := func() bool { return syscall.Kill(-c.PID, 0) == nil }
	for _, step := range []struct {
		sig  syscall.Signal
		time time.Duration
	}{{syscall.SIGTERM, grace}, {syscall.SIGKILL, killTime}} {
		_ = syscall.Kill(-c.PID, step.sig) // gone is fine
		for deadline := time.Now().Add(step.time); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if !alive() {
				return 0
			}
		}
	}
	return 1
}

// Detect reports that there is no sandbox.
func Detect() Status { return Status{NoBwrap: noSandbox, NoLandlock: noSandbox} }

// Sweep cannot tell whose a process is on this system, and ends nothing.
func Sweep(context.Context, []Child) []Report { return nil }

// Shield does nothing on this system.
func Shield() error { return nil }
