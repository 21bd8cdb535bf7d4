//go:build !linux

package api

import (
	"errors"
	"io/fs"
	"net"
)

var errUnknown = errors.New("this system does not tell who calls")

// peerOf refuses to guess. It is to be replaced where the system can tell.
func peerOf(*net.UnixConn) peer { return peer{err: errUnknown} }

func descendsFrom(int, int) (bool, error) { return false, errUnknown }

func ownerOf(fs.FileInfo) (uid int, known bool) { return 0, false }
