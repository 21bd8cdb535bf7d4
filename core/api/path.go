package api

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// socketName is the socket's name in data_dir.
const socketName = "parley.sock"

// maxPath is how long the path of a socket may be, so that it fits into the
// kernel's address with its closing zero on every system (sockaddr_un of
// unix(7): 108 bytes; elsewhere 104).
const maxPath = 103

// SocketPath returns where the socket of a data_dir is: in it, or, where that
// path is too long for a socket, under a short name in the runtime folder
// ($XDG_RUNTIME_DIR, else the temporary folder). Then data_dir holds a link to
// it, so that it is found from another environment as well.
func SocketPath(dataDir string) (string, error) {
	full, err := realPath(dataDir)
	if err != nil {
		return "", err
	}
	if path := filepath.Join(full, socketName); len(path) <= maxPath {
		return path, nil
	}
	hash := sha256.Sum256([]byte(full))
	name := hex.EncodeToString(hash[:8]) + ".sock"
	path := filepath.Join(runtimeDir(), name)
	if len(path) > maxPath {
		path = filepath.Join("/tmp", userDir(), name)
	}
	return path, nil
}

// realPath is the absolute path with its links resolved, so that both sides
// come to the same hash; of a folder that does not exist, the absolute path.
func realPath(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding data_dir %q: %w", dir, err)
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		return real, nil
	}
	return full, nil
}

// runtimeDir is the folder for short-named sockets, of this user alone.
func runtimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "parley")
	}
	return filepath.Join(os.TempDir(), userDir())
}

func userDir() string { return "parley-" + strconv.Itoa(os.Getuid()) }

// find returns the path to connect to. Outside of data_dir the folder must be
// this user's own, or somebody else could answer in parley's place.
func find(dataDir string) (string, error) {
	path, err := SocketPath(dataDir)
	if err != nil {
		return "", err
	}
	full, err := realPath(dataDir)
	if err != nil {
		return "", err
	}
	own := filepath.Join(full, socketName)
	if path == own {
		return path, nil
	}
	if target, err := os.Readlink(own); err == nil {
		path = target
	}
	if err := checkPrivate(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return path, nil
}

// makePrivate makes a folder for this user alone, or makes sure that it is.
func makePrivate(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("making the folder of the socket: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the folder of the socket: %w", err)
	}
	return checkPrivate(dir)
}

// checkPrivate refuses a folder that others may enter or own: in a temporary
// folder anybody may have made it before. Root may use the folders of others.
func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("looking at the folder of the socket: %w", err)
	}
	uid, known := ownerOf(info)
	mine := known && (uid == os.Getuid() || os.Getuid() == 0)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !mine {
		return &Error{
			Says:   fmt.Sprintf("%q, where the socket of parley would be, is not a folder of this user alone", dir),
			Remedy: "remove it, set XDG_RUNTIME_DIR, or give data_dir a shorter path",
		}
	}
	return nil
}
