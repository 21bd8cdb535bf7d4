package fs

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
)

// errChanged means that a file is not what it was when its new content was
// worked out.
var errChanged = errors.New("it was changed by somebody else meanwhile: read it again and repeat the call")

// put gives the file at a place its new content, all of it or, on an error,
// none: was is what it held.
func put(p place, was present, data []byte) error {
	dir, name, err := p.parent(true)
	if err != nil {
		return err
	}
	defer dir.Close()
	temp := ".parley-" + rand.Text() + ".tmp"
	if err := create(dir, temp, was, data); err != nil {
		return errors.Join(err, remove(dir, temp))
	}
	if err := unchanged(dir, name, was); err != nil {
		return errors.Join(err, remove(dir, temp))
	}
	if err := dir.Rename(temp, name); err != nil {
		return errors.Join(err, remove(dir, temp))
	}
	return flush(dir)
}

// create writes a new file that has the mode and, where the system lets us,
// the owner of the old one.
func create(dir *os.Root, name string, was present, data []byte) error {
	mode := fs.FileMode(0o666) // as the umask has it
	if was.exists {
		mode = 0o600
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil && was.exists {
		own(f, was.info)
		err = f.Chmod(was.info.Mode().Perm()) // after own, which may drop bits
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// unchanged reports whether name is still the file that was read.
func unchanged(dir *os.Root, name string, was present) error {
	now, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !was.exists:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errChanged
	case err != nil:
		return err
	case !was.exists || !os.SameFile(now, was.info) || now.Size() != was.info.Size() || !now.ModTime().Equal(was.info.ModTime()):
		return errChanged
	default:
		return nil
	}
}

// remove takes away what is of no use after an error.
func remove(dir *os.Root, name string) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// flush makes a new name durable, where directories can be flushed.
func flush(dir *os.Root) error {
	f, err := dir.Open(here)
	if err != nil {
		return nil // the content is safe; only the name may be the old one after a power cut
	}
	_ = f.Sync() // likewise
	return f.Close()
}
