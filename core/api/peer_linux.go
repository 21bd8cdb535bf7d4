package api

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel who opened a connection.
func peerOf(c *net.UnixConn) peer {
	raw, err := c.SyscallConn()
	if err != nil {
		return peer{err: err}
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, credErr); err != nil {
		return peer{err: err}
	}
	if cred.Pid <= 0 { // a process of another pid namespace
		return peer{uid: int(cred.Uid), err: errors.New("the kernel names no process")}
	}
	return peer{pid: int(cred.Pid), uid: int(cred.Uid)}
}

// maxChain is more generations than any process tree has.
const maxChain = 4096

// errGone says that a process ended while its ancestors were looked up.
var errGone = errors.New("the process is gone")

// descendsFrom reports whether process pid is a child of ancestor, a child of
// such a child, and so on. It reads /proc. An error means that it cannot be
// told.
func descendsFrom(pid, ancestor int) (bool, error) {
	const tries = 3 // an ancestor that ends hands its children on
	var err error
	for range tries {
		var yes bool
		yes, err = walk(pid, ancestor)
		if !errors.Is(err, errGone) {
			return yes, err
		}
	}
	return false, err
}

func walk(pid, ancestor int) (bool, error) {
	for range maxChain {
		parent, err := parentOf(pid)
		switch {
		case errors.Is(err, errGone) && unix.Kill(pid, 0) == unix.EPERM:
			// Hidden from us by hidepid, so of another user: none of ours.
			return false, nil
		case err != nil:
			return false, err
		case parent == ancestor && pid != ancestor:
			return true, nil
		case parent <= 1:
			return false, nil
		}
		pid = parent
	}
	return false, fmt.Errorf("process %d has more than %d ancestors", pid, maxChain)
}

// parentOf reads the parent from /proc/PID/stat, whose second field, the name
// in brackets, may hold anything.
func parentOf(pid int) (int, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return 0, errGone
	}
	if err != nil {
		return 0, fmt.Errorf("reading the parent of process %d: %w", pid, err)
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, fmt.Errorf("reading the parent of process %d: too few fields", pid)
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0, fmt.Errorf("reading the parent of process %d: %w", pid, err)
	}
	return parent, nil
}

// ownerOf returns whose file it is.
func ownerOf(info fs.FileInfo) (uid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
