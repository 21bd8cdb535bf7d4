package fs

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// byteOrderMark is how some programs begin a text in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// text is the content of a file as it is edited: lines that end in "\n",
// whatever they end in on the disk. What is not edited stays as it is, byte by
// byte, also in a file of mixed line ends.
type text struct {
	raw    []byte
	mark   int    // length of the byte order mark
	flat   string // without the mark, with "\n" for every line end
	cuts   []int  // where in flat the line ends stand that are "\r\n" on the disk
	starts []int  // where in flat the lines begin
	crlf   bool   // whether most line ends are "\r\n", as new ones then are too
}

// parse takes a content apart. It keeps raw, which must not change any more.
func parse(raw []byte) text {
	t := text{raw: raw}
	if bytes.HasPrefix(raw, []byte(byteOrderMark)) {
		t.mark = len(byteOrderMark)
	}
	var flat strings.Builder
	flat.Grow(len(raw))
	for rest := raw[t.mark:]; len(rest) > 0; {
		t.starts = append(t.starts, flat.Len())
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			flat.Write(rest)
			break
		}
		if end > 0 && rest[end-1] == '\r' {
			flat.Write(rest[:end-1])
			t.cuts = append(t.cuts, flat.Len())
		} else {
			flat.Write(rest[:end])
		}
		flat.WriteByte('\n')
		rest = rest[end+1:]
	}
	t.flat = flat.String()
	t.crlf = 2*len(t.cuts) > t.ends()
	return t
}

// ends counts the line ends.
func (t text) ends() int {
	if t.open() {
		return len(t.starts) - 1
	}
	return len(t.starts)
}

// open reports whether the last line lacks its end.
func (t text) open() bool {
	return t.flat != "" && !strings.HasSuffix(t.flat, "\n")
}

// uniform reports whether all line ends, of which there are some, are alike.
func (t text) uniform() bool {
	return t.ends() > 0 && (len(t.cuts) == 0 || len(t.cuts) == t.ends())
}

// line returns the number, from 1, of the line that a place in flat is in.
func (t text) line(at int) int {
	return max(1, sort.SearchInts(t.starts, at+1))
}

// start returns where in flat a line begins; the one after the last begins at
// the end.
func (t text) start(line int) int {
	if line > len(t.starts) {
		return len(t.flat)
	}
	return t.starts[line-1]
}

// row is one line without its end.
func (t text) row(line int) string {
	return strings.TrimSuffix(t.flat[t.start(line):t.start(line+1)], "\n")
}

// at turns a place in flat into one in raw. The "\r" of a line end belongs to
// what follows that place.
func (t text) at(place int) int {
	return t.mark + place + sort.SearchInts(t.cuts, place)
}

// span is a part of flat.
type span struct{ from, to int }

// replace returns the content with each of the spans, which are in order,
// replaced by s.
func (t text) replace(spans []span, s string) []byte {
	s = t.ended(s)
	var out bytes.Buffer
	last := 0
	for _, p := range spans {
		out.Write(t.raw[last:t.at(p.from)])
		out.WriteString(s)
		last = t.at(p.to)
	}
	out.Write(t.raw[last:])
	return out.Bytes()
}

// ended gives s the line ends of the file.
func (t text) ended(s string) string {
	s = flatten(s)
	if t.crlf {
		return strings.ReplaceAll(s, "\n", "\r\n")
	}
	return s
}

// flatten gives text of a model plain line ends.
func flatten(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// block is text that stands for whole lines: one line end at its end says
// nothing, and "" is no line at all.
func block(s string) (lines string, n int) {
	s = flatten(s)
	if s == "" {
		return "", 0
	}
	s = strings.TrimSuffix(s, "\n")
	return s, strings.Count(s, "\n") + 1
}

// insert returns the content with whole lines put in, the first of which gets
// the number line.
func (t text) insert(line int, s string) (data []byte, n int, err error) {
	lines, n := block(s)
	switch {
	case n == 0:
		return nil, 0, errors.New(`text is empty; for an empty line give "\n"`)
	case line < 1 || line > len(t.starts)+1:
		return nil, 0, fmt.Errorf("line %d is out of range: the file has %s, so 1 to %d are possible", line, count(len(t.starts), "line"), len(t.starts)+1)
	}
	at := t.start(line)
	if line > len(t.starts) && t.open() {
		lines = "\n" + lines
	} else {
		lines += "\n"
	}
	return t.replace([]span{{at, at}}, lines), n, nil
}

// swap returns the content with the lines from first to last replaced by whole
// lines, or taken out.
func (t text) swap(first, last int, s string) (data []byte, n int, err error) {
	if first < 1 || last < first || last > len(t.starts) {
		return nil, 0, fmt.Errorf("lines %d–%d are out of range: the file has %s, and the last may not come before the first", first, last, count(len(t.starts), "line"))
	}
	lines, n := block(s)
	p := span{t.start(first), t.start(last + 1)}
	switch open := last == len(t.starts) && t.open(); {
	case n > 0 && !open:
		lines += "\n"
	case n == 0 && open && first > 1:
		p.from-- // the line before becomes the last, and has no end then
	}
	return t.replace([]span{p}, lines), n, nil
}
