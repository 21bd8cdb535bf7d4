package terminal

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// longestLine is how long a message on a pipe may be, in bytes.
const longestLine = 1 << 20

// pipeLine is a line as it came in.
type pipeLine struct {
	number int
	text   string
	long   bool // it was longer than longestLine; text is empty
}

// lines splits a reader into lines. A last line without a line break counts.
func lines(r io.Reader) func() (pipeLine, error) {
	b := bufio.NewReader(r)
	number := 0
	return func() (pipeLine, error) {
		number++
		l := pipeLine{number: number}
		var text []byte
		for {
			piece, err := b.ReadSlice('\n')
			if l.long = l.long || len(text)+len(piece) > longestLine+1; l.long {
				text, piece = nil, nil
			}
			text = append(text, piece...)
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && (len(text) == 0 && !l.long || err != io.EOF) {
				return pipeLine{}, err
			}
			l.text = strings.ToValidUTF8(strings.TrimSpace(string(text)), "\uFFFD")
			return l, nil
		}
	}
}
