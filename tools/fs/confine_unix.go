//go:build unix

package fs

import (
	"os/exec"
	"syscall"
)

// confine puts a child into a process group of its own and makes its end the
// end of the group.
func confine(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
