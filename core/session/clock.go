package session

import (
	"sync"
	"time"
)

// clock is the time that a turn may take. It stands still while the turn waits
// for people. Its methods may be called from several goroutines at once.
type clock struct {
	mu      sync.Mutex // guards what is below
	timer   *time.Timer
	left    time.Duration // when the clock was last started
	since   time.Time     // when that was
	waiting int           // for how many answers
}

// newClock starts a clock that calls up when its time is over.
func newClock(limit time.Duration, up func()) *clock {
	return &clock{timer: time.AfterFunc(limit, up), left: limit, since: time.Now()}
}

// pause stops the clock until resume was called as often.
func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting++; c.waiting == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting--; c.waiting == 0 {
		c.since = time.Now()
		c.timer.Reset(max(0, c.left))
	}
}

// stop ends the clock.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting++ // nobody starts it again
	c.timer.Stop()
}
