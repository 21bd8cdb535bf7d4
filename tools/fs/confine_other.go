//go:build !unix

package fs

import "os/exec"

// confine leaves a child as it is: its end is asked for by its handle.
func confine(*exec.Cmd) {}
