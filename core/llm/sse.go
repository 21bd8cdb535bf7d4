package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	longestEvent = 8 << 20 // bytes of one event
	longestJunk  = 1 << 20 // bytes of lines that are no part of the format
	eagerChecks  = 64      // see events.complete
)

var (
	errEventTooLong = fmt.Errorf("an event is longer than %d MiB", longestEvent>>20)
	errPage         = errors.New("the answer is a web page")
	errJunk         = errors.New("the answer is none that a model gives")
)

// event is one piece of a stream. Data is valid until the next one is read.
type event struct {
	name string // of an event: line; mostly ""
	data []byte
	// torn says that the stream ended inside it.
	torn bool
}

// events reads the events of a body, whatever its type says: server-sent
// events with any line ends, comments, names and several data lines, bare JSON
// lines, or one JSON text. An event is returned as soon as its data is a whole
// JSON text, not only at the empty line after it: an error's server may keep
// the connection open without ever sending that line.
type events struct {
	lines  lines
	data   []byte
	name   string
	bare   bool // data began without a field name
	checks int
	used   bool // data was returned and is to be dropped
	junk   []byte
	wasted int
}

func newEvents(r io.Reader) *events {
	return &events{lines: lines{r: bufio.NewReaderSize(r, 16<<10)}}
}

// next blocks until an event is complete. The error is io.EOF at the end, what
// the body's Read says, or one of errEventTooLong, errPage and errJunk.
func (s *events) next() (event, error) {
	if s.used {
		s.data, s.name, s.bare, s.checks, s.used = s.data[:0], "", false, 0, false
	}
	for {
		line, err := s.lines.next()
		if err != nil {
			if len(s.data) > 0 && errors.Is(err, io.EOF) {
				return s.take(true), nil
			}
			return event{}, err
		}
		whole, err := s.add(line)
		if err != nil {
			return event{}, err
		}
		if whole {
			return s.take(false), nil
		}
	}
}

func (s *events) take(torn bool) event {
	s.used = true
	return event{name: s.name, data: bytes.TrimSpace(s.data), torn: torn}
}

// add takes one line and says whether an event is now whole.
func (s *events) add(line []byte) (bool, error) {
	if len(line) == 0 {
		if s.bare {
			return false, nil
		}
		s.checks = 0
		if len(s.data) == 0 {
			s.name = ""
		}
		return len(s.data) > 0, nil
	}
	value, ok, err := s.field(line)
	if !ok || err != nil {
		return false, err
	}
	if len(s.data)+len(value) > longestEvent {
		return false, errEventTooLong
	}
	if len(s.data) > 0 {
		s.data = append(s.data, '\n')
	}
	s.data = append(s.data, value...)
	return s.complete(), nil
}

// field returns the data that a line holds, if it holds any.
func (s *events) field(line []byte) ([]byte, bool, error) {
	if s.bare {
		return line, true, nil
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		return value, true, nil
	case "event":
		s.name = string(bytes.TrimSpace(value))
		return nil, false, nil
	case "", "id", "retry":
		return nil, false, nil
	}
	if len(s.data) == 0 && (line[0] == '{' || line[0] == '[') {
		s.bare = true
		return line, true, nil
	}
	return nil, false, s.waste(line)
}

// waste notes a line that means nothing, and gives up on a web page at once.
func (s *events) waste(line []byte) error {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if len(s.junk) == 0 {
		s.junk = append(s.junk, line[:min(len(line), longestQuote)]...)
	}
	if s.wasted += len(line); s.junk[0] == '<' {
		return errPage
	}
	if s.wasted > longestJunk {
		return errJunk
	}
	return nil
}

// complete says whether the data so far is a whole JSON text or the end mark.
// An object in many lines is checked a few times only; the empty line after it
// does the rest.
func (s *events) complete() bool {
	d := bytes.TrimSpace(s.data)
	if len(d) == 0 {
		return false
	}
	if isEnd(d) {
		return true
	}
	if last := d[len(d)-1]; last != '}' && last != ']' || s.checks >= eagerChecks {
		return false
	}
	s.checks++
	return json.Valid(d)
}

// isEnd says whether data is the mark that ends a stream.
func isEnd(data []byte) bool { return string(data) == "[DONE]" }

// lines reads lines that end with LF, CR LF or CR. A CR ends its line at once.
type lines struct {
	r       *bufio.Reader
	buf     []byte
	begun   bool
	afterCR bool
}

// next returns a line without its end, valid until the next call. A last line
// without an end is returned before io.EOF, and dropped before another error.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		if _, err := l.r.Peek(1); err != nil {
			if len(l.buf) > 0 && errors.Is(err, io.EOF) {
				return l.buf, nil
			}
			return nil, err
		}
		chunk, _ := l.r.Peek(l.r.Buffered())
		chunk = l.skip(chunk)
		end := lineEnd(chunk)
		if end < 0 {
			l.buf = append(l.buf, chunk...)
			_, _ = l.r.Discard(len(chunk))
			if len(l.buf) > longestEvent {
				return nil, errEventTooLong
			}
			continue
		}
		l.afterCR = chunk[end] == '\r'
		l.buf = append(l.buf, chunk[:end]...)
		_, _ = l.r.Discard(end + 1)
		return l.trim(), nil
	}
}

// lineEnd returns where the first CR or LF is, or -1.
func lineEnd(chunk []byte) int {
	end := bytes.IndexByte(chunk, '\n')
	before := chunk
	if end >= 0 {
		before = chunk[:end]
	}
	if cr := bytes.IndexByte(before, '\r'); cr >= 0 {
		return cr
	}
	return end
}

// skip drops the LF of a CR LF whose CR ended the line before.
func (l *lines) skip(chunk []byte) []byte {
	if l.afterCR && chunk[0] == '\n' {
		_, _ = l.r.Discard(1)
		chunk = chunk[1:]
	}
	l.afterCR = false
	return chunk
}

// trim takes the byte order mark off the first line.
func (l *lines) trim() []byte {
	if l.begun {
		return l.buf
	}
	l.begun = true
	return bytes.TrimPrefix(l.buf, []byte("\xef\xbb\xbf"))
}
