package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"parley/tools"
)

// errMoved means that something on the way is no longer what it was a moment
// ago. Nothing was opened; the model may try again.
var errMoved = errors.New("it changed while it was being opened; try again")

// here names the directory that a root stands for. Ending a name with it
// makes the kernel refuse, rather than open, what is not a directory.
const here = "."

// directory opens the place as a directory.
func (p place) directory() (*os.Root, error) {
	return p.descend(p.names, false)
}

// parent opens the directory that the place lies in; with create, it and what
// is missing above it is made.
func (p place) parent(create bool) (dir *os.Root, name string, err error) {
	if len(p.names) == 0 || asksDirectory(p.arg) {
		return nil, "", fmt.Errorf("%s is a directory", shown(p.arg))
	}
	last := len(p.names) - 1
	dir, err = p.descend(p.names[:last], create)
	return dir, p.names[last], err
}

// descend opens base and goes down from it by names.
func (p place) descend(names []string, create bool) (*os.Root, error) {
	r, err := openBase(p.base)
	if err != nil {
		return nil, err
	}
	return descend(r, names, create)
}

// openBase opens a resolved directory. It goes down from the top by names, so
// that none of them can be a link by now.
func openBase(path string) (*os.Root, error) {
	top := filepath.VolumeName(path) + string(filepath.Separator)
	r, err := os.OpenRoot(top)
	if err == nil {
		r, err = descend(r, between(top, path), false)
	}
	if errors.Is(err, fs.ErrPermission) {
		return openUnder(path)
	}
	return r, err
}

// openUnder opens a resolved directory that has one above it which may be
// passed but not read, and so cannot be opened. That the path is still without
// links is checked afterwards, which somebody who is quick and may write above
// that directory could outwit; where a call may write, it may also read.
func openUnder(path string) (*os.Root, error) {
	r, err := os.OpenRoot(filepath.Join(path) + string(filepath.Separator) + here)
	if err != nil {
		return nil, err
	}
	again, err := tools.Resolve("", path)
	if err == nil && again == path {
		var was, now fs.FileInfo
		was, err = os.Lstat(path)
		if err == nil {
			now, err = r.Stat(here)
		}
		if err == nil && os.SameFile(was, now) {
			return r, nil
		}
	}
	r.Close()
	return nil, errors.Join(errMoved, err)
}

// descend goes down from r by names and closes what it leaves behind.
func descend(r *os.Root, names []string, create bool) (*os.Root, error) {
	for _, name := range names {
		next, err := step(r, name)
		if create && errors.Is(err, fs.ErrNotExist) {
			if err = r.Mkdir(name, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				next, err = step(r, name)
			}
		}
		r.Close()
		if err != nil {
			return nil, err
		}
		r = next
	}
	return r, nil
}

// step opens the directory name in r, which must be one itself: what is opened
// is what was seen there, whoever puts a link in its place meanwhile.
func step(r *os.Root, name string) (*os.Root, error) {
	was, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if was.Mode()&fs.ModeSymlink != 0 {
		return nil, errMoved // the path was resolved: it held no link
	}
	if !was.IsDir() {
		return nil, fmt.Errorf("%s is %w", clean(name), tools.ErrNotDir)
	}
	next, err := r.OpenRoot(name + string(filepath.Separator) + here)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat(here); err != nil || !os.SameFile(was, now) {
		next.Close()
		return nil, errMoved
	}
	return next, nil
}

// openFile opens the regular file name in r for reading. It neither follows a
// link nor waits for the far end of a pipe.
func openFile(r *os.Root, name string) (*os.File, fs.FileInfo, error) {
	was, err := r.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(name, was.Mode()); err != nil {
		return nil, nil, err
	}
	f, err := r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(was, now) {
		err = errMoved
	}
	if err == nil && generated(f) {
		err = fmt.Errorf("%s: what the system makes up as it is read is closed to every tool", clean(name))
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, now, nil
}

// regular says in words why something is not a file with content.
func regular(name string, mode fs.FileMode) error {
	kind := ""
	switch mode.Type() {
	case 0:
		return nil
	case fs.ModeDir:
		return fmt.Errorf("%s is a directory; %s shows what is in it", clean(name), tools.ListFiles)
	case fs.ModeSymlink:
		return errMoved
	case fs.ModeNamedPipe:
		kind = "a pipe"
	case fs.ModeSocket:
		kind = "a socket"
	default:
		kind = "a device"
	}
	return fmt.Errorf("%s is %s, not a file with content", clean(name), kind)
}
