package fs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"parley/tools"
)

// sentence makes an error something that the model can act on. What the system
// says names paths as they stand on this machine, which tells it nothing.
func sentence(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{
		{context.DeadlineExceeded, "it took too long"},
		{context.Canceled, "stopped"},
		{syscall.ENOSPC, "the disk is full"},
		{syscall.EROFS, "the file system can only be read"},
		{syscall.EMFILE, "too many files are open at the moment; try again"},
		{fs.ErrPermission, "the system permits parley no such access to it"},
	} {
		if !errors.Is(err, known.err) {
			continue
		}
		var at *fs.PathError
		if errors.As(err, &at) && err != error(at) {
			return strings.Replace(err.Error(), at.Error(), known.text, 1)
		}
		return known.text
	}
	return err.Error()
}

// clean makes text from outside one line that shows all of itself.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, odd) < 0 {
		return text
	}
	return strconv.Quote(text)
}

// odd characters cannot be seen, or make text read as something else.
func odd(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// line makes a line of a file fit for a model: valid, without NUL, and at most
// most bytes long. rest is how many bytes of it were not kept already.
func line(text []byte, most, rest int) string {
	if len(text) > most {
		keep := most
		for keep > 0 && !utf8.RuneStart(text[keep]) {
			keep--
		}
		rest += len(text) - keep
		text = text[:keep]
	}
	s := strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")
	if rest > 0 {
		s += fmt.Sprintf("… (%d more bytes in this line)", rest)
	}
	return s
}

// binary says what a file is if it is not text, by how it begins; "" for text.
func binary(head []byte) string {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if strings.HasPrefix(string(head), mark) {
			return "text in UTF-16"
		}
	}
	if !strings.Contains(string(head), "\x00") {
		return ""
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if kind == "application/octet-stream" || strings.HasPrefix(kind, "text/") {
		return "binary data"
	}
	return kind
}

// notText is the refusal of a binary file.
func notText(arg, kind string, size int64) error {
	return fmt.Errorf("%s holds no text that could be shown: %s, %s", shown(arg), kind, amount(size))
}

// amount writes a number of bytes for people.
func amount(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1000*1000*1000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// missing makes of an error that something does not exist one that says what,
// and what there is of a similar name.
func (p place) missing(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r, err := openBase(p.base)
	if err != nil {
		return fmt.Errorf("%s: the working directory does not exist", shown(p.arg))
	}
	for i, name := range p.names {
		next, err := step(r, name)
		if err == nil {
			r.Close()
			r = next
			continue
		}
		defer r.Close()
		what := "file"
		if i < len(p.names)-1 {
			what = "directory"
		}
		text := fmt.Sprintf("%s: no such %s", shown(p.arg), what)
		if i < len(p.names)-1 {
			text += " as " + clean(name)
		}
		if like := similar(r, name); len(like) > 0 {
			text += "; similar names: " + strings.Join(like, ", ")
		}
		return errors.New(text)
	}
	r.Close()
	return errMoved
}

// similar lists up to three names in r that somebody may have meant.
func similar(r *os.Root, name string) []string {
	entries, _, err := entriesOf(r)
	if err != nil {
		return nil
	}
	var like []string
	for _, e := range entries {
		if len(like) < 3 && near(e.name, name) && !skipped(e.name) {
			like = append(like, clean(e.shown()))
		}
	}
	return like
}

// near reports whether two names differ by case, an ending or a slip of the
// fingers.
func near(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	stem := func(s string) string { s, _, _ = strings.Cut(s, "."); return s }
	if s := stem(b); s != "" && s == stem(a) {
		return true
	}
	if len(a) > 64 || len(b) > 64 {
		return false
	}
	return tools.Distance(a, b) <= max(1, len(b)/4)
}
