package shell

import "os"

// With replaces what this machine has to offer.
func (t *Tool) With(s Status) *Tool {
	t.status = func() Status { return s }
	return t
}

// Clean makes pieces of text safe.
func Clean(pieces ...string) string {
	var c cleaner
	var all []byte
	for _, p := range pieces {
		all = append(all, c.clean([]byte(p))...)
	}
	return string(append(all, c.flush()...))
}

// Output is what a command prints.
type Output struct{ output }

// NewOutput keeps the whole in the file that keep makes.
func NewOutput(keep func() (*os.File, string, error)) *Output {
	return &Output{output{keep: keep}}
}

// End returns what the model reads.
func (o *Output) End() string { return o.end() }

// Held is how much memory the text may take.
func (o *Output) Held() int { return cap(o.head) + cap(o.tail) + cap(o.clean.out) }

// Limits of the package.
const (
	ShownMax  = shownMax
	FileMax   = fileMax
	KeptFiles = keptFiles
)

// NewID names a child of a run.
func NewID(run string) string { return newID(run) }

// NewRun names a run.
func NewRun() string { return newRun() }

// Carve is what is left of a directory around what is hidden.
var Carve = carve
