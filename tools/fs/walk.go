package fs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"parley/tools"
)

// entry is something in a directory.
type entry struct {
	name string
	rel  string // from where the walk began, with slashes
	info fs.FileInfo
	dir  *os.Root // what it lies in, open while it is visited
}

// shown is its name, with a slash if it is a directory.
func (e entry) shown() string {
	if e.info != nil && e.info.IsDir() {
		return e.name + "/"
	}
	return e.name
}

// skipped names directories that no tool goes down into by itself.
func skipped(name string) bool {
	return name == ".git" || tools.Reach{}.Closed(string(filepath.Separator)+name) != ""
}

// entriesOf lists what is in r by name. cut: it holds more than that.
func entriesOf(r *os.Root) (all []entry, cut bool, err error) {
	f, err := r.Open(here)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if cut = len(names) > maxEntries; cut {
		names = names[:maxEntries]
	}
	slices.Sort(names)
	for _, name := range names {
		if info, err := r.Lstat(name); err == nil { // else it is gone already
			all = append(all, entry{name: name, info: info, dir: r})
		}
	}
	return all, cut, nil
}

// errEnough ends a walk that has found what it was to find, errFar one that
// goes on for too long.
var (
	errEnough = errors.New("enough")
	errFar    = errors.New("there are more files than one call looks at")
)

// walker goes through a directory and what lies below, in order of names,
// without following links and without entering what is closed.
type walker struct {
	reach tools.Reach
	depth int // how deep to go: 1 is the directory itself
	visit func(entry) error

	seen   int
	closed []string // directories that were not entered
	cut    []string // directories of which not all was read
	failed []string // directories that could not be read
}

// walk visits what is below the place. A directory is visited before what is
// in it.
func (w *walker) walk(ctx context.Context, p place) error {
	r, err := p.directory()
	if err != nil {
		return err
	}
	defer r.Close()
	err = w.down(ctx, r, p.path, "", w.depth)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// down visits what is in r, which lies at the path at, and what is below. A
// directory that cannot be read is noted and does not end the walk.
func (w *walker) down(ctx context.Context, r *os.Root, at, rel string, depth int) error {
	entries, cut, err := entriesOf(r)
	if err != nil {
		if rel == "" {
			return err
		}
		w.failed = append(w.failed, rel)
		return nil
	}
	if cut {
		w.cut = append(w.cut, path.Join(rel, here))
	}
	for _, e := range entries {
		if w.seen++; w.seen > maxSeen {
			return errFar
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e.rel = path.Join(rel, e.name)
		if err := w.visit(e); err != nil {
			return err
		}
		if e.info.IsDir() && depth > 1 {
			if err := w.enter(ctx, r, e, at, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter goes down into a directory, unless it is closed.
func (w *walker) enter(ctx context.Context, r *os.Root, e entry, at string, depth int) error {
	below := filepath.Join(at, e.name)
	if skipped(e.name) || w.reach.Closed(below) != "" || madeUp(below) {
		w.closed = append(w.closed, e.rel)
		return nil
	}
	next, err := step(r, e.name)
	if err != nil {
		w.failed = append(w.failed, e.rel)
		return nil
	}
	defer next.Close()
	return w.down(ctx, next, below, e.rel, depth-1)
}

// notes says what the walk left out.
func (w *walker) notes() []string {
	var all []string
	for _, left := range []struct {
		what string
		dirs []string
	}{
		{"not entered: ", w.closed},
		{"could not be read: ", w.failed},
		{"too many names, not all of them were read: ", w.cut},
	} {
		if len(left.dirs) > 0 {
			all = append(all, left.what+some(left.dirs))
		}
	}
	return all
}

// some lists a few of many.
func some(all []string) string {
	const few = 5
	var text []string
	for _, s := range all[:min(few, len(all))] {
		text = append(text, clean(s))
	}
	if more := len(all) - few; more > 0 {
		return strings.Join(text, ", ") + " and " + count(more, "more other")
	}
	return strings.Join(text, ", ")
}
