//go:build unix

package fs

import (
	"io/fs"
	"os"
	"syscall"
)

// own gives f the owner and group of an older file, as far as the system lets
// us: root may give files away, others only choose among their groups.
func own(f *os.File, old fs.FileInfo) {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if f.Chown(int(was.Uid), int(was.Gid)) != nil {
		_ = f.Chown(-1, int(was.Gid)) // it stays ours, and who wrote it owns it
	}
}
