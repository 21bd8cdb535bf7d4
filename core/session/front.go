package session

import (
	"context"
	"time"

	"parley/core/ask"
	"parley/core/chat"
	"parley/core/llm"
	"parley/storage"
)

// Front is the gateway as a conversation sees it: who knows the commands and
// finds the words. Its methods are called on the goroutine of the actor, so
// they must not wait for anything but the store; several actors call at once.
type Front interface {
	// Command reports whether the event is a chat command, typed or pressed.
	Command(ev chat.Event) bool

	// Run runs a command. It changes nothing itself: what is to happen is in
	// the Effect, which the actor commits together with taking the event off
	// the inbox. When that commit meets storage.ErrConflict, Run is called
	// again. An error is shown to the person as an internal one.
	Run(ctx context.Context, ev chat.Event, s Scene) (Effect, error)

	// Admits reports whether the sender may still talk here. It is asked when
	// a message is taken, which may be long after it was accepted.
	Admits(ctx context.Context, ev chat.Event) (bool, error)

	// Panel says who may answer a request and in which chats it is shown.
	Panel(ctx context.Context, a Asking) (Panel, error)

	// Present says how something that happened looks in the chat. It is pure.
	// The posts come back without ID, Turn and Answers, which are the
	// session's to give; none means that there is nothing to show.
	Present(s Scene, h Happening) []chat.Post
}

// Scene is what a command gets to know about the conversation it was said in.
type Scene struct {
	Key     chat.Key
	Session string // "" before the first message
	View    View
	Turn    string     // the running turn, "" for none
	Since   time.Time  // when it started
	Waiting int        // messages behind it
	Prompt  func() int // estimates the tokens of the next prompt
	Model   llm.Info   // the model that would be asked first
	Models  []llm.Info
}

// Effect is what a command wants done, all in one commit.
type Effect struct {
	Ops   []storage.Op // at most one conditional
	Posts []Addressed  // to this chat or others; each with an ID
	Wake  []chat.Key   // conversations that the Ops gave something to do
	Act   Act          // what the conversation itself is to do, nil for nothing
	Then  func()       // is called when all that was committed; nil: nothing
}

// Asking is a request that is about to be put to people.
type Asking struct {
	Key     chat.Key  // where it comes from
	By      chat.User // whose turn it is
	Private bool      // nobody else is in that chat
	Kind    ask.Kind
}

// Addressed is a post and where it goes.
type Addressed struct {
	Key  chat.Key
	Post chat.Post
}

// Act is what a command asks of its conversation. The set is sealed: [Stop],
// [Renew], [Clear], [Pick] and [Compact]. What came of it is presented as a
// [Happening].
type Act interface{ act() }

// Stop ends the running turn and drops what was accepted before the command.
// With Only set it does so only if the turn was started by one of these
// accounts, and drops only what they sent: their access was taken back.
type Stop struct{ Only []chat.UserID }

// Renew begins a new conversation in this chat.
type Renew struct{}

// Clear forgets what was said and keeps the settings.
type Clear struct{}

// Pick chooses a model by its name, "" for the configured order.
type Pick struct{ Model string }

// Compact sums up the older part now.
type Compact struct{}

func (Stop) act()    {}
func (Renew) act()   {}
func (Clear) act()   {}
func (Pick) act()    {}
func (Compact) act() {}

// Happening is something that a chat should see. The set is sealed: [Spoke],
// [Showed], [Postponed], [Halted], [Overtaken], [Faltered], [Dismissed], [Renewed], [Wiped],
// [Picked], [Compacted] and [Puzzled].
type Happening interface{ happening() }

// Spoke is the text of a round. Notes are sentences of parley's own about how
// it came about.
type Spoke struct {
	Text    string
	Notes   []string
	Last    bool           // it ends the turn
	Cut     bool           // it met the model's output limit
	ReplyTo chat.MessageID // the message that the turn began with
}

// Showed is what a tool has for the people in the chat.
type Showed struct {
	Text  string
	Files []chat.File
}

// Postponed says to somebody who writes while the turn waits for the answer to
// a request that their message is read next.
type Postponed struct{ For string }

// Halted says what /stop did.
type Halted struct {
	Turn      bool   // a turn was running
	Shown     string // what of its answer stands in the chat already
	Dropped   int    // messages that waited and are gone
	Withdrawn bool   // the rest of the last answer, not yet shown, is gone
}

// Overtaken says that a command was dropped by a /stop before it ran.
type Overtaken struct{}

// Faltered says that a turn ended without an answer.
type Faltered struct {
	How      How
	Sentence string // for the person: cause and remedy
	ReplyTo  chat.MessageID
}

// Dismissed says that a message was taken from somebody who may no longer
// talk here.
type Dismissed struct{ By chat.User }

// Renewed says that a new conversation began.
type Renewed struct{}

// Wiped says that the conversation was cleared.
type Wiped struct{}

// Picked says which model answers first from now on, "" for the configured
// order.
type Picked struct{ Model string }

// Compacted says what /compact did. Before and After are estimated tokens.
type Compacted struct {
	Before, After int
	Sentence      string // why it did not work, "" if it did
}

// Puzzled says that a command could not be run; Ref stands beside the cause in
// the log.
type Puzzled struct{ Ref string }

func (Spoke) happening()     {}
func (Showed) happening()    {}
func (Postponed) happening() {}
func (Halted) happening()    {}
func (Overtaken) happening() {}
func (Faltered) happening()  {}
func (Dismissed) happening() {}
func (Renewed) happening()   {}
func (Wiped) happening()     {}
func (Picked) happening()    {}
func (Compacted) happening() {}
func (Puzzled) happening()   {}
