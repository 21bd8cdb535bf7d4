package fs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"parley/tools"
)

const (
	linesUnset = 2_000    // lines that are shown if no range is given
	maxCounted = 64 << 20 // bytes: up to there, the lines of a file are counted to the end
)

// readArgs are the arguments of read_file.
type readArgs struct {
	Path  string `json:"path"`
	First whole  `json:"start_line"`
	Last  whole  `json:"end_line"`
}

func readFile() tools.Tool {
	return tool[readArgs]{
		spec: spec(tools.ReadFile, tools.ReadOnly, `
			"path": {"type": "string", "description": "the file"},
			"start_line": {"type": "integer", "description": "the first line to show, 1 if left out; -50 begins 50 lines before the end"},
			"end_line": {"type": "integer", "minimum": 1, "description": "the last line to show"}`,
			"path"),
		path:  func(a readArgs) string { return a.Path },
		label: func(a readArgs) string { return "read " + a.Path + a.span() },
		do:    func(ctx context.Context, call tools.Call, a readArgs) (string, error) { return a.read(ctx, call.Reach) },
	}
}

// span is the range of the call, for its label.
func (a readArgs) span() string {
	switch {
	case a.First < 0:
		return fmt.Sprintf(", last %s", count(-int(a.First), "line"))
	case a.Last > 0:
		return " " + lines(max(1, int(a.First)), int(a.Last))
	case a.First > 1:
		return fmt.Sprintf(" from line %d", a.First)
	default:
		return ""
	}
}

// read shows a range of lines. The file is streamed, so that the head of a log
// of many gigabytes costs no more than that of a note.
func (a readArgs) read(ctx context.Context, r tools.Reach) (string, error) {
	p, err := find(r, a.Path, reading)
	if err != nil {
		return "", err
	}
	f, info, err := p.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	in := bufio.NewReaderSize(attentive{ctx, f}, 64<<10)
	head, err := in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if kind := binary(head); kind != "" {
		return "", notText(a.Path, kind, info.Size())
	}
	first, last, err := a.rows(ctx, f, in)
	if err != nil {
		return "", err
	}
	v := view{first: first, last: last}
	if err := v.read(in, info.Size() <= maxCounted); err != nil {
		return "", err
	}
	return v.result(a.Path)
}

// open opens the file at a place, and says what else there is if there is none.
func (p place) open() (*os.File, fs.FileInfo, error) {
	dir, name, err := p.parent(false)
	if err != nil {
		return nil, nil, p.missing(err)
	}
	defer dir.Close()
	f, info, err := openFile(dir, name)
	if err != nil {
		return nil, nil, p.missing(err)
	}
	return f, info, nil
}

// rows turns the range that was asked for into lines counted from the top. To
// count from the end it reads the file once.
func (a readArgs) rows(ctx context.Context, f io.ReadSeeker, in *bufio.Reader) (first, last int, err error) {
	first, last = int(a.First), int(a.Last)
	if first < 0 {
		total, err := countLines(in)
		if err != nil {
			return 0, 0, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return 0, 0, err
		}
		in.Reset(attentive{ctx, f})
		first = total + first + 1
	}
	first = max(first, 1)
	if last == 0 {
		last = first + linesUnset - 1
	}
	if last < first {
		return 0, 0, fmt.Errorf("end_line %d comes before start_line %d", last, first)
	}
	return first, last, nil
}

// countLines counts the lines of what is left in r.
func countLines(r *bufio.Reader) (n int, err error) {
	open := false
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			open = true
			continue
		}
		if len(part) > 0 || open {
			n++
		}
		open = false
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// view is the part of a file that is shown.
type view struct {
	first, last int // lines asked for
	text        strings.Builder
	shown       int  // the last line that is shown
	total       int  // lines of the file
	counted     bool // total is all of them
	crlf, mark  bool
}

// read reads the file from its beginning: the lines before the range, the
// range and, to count them, those behind it.
func (v *view) read(in *bufio.Reader, toEnd bool) error {
	for n := 1; n <= v.last; n++ {
		row, rest, err := readLine(in)
		if errors.Is(err, io.EOF) {
			v.total, v.counted = n-1, true
			return nil
		}
		if err != nil {
			return err
		}
		v.total = n
		if n == 1 {
			row = v.unmark(row)
		}
		if n >= v.first && !v.add(n, row, rest) {
			break
		}
	}
	if !toEnd {
		_, err := in.Peek(1)
		v.counted = errors.Is(err, io.EOF)
		return nil
	}
	more, err := countLines(in)
	v.total, v.counted = v.total+more, true
	return err
}

// unmark takes the byte order mark off the first line: the model would copy it
// into an edit, where it does not match.
func (v *view) unmark(row []byte) []byte {
	bare, marked := bytes.CutPrefix(row, []byte(byteOrderMark))
	v.mark = marked
	return bare
}

// add shows a line if there is room for it. One line always has room.
func (v *view) add(n int, row []byte, rest int) bool {
	if bare, ok := bytes.CutSuffix(row, []byte("\r")); ok {
		row, v.crlf = bare, true
	}
	text := fmt.Sprintf("%d\t%s\n", n, line(row, maxLine, rest))
	if v.shown > 0 && v.text.Len()+len(text) > maxResult {
		return false
	}
	v.text.WriteString(text)
	v.shown = n
	return true
}

// readLine reads a line without its end; rest is how many bytes of a long one
// were not kept. io.EOF comes only when there is no line.
func readLine(in *bufio.Reader) (row []byte, rest int, err error) {
	any := false
	for {
		part, err := in.ReadSlice('\n')
		any = any || len(part) > 0
		if err == nil {
			part = part[:len(part)-1]
		}
		if room := maxLine + 4 - len(row); len(part) > room { // 4: a character that is cut is seen to be
			rest += len(part) - max(room, 0)
			part = part[:max(room, 0)]
		}
		row = append(row, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && any:
			return row, rest, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		default:
			return nil, 0, err
		}
	}
}

// result puts together what the model reads.
func (v *view) result(path string) (string, error) {
	if v.counted && v.total == 0 {
		return fmt.Sprintf("%s is empty", shown(path)), nil
	}
	if v.shown == 0 {
		return "", fmt.Errorf("%s has only %s", shown(path), count(v.total, "line"))
	}
	of := "of more"
	if v.counted {
		of = fmt.Sprintf("of %d", v.total)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s %s", shown(path), lines(v.first, v.shown), of)
	if v.crlf {
		b.WriteString(", CRLF")
	}
	if v.mark {
		b.WriteString(", with a byte order mark")
	}
	b.WriteString("\n" + strings.TrimSuffix(v.text.String(), "\n"))
	switch {
	case !v.counted:
		fmt.Fprintf(&b, "\n(more lines follow; go on with start_line %d)", v.shown+1)
	case v.shown < v.total:
		fmt.Fprintf(&b, "\n(%s left; go on with start_line %d)", count(v.total-v.shown, "line"), v.shown+1)
	}
	return b.String(), nil
}
