package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"parley/tools"
)

// errStale means that a person approved something else than what would happen.
var errStale = errors.New("the file changed after a person was shown what this call would do, so nothing was written: read it again and repeat the call")

// plan is what a call makes of a file.
type plan struct {
	data []byte
	said string // what was done, for the model
	spot span   // the lines of the new content that are worth showing, from 1
}

// change is a file tool that writes.
type change[A any] struct {
	tool[A]
	draft func(a A, was present) (plan, error)
}

// newChange puts a tool that writes together: draft works out the new content
// and may look at nothing but the arguments and what the file holds, so that
// what a person is shown and what is done later cannot differ.
func newChange[A any](w *workshop, s tools.Spec, path, label func(A) string, draft func(A, present) (plan, error)) change[A] {
	c := change[A]{tool[A]{spec: s, writes: true, path: path, label: label}, draft}
	c.do = func(ctx context.Context, call tools.Call, a A) (string, error) { return c.write(ctx, w, call, a) }
	return c
}

// write is the whole of a call: find, read, work out, compare with what was
// approved, and only then touch the disk. A file that holds the outcome already
// is left alone and is no failure, so a call that was cut off after it wrote can
// run again, whatever state was approved.
func (c change[A]) write(ctx context.Context, w *workshop, call tools.Call, a A) (string, error) {
	p, err := find(call.Reach, c.path(a), writing)
	if err != nil {
		return "", err
	}
	defer w.lock(p.path)()
	was, err := load(ctx, p)
	if err != nil {
		return "", err
	}
	now, err := c.plan(p, was, a)
	same := err == nil && was.data != nil && bytes.Equal(now.data, was.data)
	if call.Reach.State != "" && call.Reach.State != was.state && !same {
		return "", errStale
	}
	if err != nil {
		return "", err
	}
	if same {
		return fmt.Sprintf("nothing to do: %s holds exactly this already", shown(p.arg)), nil
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := put(p, was, now.data); err != nil {
		return "", err
	}
	return now.said + excerpt(now), nil
}

// plan works out what the call makes of the file and whether it may.
func (c change[A]) plan(p place, was present, a A) (plan, error) {
	if err := was.writable(p.arg); err != nil {
		return plan{}, err
	}
	now, err := c.draft(a, was)
	if err != nil && !was.exists {
		return plan{}, p.missing(err)
	}
	return now, err
}

// Preview implements [tools.Previewer]. A path outside of what the session was
// given is looked at too, or nobody could judge the call; but then what is
// found there goes to the person alone, and not to the model as an error.
func (c change[A]) Preview(ctx context.Context, call tools.Call) (tools.Preview, error) {
	a, err := decode[A](call.Args)
	if err != nil {
		return tools.Preview{}, err
	}
	p, err := find(call.Reach, c.path(a), asking)
	if err != nil {
		return tools.Preview{}, errors.New(sentence(err))
	}
	was, err := load(ctx, p)
	var now plan
	if err == nil {
		now, err = c.plan(p, was, a)
	}
	switch {
	case err != nil && p.strange && call.Reach.Target == "":
		return tools.Preview{State: was.state, Note: "As things stand, this call will fail: " + sentence(err)}, nil
	case err != nil:
		return tools.Preview{}, errors.New(sentence(err))
	}
	v := preview(p.name(call.Reach), was, now)
	if p.strange {
		v.Note = strings.TrimSpace("The file lies outside the working directory. " + v.Note)
	}
	return v, nil
}

// name is the path as a person should see it: where it leads, from the working
// directory if it lies there.
func (p place) name(r tools.Reach) string {
	if p.base == r.Dir && len(p.names) > 0 {
		return strings.Join(p.names, "/")
	}
	return p.path
}

// excerpt shows a few lines of the new content with their numbers, so that the
// model need not read the file again to go on editing.
func excerpt(now plan) string {
	const around, most = 2, 30
	if now.spot == (span{}) {
		return ""
	}
	t := parse(now.data)
	first := max(1, now.spot.from-around)
	last := min(len(t.starts), now.spot.to+around)
	if last < first {
		return "; it is empty now"
	}
	var b strings.Builder
	b.WriteString("; it now reads:\n")
	for n := first; n <= min(last, first+most-1); n++ {
		fmt.Fprintf(&b, "%d\t%s\n", n, line([]byte(t.row(n)), maxHit, 0))
	}
	if left := last - (first + most - 1); left > 0 {
		fmt.Fprintf(&b, "(and %s more)\n", count(left, "line"))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
