package terminal

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	"parley/core/chat"
)

const (
	// readAhead is how many lines may wait for their turn; urgent commands
	// behind more than that have to wait too.
	readAhead = 256
	// A line that cannot be stored is handed over again after firstPause,
	// then after twice as long each time, up to longestPause.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// pipe is the face for programs: a line in, a reply out. What was sent and is
// not answered is under mu, which is never held while the core is called.
type pipe struct {
	config  Config
	mint    *mint
	urgent  map[string]bool // the names of urgent commands
	changed chan struct{}   // something was shown: lines may go on

	mu      sync.Mutex
	choices choices
	shown   recent // by message: the text that stands there
	ledger  ledger
	broken  error // nothing can be shown any more

	waiting []pipeLine // of run alone: lines that wait for their turn
	asking  *choice    // of run alone: a button whose text is the next line
}

func newPipe(c Config, m *mint) *pipe {
	p := &pipe{config: c, mint: m, urgent: map[string]bool{}, changed: make(chan struct{}, 1)}
	for _, cmd := range c.Commands {
		p.urgent["/"+cmd.Name] = cmd.Urgent
	}
	return p
}

// run reads lines and sends each when its turn has come. At the end of input
// it waits for what is unanswered, except for what people have to answer. It
// fails when nothing can be shown: what was not is shown by a later run.
func (p *pipe) run(ctx context.Context, in chat.Inbound) (left bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	input := startFeed(ctx, p.config.In, lines)
	defer input.wait(ctx)
	defer cancel()
	more := input.out
	for {
		p.release(ctx, in)
		if err := p.unwritable(); err != nil {
			return false, err
		}
		if more == nil && len(p.waiting) == 0 && p.finished() {
			return true, input.err
		}
		source := more
		if len(p.waiting) >= readAhead {
			source = nil
		}
		select {
		case l, ok := <-source:
			if !ok {
				more = nil
			} else {
				p.take(ctx, in, l)
			}
		case <-p.changed:
		case <-ctx.Done():
			return false, nil
		}
	}
}

// take sorts a line that came in: urgent commands and buttons go past lines
// that wait.
func (p *pipe) take(ctx context.Context, in chat.Inbound, l pipeLine) {
	picked, isNumber := p.pick(l.text)
	switch {
	case l.long:
		p.complain("Line %d is longer than %d bytes (1 MiB) and was left out.", l.number, longestLine)
	case l.text == "":
	case p.asking == nil && p.urgent[firstWord(l.text)]:
		p.send(ctx, in, l, p.mint.said(l.text), urgentEvent)
	case p.asking == nil && isNumber && picked.button.Prompt == "":
		p.press(ctx, in, l, picked, "")
	default:
		p.waiting = append(p.waiting, l)
	}
}

// complain tells about trouble, where replies don't go if that can be had.
func (p *pipe) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.config.Errs, format+"\n", args...)
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// release sends the lines whose turn it is.
func (p *pipe) release(ctx context.Context, in chat.Inbound) {
	for len(p.waiting) > 0 && ctx.Err() == nil {
		l := p.waiting[0]
		picked, isNumber := p.pick(l.text)
		switch {
		case p.asking != nil:
			p.press(ctx, in, l, *p.asking, l.text)
		case isNumber && picked.button.Prompt != "":
			p.prompt(picked)
		case isNumber:
			p.press(ctx, in, l, picked, "")
		case p.free():
			p.send(ctx, in, l, p.mint.said(l.text), messageEvent)
		default:
			return
		}
		p.waiting = p.waiting[1:]
	}
}

func (p *pipe) pick(text string) (choice, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.choices.pick(text)
}

func (p *pipe) press(ctx context.Context, in chat.Inbound, l pipeLine, on choice, text string) {
	p.asking = nil
	p.send(ctx, in, l, p.mint.pressed(on.on, on.line(text)), pressEvent)
}

// prompt shows what a button asks; the next line is the answer.
func (p *pipe) prompt(picked choice) {
	p.asking = &picked
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.config.Out, "%s\n\n", oneLine(picked.button.Prompt))
}

func (p *pipe) free() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ledger.free()
}

// send hands an event over until the core has it or ctx ends. It is in the
// ledger before, since the answer may come before Accept returns.
func (p *pipe) send(ctx context.Context, in chat.Inbound, l pipeLine, e chat.Event, kind eventKind) {
	p.mu.Lock()
	p.ledger.sent(e, kind)
	p.mu.Unlock()
	told := false
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := in.Accept(ctx, chat.Cursor{}, e)
		if err == nil || ctx.Err() != nil {
			return
		}
		if !told {
			p.complain("Line %d could not be stored (%s); trying again.", l.number, oneLine(err.Error()))
			told = true
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// finished reports whether nothing is to be waited for any more, and says so
// if people still have to answer something.
func (p *pipe) finished() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ledger.finished() {
		return false
	}
	for _, open := range p.ledger.open {
		fmt.Fprintf(p.config.Out, "Still open: %s (%s)\n\n", oneLine(open.id), oneLine(open.line))
	}
	return true
}

// deliver prints a part as plain text, an empty line after it.
func (p *pipe) deliver(part chat.Part) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := chat.MessageID(part.ID)
	if !p.shown.has(part.ID) {
		if err := p.print(m, part, true); err != nil {
			return err
		}
		p.shown.put(part.ID, part.Text)
		p.ledger.shown(m, part)
	}
	p.ledger.answered(part)
	p.tell()
	return nil
}

// edit prints what is new about a message. An ask that has no buttons any more
// is settled, and with it the presses on it.
func (p *pipe) edit(m chat.MessageID, was, now chat.Part) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := now.Text != p.shown.or(string(m), was.Text)
	if news || !reflect.DeepEqual(was.Buttons, now.Buttons) {
		p.choices.withdraw(m)
		if err := p.print(m, now, news); err != nil {
			return err
		}
		p.shown.put(string(m), now.Text)
	}
	p.ledger.edited(m, now)
	p.ledger.answered(now)
	p.tell()
	return nil
}

// print writes a part in one piece; mu is held.
func (p *pipe) print(m chat.MessageID, part chat.Part, withText bool) error {
	var blocks []string
	if text := trim(clean(part.Text)); withText && text != "" {
		blocks = append(blocks, text)
	}
	for _, group := range [][]string{fileLines(part.Files), p.choices.offer(m, part.Buttons)} {
		if len(group) > 0 {
			blocks = append(blocks, strings.Join(group, "\n"))
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	if _, err := io.WriteString(p.config.Out, strings.Join(blocks, "\n")+"\n\n"); err != nil {
		p.broken = err
		p.tell()
	}
	return p.broken
}

func (p *pipe) unwritable() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		return nil
	}
	return fmt.Errorf("writing output: %w: %w", p.broken, chat.ErrPermanent)
}

// tell wakes run; mu is held.
func (p *pipe) tell() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// signal shows nothing: a pipe gets what is final.
func (p *pipe) signal(chat.Signal) error { return nil }
