package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// absent is the state of a file that does not exist.
const absent = "absent"

// present is what a file holds at the moment.
type present struct {
	exists bool
	info   fs.FileInfo
	state  string // names the content, for [tools.Reach].State
	data   []byte // nil if it is larger than what is edited
	kind   string // what it is if not text
}

// load reads the file at a place.
func load(ctx context.Context, p place) (present, error) {
	dir, name, err := p.parent(false)
	if errors.Is(err, fs.ErrNotExist) {
		return present{state: absent}, nil
	}
	if err != nil {
		return present{}, err
	}
	defer dir.Close()
	f, info, err := openFile(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return present{state: absent}, nil
	}
	if err != nil {
		return present{}, err
	}
	defer f.Close()
	return read(ctx, f, info)
}

// read takes in what a file holds, if it is of a size that can be edited. The
// state of a larger one is its size and date, since hashing it could take
// minutes, twice.
func read(ctx context.Context, f *os.File, info fs.FileInfo) (present, error) {
	p := present{exists: true, info: info}
	if info.Size() > maxEdit {
		p.state = fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
		return p, nil
	}
	data, err := io.ReadAll(io.LimitReader(attentive{ctx, f}, maxEdit+1))
	if err != nil {
		return p, err
	}
	if len(data) > maxEdit {
		return p, errChanged // it grew
	}
	sum := sha256.Sum256(data)
	p.data, p.state = data, hex.EncodeToString(sum[:])
	p.kind = binary(data[:min(len(data), headBytes)])
	return p, nil
}

// attentive is a reader that stops when its context ends.
type attentive struct {
	ctx context.Context
	r   io.Reader
}

// Read implements [io.Reader].
func (a attentive) Read(p []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, err
	}
	return a.r.Read(p)
}

// editable says why the content cannot be edited as text.
func (p present) editable(arg string) error {
	switch {
	case p.data == nil:
		return fmt.Errorf("%s is too large to edit: %s, %s at most", shown(arg), amount(p.info.Size()), amount(maxEdit))
	case p.kind != "":
		return notText(arg, p.kind, p.info.Size())
	default:
		return nil
	}
}

// writable says why the file may not get other content.
func (p present) writable(arg string) error {
	if p.exists && p.info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("%s is marked read-only (mode %04o)", shown(arg), p.info.Mode().Perm())
	}
	return nil
}
