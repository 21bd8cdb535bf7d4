package outbox

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxPause caps the pause between two attempts: a chat is served again at
// most so long after its platform came back.
const maxPause = 30 * time.Second

func newBackoff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.Multiplier, b.MaxInterval = 2, maxPause
	return b
}

// trouble is how the head of a lane fares. It is in memory only: a restart
// tries at once.
type trouble struct {
	until  time.Time // no attempt before
	last   time.Time // the last failure
	spent  time.Duration
	pauses *backoff.ExponentialBackOff
	tried  bool // an attempt may have arrived
}

// failed notes a failure that may have arrived and says whether there is
// patience for another attempt. Only time between failures that count wears
// patience out.
func (t *trouble) failed(now time.Time, counts bool, patience time.Duration) bool {
	if counts && !t.last.IsZero() {
		t.spent += max(0, now.Sub(t.last))
	}
	if t.spent >= patience {
		return false
	}
	if t.pauses == nil {
		t.pauses = newBackoff()
	}
	pause := t.pauses.NextBackOff()
	if counts {
		pause = min(pause, patience-t.spent)
	}
	t.last, t.tried, t.until = now, true, now.Add(pause)
	return true
}

// pace holds a chat back where its platform asked for it.
type pace struct {
	hold time.Time // nothing before
	slow time.Time // one message a second until then
	last time.Time // the last message of the slow time
}

// The pace after a platform asked to wait, and for how long it is kept.
const (
	slowEvery = time.Second
	slowTime  = time.Minute
)

// wait holds everything for d.
func (p *pace) wait(now time.Time, d time.Duration) {
	if d <= 0 {
		d = slowEvery // a platform that asks for no wait at all would be asked without end
	}
	if until := now.Add(d); until.After(p.hold) {
		p.hold = until
	}
	p.slow = p.hold.Add(slowTime)
}

// next is when the next message may go.
func (p *pace) next(now time.Time) time.Time {
	if now.Before(p.hold) {
		return p.hold
	}
	if now.Before(p.slow) && !p.last.IsZero() {
		return p.last.Add(slowEvery)
	}
	return now
}

// went notes that a message was sent.
func (p *pace) went(now time.Time) {
	if now.Before(p.slow) {
		p.last = now
	}
}

// alarm is the earliest of several times, zero for none.
type alarm struct{ at time.Time }

func (a *alarm) by(t time.Time) {
	if a.at.IsZero() || t.Before(a.at) {
		a.at = t
	}
}
