package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/term"

	"parley/core/chat"
)

// Config is what the adapter is made of. The zero value is the process's own
// standard input and output.
type Config struct {
	// In is read until it ends; standard input if nil. A reader that is no
	// file but can be closed is closed when Run ends.
	In io.Reader
	// Out is where everything is shown; standard output if nil.
	Out io.Writer
	// Errs is where trouble is told on a pipe (a line that is too long, a
	// disk that is full); Out if nil.
	Errs io.Writer
	// Name is the adapter's name in keys and ids, "terminal" if empty.
	Name string
	// User is who types; "NAME:local" if it has no id.
	User chat.User
	// Commands are completed by Tab, and say which lines are urgent.
	Commands []chat.Command
	// Greeting is a line shown at a terminal before anything else, not on a
	// pipe; none if empty.
	Greeting string
	// HistoryFile keeps the lines typed at a terminal; none is kept if empty.
	HistoryFile string
	// NoColor shows text without colours or any other attribute.
	NoColor bool
	// Plain is the pipe's protocol on a terminal too, for one that cannot
	// move its cursor.
	Plain bool
	// OnLeave is called once, after the terminal is restored and before Run
	// returns, when the person leaves or the input has ended. It is not
	// called when Run ends because its context did.
	OnLeave func()
	// Now is the clock, time.Now if nil.
	Now func() time.Time
}

// Adapter is the chat of one terminal or pipe. It has one key, "NAME:local".
type Adapter struct {
	config Config
	face   face
	traits chat.Traits
}

var _ chat.Adapter = (*Adapter)(nil)

// face is one of the two ways to look: console or pipe. All methods but run
// may be called at any time and from several goroutines.
type face interface {
	// run reads until ctx ends or the person leaves, and reports the latter.
	run(ctx context.Context, in chat.Inbound) (left bool, err error)
	deliver(p chat.Part) error
	edit(m chat.MessageID, was, now chat.Part) error
	signal(s chat.Signal) error
}

// New makes the adapter and decides whether it is on a terminal: both In and
// Out must be one. Nothing is read or changed before Run.
func New(c Config) *Adapter {
	c = c.filled()
	a := &Adapter{config: c}
	m := newMint(c)
	in, out := descriptor(c.In), descriptor(c.Out)
	if !c.Plain && in >= 0 && out >= 0 && term.IsTerminal(in) && term.IsTerminal(out) {
		a.face = newConsole(c, m, in, out)
		a.traits = chat.Traits{Drafts: true, Typing: true, PreviewEvery: 50 * time.Millisecond}
	} else {
		a.face = newPipe(c, m)
	}
	a.traits.Unit, a.traits.Buttons, a.traits.Edits, a.traits.Private = chat.Runes, true, true, true
	return a
}

func (c Config) filled() Config {
	if c.In == nil {
		c.In = os.Stdin
	}
	if c.Out == nil {
		c.Out = os.Stdout
	}
	if c.Errs == nil {
		c.Errs = c.Out
	}
	if c.Name == "" {
		c.Name = "terminal"
	}
	if c.User.ID == "" {
		c.User.ID = chat.UserID(c.Name + ":local")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.OnLeave == nil {
		c.OnLeave = func() {}
	}
	c.OnLeave = sync.OnceFunc(c.OnLeave)
	return c
}

// descriptor returns the descriptor behind a file, -1 for anything else. A
// file's own Fd would make it blocking.
func descriptor(v any) int {
	f, ok := v.(*os.File)
	if !ok {
		return -1
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return -1
	}
	fd := -1
	if err := conn.Control(func(n uintptr) { fd = int(n) }); err != nil {
		return -1
	}
	return fd
}

// Key is the one chat of this adapter.
func (a *Adapter) Key() chat.Key { return chat.Key{Adapter: a.config.Name, Chat: "local"} }

// Run reads and feeds in until ctx ends, the person leaves or the input does.
// It blocks and returns nil in all three cases. An error is one of reading or
// of preparing the terminal, and permanent. Whatever happens, also a panic,
// the terminal is restored first.
func (a *Adapter) Run(ctx context.Context, in chat.Inbound) (err error) {
	defer guard("running the terminal", &err)
	left, err := a.face.run(ctx, in)
	if left {
		a.config.OnLeave()
	}
	return err
}

// Traits tells what the chat can do; the key is not looked at.
func (a *Adapter) Traits(chat.Key) chat.Traits { return a.traits }

// Render makes one part of the post: a terminal has no longest message.
func (a *Adapter) Render(_ chat.Key, p chat.Post) ([]chat.Part, error) {
	return []chat.Part{{
		ID: p.ID + "#0", Post: p.ID, Last: true, Kind: p.Kind,
		Text: trim(p.Text), Buttons: p.Buttons, Files: p.Files,
		ReplyTo: p.ReplyTo, Ticket: p.Ticket, For: p.For, Only: p.Only, Silent: p.Silent,
		Answers: p.Answers,
	}}, nil
}

// Deliver shows a part; its message id is the part's id. A part that this run
// has shown already is not shown again. It blocks while the terminal does and
// fails when writing does.
func (a *Adapter) Deliver(ctx context.Context, _ chat.Key, p chat.Part) (ids []chat.MessageID, err error) {
	defer guard("showing "+p.ID, &err)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := a.face.deliver(p); err != nil {
		return nil, fmt.Errorf("showing %s: %w", p.ID, err)
	}
	return []chat.MessageID{chat.MessageID(p.ID)}, nil
}

// Edit prints what the message shows now, if that is news, and withdraws the
// numbers of its buttons. What stands above is not touched.
func (a *Adapter) Edit(ctx context.Context, _ chat.Key, m chat.MessageID, was, now chat.Part) (err error) {
	defer guard("showing edit of "+string(m), &err)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.face.edit(m, was, now); err != nil {
		return fmt.Errorf("showing edit of %s: %w", m, err)
	}
	return nil
}

// Delete does nothing: what was printed stays.
func (a *Adapter) Delete(context.Context, chat.Key, chat.MessageID) error { return nil }

// Signal shows a draft or that the bot is at work. A pipe shows neither, and
// nobody shows reactions.
func (a *Adapter) Signal(ctx context.Context, _ chat.Key, s chat.Signal) (err error) {
	defer guard("showing a signal", &err)
	if err := ctx.Err(); err != nil {
		return err
	}
	return a.face.signal(s)
}

// Fetch fails: nobody can send a file from here.
func (a *Adapter) Fetch(_ context.Context, f chat.File) (io.ReadCloser, error) {
	return nil, fmt.Errorf("fetching %q: a terminal carries no files: %w", f.Name, chat.ErrPermanent)
}

// guard turns a panic into an error that is not retried: what made drawing
// fail would do so again.
func guard(doing string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: panic: %v: %w\n%s", doing, r, chat.ErrPermanent, debug.Stack())
	}
}
