package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Pool is the models of the configuration, in its order. Safe for concurrent
// use.
type Pool struct {
	models []Model
	opts   Options
}

// Options are the pool's settings; the zero value is fine.
type Options struct {
	// Failed is told every failed try, for the log. It must not block.
	Failed func(*Error)
}

// NewPool panics when models is empty: there is always the demo model.
func NewPool(models []Model, o Options) *Pool {
	if len(models) == 0 {
		panic("llm: a pool without models")
	}
	if o.Failed == nil {
		o.Failed = func(*Error) {}
	}
	return &Pool{slices.Clone(models), o}
}

// Models describes all models in order.
func (p *Pool) Models() []Info {
	infos := make([]Info, len(p.models))
	for i, m := range p.models {
		infos[i] = m.Info()
	}
	return infos
}

// Order returns the models in the order in which they are to be asked: the one
// named pick first. "", "auto" and a name that is gone mean the configured
// order.
func (p *Pool) Order(pick string) []Model {
	order := slices.Clone(p.models)
	i := slices.IndexFunc(order, func(m Model) bool { return m.Info().Name == pick })
	if i > 0 && pick != "auto" {
		picked := order[i]
		order = slices.Insert(slices.Delete(order, i, i+1), 0, picked)
	}
	return order
}

// Answer asks the models in order until one answers, and blocks meanwhile. Each
// may fail as often as the budget says; b belongs to the turn and is shared by
// its rounds. A model that asks for a long wait is passed over while another is
// at hand. each is called on the caller's goroutine.
//
// The error is ctx's when ctx ended, the *Error of a single model, or an
// *AllFailed. A prompt that is too long costs nothing of the budget: Answer
// goes on to models with more room only, and the error, if there is one, says
// TooLong, so that the caller can shorten the prompt and ask again.
func (p *Pool) Answer(ctx context.Context, order []Model, b *Budget, req Request, each func(Delta)) (Reply, error) {
	if b == nil {
		b = NewBudget(0)
	}
	r := &round{Pool: p, order: order, budget: b, req: req, each: each}
	for {
		m, wait := r.next()
		if m == nil {
			return Reply{}, r.failure()
		}
		if err := sleep(ctx, wait); err != nil {
			return Reply{}, err
		}
		reply, err := r.ask(ctx, m)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return Reply{}, ctx.Err()
		}
		r.book(m.Info(), err)
	}
}

// round is one call of Answer.
type round struct {
	*Pool
	order  []Model
	budget *Budget
	req    Request
	each   func(Delta)

	shown   bool   // something was streamed that counts no more
	tooLong *Error // the first one
	tooWide int    // context of the largest model the prompt did not fit in
}

// next returns the model to ask and how long to wait before: the first that
// may be asked soon, else the first that may be asked at all.
func (r *round) next() (Model, time.Duration) {
	var first Model
	var longest time.Duration
	for _, m := range r.order {
		info := m.Info()
		wait, ok, _ := r.budget.state(info.Name)
		if !ok || r.tooLong != nil && info.Context <= r.tooWide {
			continue
		}
		if wait <= patience {
			return m, wait
		}
		if first == nil {
			first, longest = m, min(wait, mostWait)
		}
	}
	return first, longest
}

// ask streams one answer of one model.
func (r *round) ask(ctx context.Context, m Model) (Reply, error) {
	if r.shown {
		r.each(Delta{Restart: true})
		r.shown = false
	}
	reply, err := m.Stream(ctx, r.req, func(d Delta) {
		if r.each == nil {
			return
		}
		r.shown = !d.Restart
		r.each(d)
	})
	if err != nil {
		return Reply{}, err
	}
	if note := r.note(reply.Model); note != "" {
		reply.Notes = append([]string{note}, reply.Notes...)
	}
	return reply, nil
}

// book takes a failure into account.
func (r *round) book(info Info, err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: Overloaded, Model: info.Name, Err: err}
	}
	r.opts.Failed(e)
	if e.Kind != TooLong {
		r.budget.fail(info.Name, e)
		return
	}
	if r.tooLong == nil {
		r.tooLong = e
	}
	r.tooWide = max(r.tooWide, info.Context)
}

// reason returns why the model of that name did not answer, or nil.
func (r *round) reason(name string) *Error {
	if r.tooLong != nil && r.tooLong.Model == name {
		return r.tooLong
	}
	_, _, last := r.budget.state(name)
	return last
}

// note is a sentence for the person when another than the first model answered.
func (r *round) note(answered string) string {
	first := r.order[0].Info().Name
	e := r.reason(first)
	if first == answered || e == nil {
		return ""
	}
	return fmt.Sprintf("The model %q %s, so %q answered instead.", first, troubleOf(e.Kind).clause, answered)
}

// failure is the error of a round in which no model answered.
func (r *round) failure() error {
	all := &AllFailed{}
	if r.tooLong != nil {
		return r.tooLong
	}
	for _, m := range r.order {
		if e := r.reason(m.Info().Name); e != nil {
			all.Errs = append(all.Errs, e)
		}
	}
	if len(all.Errs) == 1 {
		return all.Errs[0]
	}
	return all
}

// AllFailed says that several models were asked and none answered.
type AllFailed struct{ Errs []*Error }

// Error lists what every model did.
func (a *AllFailed) Error() string {
	texts := make([]string, len(a.Errs))
	for i, e := range a.Errs {
		texts[i] = e.Error()
	}
	return "no model answered: " + strings.Join(texts, "; ")
}

// Unwrap returns the models' errors; errors.As finds the first.
func (a *AllFailed) Unwrap() []error {
	errs := make([]error, len(a.Errs))
	for i, e := range a.Errs {
		errs[i] = e
	}
	return errs
}

// Sentence says for every model in plain words what it did, and what helps with
// the first.
func (a *AllFailed) Sentence() string {
	if len(a.Errs) == 0 {
		return "No model could be asked."
	}
	clauses := make([]string, len(a.Errs))
	for i, e := range a.Errs {
		clauses[i] = fmt.Sprintf("%q %s", e.Model, troubleOf(e.Kind).clause)
	}
	return fmt.Sprintf("No model answered: %s. %s", strings.Join(clauses, ", "), troubleOf(a.Errs[0].Kind).remedy)
}

// sleep waits for d, or returns ctx's error when that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
