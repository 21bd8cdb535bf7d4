package shell

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"unicode/utf8"
)

// How much of what a command prints is kept.
const (
	shownMax = 100_000 // bytes that the model reads
	headMax  = 25_000  // of which from the beginning
	tailMax  = shownMax - headMax
	fileMax  = 64 << 20 // bytes of the file that holds the whole
)

// output takes what a command prints and keeps its head and tail in memory.
// Once that is less than the whole, the whole goes to a file.
type output struct {
	keep func() (*os.File, string, error) // makes the file and names it

	mu     sync.Mutex // guards what follows
	clean  cleaner
	head   []byte
	tail   []byte
	total  int64 // bytes of text
	file   *os.File
	name   string // of the file
	stored int64
	err    error // of the file
}

// Write implements io.Writer. It never fails: a full disk must not end a
// command.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(o.clean.clean(p))
	return len(p), nil
}

// add takes text. What fits is all in head; beyond that, head keeps headMax
// and tail the rest, at most about twice what is shown.
func (o *output) add(p []byte) {
	o.total += int64(len(p))
	if o.total <= shownMax {
		o.head = append(o.head, p...)
		return
	}
	if o.tail != nil {
		o.store(p)
		o.trail(p)
		return
	}
	o.spill()
	o.store(p)
	all := append(o.head, p...)
	o.head = bytes.Clone(all[:headMax])
	o.tail = make([]byte, 0, 2*tailMax)
	o.trail(all[headMax:])
}

// trail appends to the tail and drops what is too far from the end.
func (o *output) trail(p []byte) {
	p = p[max(0, len(p)-tailMax):]
	if len(o.tail)+len(p) > 2*tailMax {
		o.tail = o.tail[:copy(o.tail, o.tail[len(o.tail)-tailMax:])]
	}
	o.tail = append(o.tail, p...)
}

// spill makes the file and gives it what was printed so far.
func (o *output) spill() {
	o.file, o.name, o.err = o.keep()
	o.store(o.head)
}

func (o *output) store(p []byte) {
	if o.file == nil || o.err != nil {
		return
	}
	p = p[:min(int64(len(p)), fileMax-o.stored)]
	n, err := o.file.Write(p)
	o.stored += int64(n)
	o.err = err
}

// end closes the file and returns the text that the model reads.
func (o *output) end() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(o.clean.flush())
	if o.file != nil {
		if err := o.file.Close(); o.err == nil {
			o.err = err
		}
		o.file = nil
	}
	if o.tail == nil {
		return string(o.head)
	}
	tail := o.tail[max(0, len(o.tail)-tailMax):]
	head := o.head
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	for len(head) > 0 {
		if r, n := utf8.DecodeLastRune(head); r != utf8.RuneError || n != 1 {
			break
		}
		head = head[:len(head)-1]
	}
	return fmt.Sprintf("%s\n[cut here: shown are the first %d and the last %d of %d bytes; %s]\n%s",
		head, len(head), len(tail), o.total, o.where(), tail)
}

// where says what became of the rest.
func (o *output) where() string {
	switch {
	case o.name == "":
		return fmt.Sprintf("the rest was not kept: %v", o.err)
	case o.err != nil:
		return fmt.Sprintf("the first %d bytes are in %s, the rest was not kept: %v", o.stored, o.name, o.err)
	case o.stored < o.total:
		return fmt.Sprintf("the first %d bytes are in %s, which can be read in parts; a file holds no more", o.stored, o.name)
	default:
		return fmt.Sprintf("the whole is in %s, which can be read in parts", o.name)
	}
}
