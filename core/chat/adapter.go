package chat

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Adapter is one connection to one platform. It translates, acknowledges and
// delivers; it has no queue, retry, pacing or state of its own beyond what the
// wire needs. It has more methods than our interfaces usually have because a
// platform is one thing: receiving and showing share a connection.
//
// Run is called once. All other methods may be called from several goroutines
// at once, also before Run connected and after it returned; they end with
// their context. For one key the core never has two of Deliver, Edit and
// Delete under way.
type Adapter interface {
	// Run connects and feeds in until ctx ends. It blocks; it returns nil
	// after a clean stop. An error is retried with backoff unless it wraps
	// ErrPermanent (a revoked token), which is shown to the operator.
	Run(ctx context.Context, in Inbound) error

	// Traits tells what the chat can do. It is asked before each rendering,
	// must not block, and is data that may be kept.
	Traits(k Key) Traits

	// Render turns a post into the messages it becomes, each within the
	// limits of the chat, in order; at least one. It is pure. A post with
	// Replaces will be shown by edit, so the limit of edits holds. The core
	// fills in ID, Post, Kind, Last and Answers of the parts itself. An error
	// means that no form of the post can be shown and is a dead letter.
	Render(k Key, p Post) ([]Part, error)

	// Deliver shows one part and returns the ids of the messages it became,
	// which may be none (an ephemeral reply). It may block for as long as the
	// platform takes. Errors: ErrPermanent, RetryAfter and Relocated mean
	// what they say; any other is retried later with Unsure set, since the
	// part may have arrived. One that means that nobody answered keeps the
	// net error in its chain: an outage is waited out, an answer that stays
	// bad is not.
	Deliver(ctx context.Context, k Key, p Part) ([]MessageID, error)

	// Edit changes a message that showed was so that it shows now; after a
	// restart was may be empty, since what the message shows is not known. An
	// edit that changes nothing is not an error. Twice is fine.
	Edit(ctx context.Context, k Key, m MessageID, was, now Part) error

	// Delete removes a message. One that is gone already is not an error.
	Delete(ctx context.Context, k Key, m MessageID) error

	// Signal shows something passing: typing, a live draft. It is best
	// effort and never retried; an error is logged.
	Signal(ctx context.Context, k Key, s Signal) error

	// Fetch opens an incoming file. The caller closes it and caps what it
	// reads.
	Fetch(ctx context.Context, f File) (io.ReadCloser, error)
}

// Inbound is what an adapter may ask of the core. Its methods are safe for
// concurrent use.
type Inbound interface {
	// Accept takes events in, in order. When it returns nil they are on disk
	// or were known already, and the cursor, if it has a name, has moved in
	// the same commit; only then may the adapter acknowledge. It fails when
	// the disk does (or ctx ends): then nothing may be acknowledged, and the
	// same events may be handed over again. It does not wait for a turn.
	Accept(ctx context.Context, at Cursor, events ...Event) error

	// Cursors lists the stored cursors whose name begins with prefix.
	Cursors(ctx context.Context, prefix string) ([]Cursor, error)

	// Handle mounts a handler on http.listen under "/adapters/" + path, for
	// webhooks. It is called before Run connects; twice with one path panics.
	Handle(path string, h http.Handler)
}

// Cursor is how far an adapter has read one of its platform's streams. The
// zero Cursor moves nothing.
type Cursor struct {
	Name  string // "telegram/7005551/offset"
	Value string
}

// Unit is what a platform counts text in.
type Unit string

const (
	Bytes Unit = "bytes"
	UTF16 Unit = "utf16"
	Runes Unit = "runes"
)

// Traits is what one chat can do: facts, not behaviour. Zero values mean "no"
// or "no limit known".
type Traits struct {
	Limit     int  // longest text of a message, in Unit
	EditLimit int  // the same for an edited message, 0: as Limit
	Unit      Unit // what Limit counts

	Buttons   bool // the chat shows buttons; if not, the core numbers them
	Edits     bool // sent messages can be edited
	Drafts    bool // Signal shows a live Draft that the final text takes the place of
	Typing    bool // Signal shows Typing
	Ephemeral bool // a post can be shown to one person alone
	Voice     bool // native voice messages
	Private   bool // nobody but one person and the bot is in the chat
	FileSize  int64

	// PreviewEvery is how often a live preview may be refreshed; 0 means no
	// preview.
	PreviewEvery time.Duration
}

// Signal is something passing to show in a chat. The set is sealed: [Typing],
// [Draft], [Reaction].
type Signal interface{ signal() }

// Typing shows that the bot is at work. It fades by itself; the core repeats
// it.
type Typing struct{}

// Draft is the text of a post as far as it is written. The whole text is given
// each time. An empty Text takes the draft back.
type Draft struct {
	Post string // the id of the post it will become
	Text string // Markdown, perhaps incomplete
}

// Reaction puts an emoji on a message; an empty one takes it away.
type Reaction struct {
	Message MessageID
	Emoji   string
}

func (Typing) signal()   {}
func (Draft) signal()    {}
func (Reaction) signal() {}

// Command is a row of the command table: what an adapter needs for its menus
// and manifests, and what /help prints.
type Command struct {
	Name    string // without the slash
	Args    string // as /help shows them: "ID [reason]"
	Summary string // one line, lower case, no full stop
	Where   Where
	// Control commands are taken at once, also while a turn runs; the others
	// keep their place among the messages.
	Control bool
	// Urgent commands act on what is under way. An adapter that feeds lines
	// one after the other, each when the one before was answered, does not
	// hold these back.
	Urgent bool
}

// Where limits in which chats a command makes sense.
type Where string

const (
	Anywhere    Where = ""
	PrivateOnly Where = "private"
	GroupsOnly  Where = "groups"
)
