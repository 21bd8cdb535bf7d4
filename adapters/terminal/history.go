package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// historyLines is how many lines the history keeps.
	historyLines = 1000
	// longestHistory is how long a line may be to be kept.
	longestHistory = 8 << 10
)

// history is what was sent from here, oldest first, and where in it somebody
// leafs. With a path it is kept in a file that only its owner can read, one
// line each, with line breaks escaped. It is not safe for concurrent use.
type history struct {
	path  string
	lines []string
	at    int    // len(lines): not leafing
	draft string // what was being typed when leafing began
}

// openHistory reads the file at path, if there is one, and shortens it. The
// history can be used whatever the error.
func openHistory(path string) (*history, error) {
	h := &history{path: path}
	if path == "" {
		return h, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		h.path = ""
		return h, fmt.Errorf("reading history: %w", err)
	}
	for l := range strings.Lines(string(data)) {
		if l = unescape(strings.TrimSuffix(l, "\n")); l != "" {
			h.lines = append(h.lines, typed(l))
		}
	}
	long := len(h.lines) > historyLines
	if long {
		h.lines = h.lines[len(h.lines)-historyLines:]
	}
	h.at = len(h.lines)
	if long {
		err = h.rewrite()
	}
	return h, err
}

// rewrite replaces the file, so that a crash leaves the old or the new one.
func (h *history) rewrite() error {
	var b strings.Builder
	for _, l := range h.lines {
		b.WriteString(escape(l) + "\n")
	}
	f, err := os.CreateTemp(filepath.Dir(h.path), ".history-*") // mode 0600
	if err != nil {
		return fmt.Errorf("shortening history: %w", err)
	}
	_, err = f.WriteString(b.String())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("shortening history: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// add keeps a line, unless it begins with a space, is the same as the last or
// is too long to be worth it, and ends leafing.
func (h *history) add(l string) error {
	keep := l != "" && l[0] != ' ' && len(l) <= longestHistory &&
		(len(h.lines) == 0 || h.lines[len(h.lines)-1] != l)
	if keep {
		h.lines = append(h.lines, l)
		h.lines = h.lines[max(0, len(h.lines)-historyLines):]
	}
	h.at, h.draft = len(h.lines), ""
	if !keep || h.path == "" {
		return nil
	}
	return h.store(l)
}

func (h *history) store(l string) error {
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keeping history: %w", err)
	}
	_, err = f.WriteString(escape(l) + "\n")
	if err = errors.Join(err, f.Chmod(0o600), f.Close()); err != nil {
		return fmt.Errorf("keeping history: %w", err)
	}
	return nil
}

// older returns the line before the one shown; now is what is being typed.
func (h *history) older(now string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.lines) {
		h.draft = now
	}
	h.at--
	return h.lines[h.at], true
}

// newer returns the line after the one shown, and in the end what was being
// typed.
func (h *history) newer() (string, bool) {
	if h.at == len(h.lines) {
		return "", false
	}
	h.at++
	if h.at == len(h.lines) {
		return h.draft, true
	}
	return h.lines[h.at], true
}

func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s)
}

func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(s)
}
