package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// What a kernel takes, about; more is refused before it is looked at.
const (
	maxPath  = 4096 // bytes of a path
	maxName  = 255  // bytes of one name in it
	maxLinks = 40   // links followed for one path
)

// Why a path leads nowhere. Resolve wraps them; who needs to tell them apart
// uses errors.Is, the model reads the sentence.
var (
	ErrLoop    = errors.New("too many links, they seem to go round in a circle")
	ErrNotDir  = errors.New("not a directory")
	ErrTooLong = errors.New("the path is too long")
)

// Resolve returns where a path leads: absolute, clean and without links. A
// relative path begins at dir, which must be absolute. As in the kernel, ".."
// goes up from where the links before it led, not from how they are spelt.
//
// What does not exist yet is kept as it is spelt, below the resolved directory
// it would be made in; a dangling link leads to what it points at. A path that
// goes on below a file, or back up from a directory that is missing, leads
// nowhere and is an error.
//
// The result is true for a moment only. Whoever opens it must do so without
// following links, and find the same file.
func Resolve(dir, path string) (string, error) {
	full := path
	if path != "" && !filepath.IsAbs(path) {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("resolving %q: the directory %q is not absolute", clip(path), clip(dir))
		}
		full = dir + string(filepath.Separator) + path // joining would drop ".." before links are known
	}
	at, err := resolve(full)
	if err != nil {
		return "", fmt.Errorf("resolving %q: %w", clip(path), err)
	}
	return at, nil
}

func resolve(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("the path is empty")
	case strings.ContainsRune(path, 0):
		return "", errors.New("the path contains a NUL character")
	case len(path) > maxPath:
		return "", fmt.Errorf("%w: %d bytes", ErrTooLong, len(path))
	}
	volume := filepath.VolumeName(path)
	w := walk{at: volume + string(filepath.Separator), rest: names(path[len(volume):])}
	for len(w.rest) > 0 {
		name := w.rest[0]
		w.rest = w.rest[1:]
		if err := w.step(name); err != nil {
			return "", err
		}
	}
	return w.at, nil
}

// walk is a path on its way to where it leads.
type walk struct {
	at      string // resolved so far
	rest    []string
	links   int
	file    bool // at is not a directory: nothing may follow
	missing bool // at does not exist
}

func (w *walk) step(name string) error {
	if w.file {
		return fmt.Errorf("%s is %w", w.name(), ErrNotDir)
	}
	switch {
	case name == "" || name == ".":
		return nil
	case name == ".." && w.missing:
		return fmt.Errorf("%s: %w, and \"..\" cannot lead back from it", w.name(), fs.ErrNotExist)
	case name == "..":
		w.at = filepath.Dir(w.at)
		return nil
	}
	next := filepath.Join(w.at, name)
	if len(name) > maxName || len(next) > maxPath {
		return fmt.Errorf("%w: %d bytes in one name, %d in all", ErrTooLong, len(name), len(next))
	}
	if w.missing {
		w.at = next
		return nil
	}
	return w.enter(next)
}

// name is the last name of where it is. Where that is would tell the model
// about directories that it may not know.
func (w *walk) name() string { return filepath.Base(w.at) }

// enter goes to next, which is a name in the directory at.
func (w *walk) enter(next string) error {
	info, err := os.Lstat(next)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.at, w.missing = next, true
		return nil
	case err != nil:
		return bare(next, err)
	case info.Mode()&fs.ModeSymlink == 0:
		w.at, w.file = next, !info.IsDir()
		return nil
	}
	if w.links++; w.links > maxLinks {
		return ErrLoop
	}
	to, err := os.Readlink(next)
	if err != nil {
		return bare(next, err)
	}
	if filepath.IsAbs(to) {
		volume := filepath.VolumeName(to)
		w.at, to = volume+string(filepath.Separator), to[len(volume):]
	}
	w.rest = append(names(to), w.rest...)
	return nil
}

// bare is what went wrong at a path, with no more of it than the last name.
func bare(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s: %w", filepath.Base(path), err)
}

// names cuts a path at its separators. An empty last name stands for a
// trailing one: it asks for a directory.
func names(path string) []string {
	return strings.Split(filepath.ToSlash(path), "/")
}

// clip shortens a path for a message.
func clip(path string) string {
	const most = 200
	if len(path) <= most {
		return path
	}
	return strings.ToValidUTF8(path[:most], "") + "…"
}

// Within reports whether a path is dir or lies below it, name by name. Both
// are absolute and resolved.
func Within(dir, path string) bool {
	_, ok := below(dir, path)
	return ok
}

// below returns the names that lead from dir to path.
func below(dir, path string) (rest string, ok bool) {
	if dir == path {
		return "", dir != ""
	}
	if dir == "" {
		return "", false
	}
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator)
	}
	return strings.CutPrefix(path, dir)
}

// Closed says why no tool may touch a resolved path, whatever the rules or a
// person allowed; "" if nothing speaks against it. It looks at names and, since
// a file system may know a directory by several (another case, a second
// mount), at what the directories above the path are.
func (r Reach) Closed(path string) string {
	for _, denied := range r.Denied {
		if enters(denied, path) {
			return "it lies in a directory that no tool may enter"
		}
	}
	if r.secret(path) {
		return "secrets/ is closed to every tool"
	}
	return ""
}

// enters reports whether path is dir or lies in it, by name or by identity.
func enters(dir, path string) bool {
	if at, err := Resolve("", dir); err == nil {
		dir = at
	}
	if Within(dir, path) {
		return true
	}
	closed, err := os.Stat(dir)
	if err != nil {
		return false // it is not there: nothing can be in it
	}
	for {
		if info, err := os.Lstat(path); err == nil && os.SameFile(info, closed) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}

// secret reports whether a path leads into a directory secrets. The names
// below the roots that hold the path count, and the name of a granted root
// itself; only the working directory may lie in a secrets of its own. In no
// root, every name counts.
func (r Reach) secret(path string) bool {
	rest, inside := below(r.Dir, path)
	if inside && secretName(rest) {
		return true
	}
	for _, granted := range [][]string{r.Reads, r.Writes} {
		for _, root := range granted {
			rest, ok := below(root, path)
			if ok && (secretName(rest) || secretName(filepath.Base(root))) {
				return true
			}
			inside = inside || ok
		}
	}
	return !inside && secretName(path)
}

// secretName reports whether one of the names of a path is secrets for some
// file system: case, marks that cannot be seen and trailing dots and spaces do
// not count on some.
func secretName(path string) bool {
	for _, name := range names(path) {
		name = strings.TrimRight(strings.Map(visible, name), ". ")
		if strings.EqualFold(name, "secrets") {
			return true
		}
	}
	return false
}

// visible drops what some file systems ignore in names.
func visible(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
		return -1
	}
	return r
}
