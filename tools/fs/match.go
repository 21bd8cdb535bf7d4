package fs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// query is what is searched for, line by line.
type query struct {
	re     *regexp.Regexp
	prefix []byte // stands in every line that matches; nil if unknown
}

// parseQuery reads a pattern as a regular expression or as plain text.
func parseQuery(pattern string, plain, anyCase bool) (query, error) {
	if pattern == "" {
		return query{}, fmt.Errorf("the pattern is empty")
	}
	if strings.Contains(pattern, "\n") {
		return query{}, fmt.Errorf("the pattern holds a line break, and the search goes line by line: search for one of the lines")
	}
	expr := pattern
	if plain {
		expr = regexp.QuoteMeta(pattern)
	}
	if anyCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return query{}, fmt.Errorf("the pattern is not a valid regular expression (%w); set literal to search for plain text", err)
	}
	q := query{re: re}
	if prefix, _ := re.LiteralPrefix(); prefix != "" {
		q.prefix = []byte(prefix)
	}
	return q, nil
}

// hit is a line that matches.
type hit struct {
	row      int // from 0
	from, to int // where in the line
}

// hits returns the lines of data that match. rows are all of its lines, unless
// nothing matches.
func (q query) hits(data []byte) (found []hit, rows [][]byte) {
	if q.prefix != nil && !bytes.Contains(data, q.prefix) {
		return nil, nil
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	for n := 0; len(data) > 0; n++ {
		row, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		row = bytes.TrimSuffix(row, []byte("\r"))
		rows = append(rows, row)
		if at := q.re.FindIndex(row); at != nil {
			found = append(found, hit{n, at[0], at[1]})
		}
	}
	return found, rows
}

// listing writes hits with the lines around them as a model reads them: the
// line that matches as "12: text", those around as "11- text".
type listing struct {
	rows   [][]byte
	around int
	next   int // the first line not written yet
}

// hit writes a line that matches and those before it that were not written yet;
// "--" stands where lines are left out between two hits.
func (l *listing) hit(h hit) string {
	var b strings.Builder
	first := max(l.next, h.row-l.around)
	if l.next > 0 && first > l.next && l.around > 0 {
		b.WriteString("--\n")
	}
	for n := first; n < h.row; n++ {
		fmt.Fprintf(&b, "%d- %s\n", n+1, line(l.rows[n], maxHit, 0))
	}
	fmt.Fprintf(&b, "%d: %s\n", h.row+1, excised(l.rows[h.row], h))
	l.next = h.row + 1
	return b.String()
}

// after writes the lines that follow the last hit, up to the next one.
func (l *listing) after(until int) string {
	var b strings.Builder
	last := min(l.next+l.around, until, len(l.rows))
	for ; l.next < last; l.next++ {
		fmt.Fprintf(&b, "%d- %s\n", l.next+1, line(l.rows[l.next], maxHit, 0))
	}
	return b.String()
}

// excised is a line that was found, of a long one the part around the place.
func excised(row []byte, h hit) string {
	if len(row) <= maxHit {
		return line(row, maxHit, 0)
	}
	from := max(0, min(h.from-maxHit/3, len(row)-maxHit))
	text := line(row[from:min(len(row), from+maxHit)], maxHit, 0)
	if from > 0 {
		text = "…" + text
	}
	if from+maxHit < len(row) {
		text += "…"
	}
	return text + fmt.Sprintf(" (a line of %d bytes)", len(row))
}

// collect puts the hits in one file on a page and reports whether it took any.
// title stands before the first of them.
func collect(p *page, title string, found []hit, rows [][]byte, around int) (took bool, err error) {
	l := listing{rows: rows, around: around}
	for i, h := range found {
		if p.before() {
			continue
		}
		until := len(rows)
		if i+1 < len(found) {
			until = found[i+1].row
		}
		item := l.hit(h) + l.after(until)
		if !took && title != "" {
			item = title + "\n" + item
		}
		if err := p.add(strings.TrimSuffix(item, "\n")); err != nil {
			return took, err
		}
		took = true
	}
	return took, nil
}

// tooLarge is why a file is not searched.
const tooLarge = "too large"

// slurp reads a file of at most most bytes that is to be searched. skip says in
// a word why it is not.
func slurp(f *os.File, size, most int64, into *bytes.Buffer) (skip string, err error) {
	if size > most {
		return tooLarge, nil
	}
	into.Reset()
	if _, err := io.CopyN(into, f, headBytes); err != nil && err != io.EOF {
		return "", err
	}
	if kind := binary(into.Bytes()); kind != "" {
		return kind, nil
	}
	n, err := io.Copy(into, io.LimitReader(f, most))
	if n == most {
		return tooLarge, err
	}
	return "", err
}

// around limits the lines of context.
func around(w whole) int { return w.within(0, 10) }
