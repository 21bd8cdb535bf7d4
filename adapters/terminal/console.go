package terminal

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/term"

	"parley/core/chat"
)

const (
	// typingLasts is how long the working indicator stays after a signal that
	// nothing followed.
	typingLasts = 6 * time.Second
	// twice is how soon a second Ctrl-C must follow the first to leave.
	twice = 2 * time.Second
	// turning is how often the working indicator moves.
	turning = 120 * time.Millisecond

	notTheSame = "(the text above has changed; from here on it reads:)"
	takenBack  = "(the text above was taken back)"
)

// console is the face for a person at a terminal. What is shown is under mu,
// which is never held while the core is called.
type console struct {
	config  Config
	mint    *mint
	in, out int           // the terminal's descriptors
	poke    chan struct{} // there is something to animate

	mu       sync.Mutex
	running  bool
	stage    stage
	choices  choices
	history  *history
	shown    recent          // by message: the text that stands there
	ended    recent          // posts that are complete; later drafts of them are stale
	asking   *choice         // a button that waits for its text
	hint     string          // until the next key
	busy     time.Time       // until when the bot is at work
	turn     int             // of the working indicator
	stopped  time.Time       // of the Ctrl-C that was the last thing that happened
	pending  map[string]bool // messages that nothing has answered
	unsent   chat.Event
	unsentAs string // what unsent says, "" for none
}

func newConsole(c Config, m *mint, in, out int) *console {
	t := &console{config: c, mint: m, in: in, out: out, poke: make(chan struct{}, 1), pending: map[string]bool{}}
	t.stage = stage{screen: screen{out: c.Out}, colour: !c.NoColor}
	t.stage.screen.width, t.stage.screen.height = t.size()
	return t
}

// size is the window's, or the classic one if it doesn't know.
func (c *console) size() (width, height int) {
	width, height, err := term.GetSize(c.out)
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// run owns the keyboard until ctx ends or the person leaves.
func (c *console) run(ctx context.Context, in chat.Inbound) (left bool, err error) {
	state, err := term.MakeRaw(c.in)
	if err != nil {
		return false, fmt.Errorf("preparing the terminal: %w: %w", err, chat.ErrPermanent)
	}
	defer c.close(state)
	c.open()
	changed, stop := resizes()
	defer stop()
	resumed, stop := resumptions()
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	keys := startFeed(ctx, c.config.In, keystrokes)
	defer keys.wait(ctx)
	defer cancel()

	animation := time.NewTimer(turning)
	defer animation.Stop()
	for {
		select {
		case ks, more := <-keys.out:
			if !more {
				return ctx.Err() == nil, keys.err
			}
			if c.keys(ctx, in, ks) {
				return true, nil
			}
		case <-changed:
			c.resize()
		case <-resumed:
			c.resume()
		case <-c.poke:
			animation.Reset(turning)
		case <-animation.C:
			if c.animate() {
				animation.Reset(turning)
			}
		case <-ctx.Done():
			return false, nil
		}
	}
}

// keystrokes reads keys, those that arrived together at once.
func keystrokes(r io.Reader) func() ([]key, error) {
	var d decoder
	buf := make([]byte, 4096)
	return func() ([]key, error) {
		n, err := r.Read(buf)
		if n > 0 {
			return d.feed(buf[:n]), nil
		}
		return nil, err
	}
}

// open takes the terminal over.
func (c *console) open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.config.Greeting != "" {
		c.note(c.config.Greeting)
	}
	var err error
	c.history, err = openHistory(c.config.HistoryFile)
	if err != nil {
		c.note(err.Error())
	}
	c.running = true
	io.WriteString(c.config.Out, "\x1b[?2004h") // bracketed paste
	c.stage.screen.width, c.stage.screen.height = c.size()
	c.draw()
}

// close gives the terminal back. What was still growing stays as it is.
func (c *console) close(state *term.State) {
	defer term.Restore(c.in, state)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.stage.prompt = false, nil
	for _, it := range c.stage.items {
		it.done = true
	}
	defer io.WriteString(c.config.Out, "\x1b[?2004l\x1b[0m\x1b[?7h\x1b[?25h")
	c.stage.draw()
}

// draw shows everything as it is now; mu is held.
func (c *console) draw() error {
	c.stage.prompt, c.stage.status = nil, ""
	if c.running {
		c.stage.prompt = cells("> ", bold)
		c.stage.status = c.status()
	}
	if c.running && c.asking != nil {
		c.stage.prompt = cells("? ", bold)
	}
	return c.stage.draw()
}

func (c *console) redraw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draw()
}

func (c *console) status() string {
	switch {
	case c.hint != "":
		return c.hint
	case c.asking != nil:
		return oneLine(c.asking.button.Prompt) + " (Enter alone goes back)"
	case c.working():
		frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		return string(frames[c.turn%len(frames)]) + " working"
	}
	return ""
}

// working reports whether the indicator is to be seen: the bot is at work and
// nothing of its text is there yet.
func (c *console) working() bool {
	return c.config.Now().Before(c.busy) && !c.stage.streaming()
}

// wake starts what passes with time: the indicator, the hint of a Ctrl-C.
func (c *console) wake() {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// animate shows that time has passed and reports whether to do so again.
func (c *console) animate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy.IsZero() && c.stopped.IsZero() {
		return false
	}
	now := c.config.Now()
	if !now.Before(c.busy) {
		c.busy = time.Time{}
	}
	if !c.stopped.IsZero() && now.Sub(c.stopped) >= twice {
		c.stopped, c.hint = time.Time{}, ""
	}
	c.turn++
	c.draw()
	return !c.busy.IsZero() || !c.stopped.IsZero()
}

func (c *console) resize() {
	c.mu.Lock()
	defer c.mu.Unlock()
	width, height := c.size()
	if width != c.stage.screen.width || height != c.stage.screen.height {
		c.stage.screen.resize(width, height)
	}
	c.draw()
}

// resume takes the terminal over again after the process was stopped: a shell
// has put its own settings in force and written where the cursor was. In the
// background this stops the process once more, until it is in front.
func (c *console) resume() {
	_, err := term.MakeRaw(c.in)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.note("The terminal could not be taken over again: " + err.Error())
	}
	io.WriteString(c.config.Out, "\x1b[?2004h")
	c.stage.screen.anew()
	c.stage.screen.width, c.stage.screen.height = c.size()
	c.draw()
}

// note shows a sentence of the adapter's own; mu is held.
func (c *console) note(text string) {
	c.stage.items = append(c.stage.items, textItem(plainLine(oneLine(text), dim)))
}
