package chat

import "encoding/json"

// Kind says which queue of a chat a post waits in. Order is kept within a
// kind; cards and notices overtake answers between two posts.
type Kind string

const (
	Answer Kind = ""       // what the agent says
	Card   Kind = "card"   // a question to people, with buttons
	Notice Kind = "notice" // what parley itself says: a command's reply, an error
)

// Post is something to be shown in a chat. It is stored before it is shown and
// becomes one or more platform messages.
type Post struct {
	// ID is stable across restarts: enqueueing it twice shows it once. The
	// text of round 2 of a turn is "TURN/FRAME/2".
	ID      string     `json:"id"`
	Kind    Kind       `json:"kind,omitempty"`
	Text    string     `json:"text,omitempty"` // Markdown
	Buttons [][]Button `json:"buttons,omitempty"`
	Files   []File     `json:"files,omitempty"`
	ReplyTo MessageID  `json:"reply_to,omitempty"`
	// Replaces is the id of an earlier post whose messages this one takes
	// over by edit. One that was never shown is dropped instead.
	Replaces string `json:"replaces,omitempty"`
	// Ticket is the press or slash command this post is the reply to.
	Ticket string `json:"ticket,omitempty"`
	// For with Only shows the post to that person alone, where the platform
	// can; otherwise it goes to that person's private chat, or nowhere.
	For    User `json:"for,omitzero"`
	Only   bool `json:"only,omitempty"`
	Silent bool `json:"silent,omitempty"` // no notification sound
	// InOrder keeps a card or a notice behind the answers that wait: it would
	// make no sense before them.
	InOrder bool `json:"in_order,omitempty"`
	// Turn is the turn the post belongs to, "" for none: /stop withdraws what
	// of it was not shown yet.
	Turn string `json:"turn,omitempty"`
	// Answers names the events that this post settles: the last post of a
	// turn, a command's reply, a notice of what was dropped.
	Answers []string `json:"answers,omitempty"`
}

// Style is how a button looks where the platform has such a thing.
type Style string

const (
	Plain   Style = ""
	Primary Style = "primary"
	Danger  Style = "danger"
)

// MaxLine is how long a button's command line may be, in bytes: Telegram's
// callback data holds 64 (core.telegram.org/bots/api#inlinekeyboardbutton),
// and an adapter may need a few for itself.
const MaxLine = 60

// Button is a chat command to be pressed rather than typed.
type Button struct {
	Label string `json:"label"`
	Line  string `json:"line"` // at most MaxLine bytes: "/approve k7f3 once"
	// Prompt, if set, asks for a text first and appends it to Line.
	Prompt string `json:"prompt,omitempty"`
	Style  Style  `json:"style,omitempty"`
}

// Part is one platform message of a post, as Render made it. The core stores
// it and hands it back unchanged, also after a restart, but for Unsure.
type Part struct {
	ID      string          `json:"id"` // post id + "#" + index, the same on every delivery
	Text    string          `json:"text,omitempty"`
	Markup  json.RawMessage `json:"markup,omitempty"` // the adapter's own: entities, blocks
	Buttons [][]Button      `json:"buttons,omitempty"`
	Files   []File          `json:"files,omitempty"`
	ReplyTo MessageID       `json:"reply_to,omitempty"`
	Ticket  string          `json:"ticket,omitempty"`
	For     User            `json:"for,omitzero"`
	Only    bool            `json:"only,omitempty"`
	Silent  bool            `json:"silent,omitempty"`
	Kind    Kind            `json:"kind,omitempty"`
	Post    string          `json:"post"`              // the id of the post
	Answers []string        `json:"answers,omitempty"` // of the post, on its last part only
	Last    bool            `json:"last,omitempty"`    // no further part of this post follows
	// Unsure says that an earlier Deliver of this part may have arrived. It
	// is never stored.
	Unsure bool `json:"-"`
}
