package chat

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is one thing that happened in a chat. The header says where and who,
// the Body says what.
type Event struct {
	// ID names what happened, the same on every redelivery by the platform.
	// Accept keeps it for seven days and drops what it has seen.
	ID     string
	Key    Key
	From   User
	At     time.Time
	Ticket string // the adapter's handle on a live press or slash command, "" for none
	Body   Body
}

// Body is what happened. The set is sealed; a switch over it must have a case
// for each of [Said], [Edited], [Deleted], [Pressed], [Located], [Joined],
// [Moved] and [Reported].
type Body interface{ body() }

// Said is a message. A typed chat command is a Said, and so is a slash command
// of a platform that has them: Text is then the command line.
type Said struct {
	Message   MessageID `json:"message,omitempty"`
	Text      string    `json:"text,omitempty"`
	Files     []File    `json:"files,omitempty"`
	Quoted    *Quote    `json:"quoted,omitempty"`
	Album     string    `json:"album,omitempty"`     // the platform's id of the group the files came in
	Addressed bool      `json:"addressed,omitempty"` // the bot was mentioned, replied to or commanded
	Private   bool      `json:"private,omitempty"`   // nobody but the sender and the bot is in this chat
}

// Edited says that the sender of a message changed its text.
type Edited struct {
	Message MessageID `json:"message"`
	Text    string    `json:"text"`
}

// Deleted says that a message was removed.
type Deleted struct {
	Message MessageID `json:"message"`
}

// Pressed says that somebody pressed a button. Line is a command line: a press
// is a chat command, and means exactly what typing it would.
type Pressed struct {
	Message MessageID `json:"message,omitempty"`
	Line    string    `json:"line"`
	Private bool      `json:"private,omitempty"`
}

// Located is a position that a person shares; it updates a silent fact and
// starts no turn.
type Located struct {
	Latitude  float64       `json:"latitude"`
	Longitude float64       `json:"longitude"`
	Live      time.Duration `json:"live,omitempty"` // how long it will be kept current, 0 for a single position
}

// Joined says that the bot was taken into a chat.
type Joined struct {
	Title string `json:"title,omitempty"`
}

// Moved says that the chat goes on under another key.
type Moved struct {
	To Key `json:"to"`
}

// Reported is the result of work that was started from this chat.
type Reported struct {
	Task string `json:"task"`
	Text string `json:"text"`
}

func (Said) body()     {}
func (Edited) body()   {}
func (Deleted) body()  {}
func (Pressed) body()  {}
func (Located) body()  {}
func (Joined) body()   {}
func (Moved) body()    {}
func (Reported) body() {}

// Quote is the message that a message replies to: outside text, to be shown to
// the model as data.
type Quote struct {
	Message  MessageID `json:"message,omitempty"`
	Author   string    `json:"author,omitempty"`
	Text     string    `json:"text,omitempty"`
	Fragment bool      `json:"fragment,omitempty"` // Text is a part that the person picked by hand
	Media    string    `json:"media,omitempty"`    // what kind of media it carried: "photo", "voice"
}

// File is a file in a message, in or out. An incoming file is named by the
// platform (Remote) until it was fetched, and by its blob afterwards; an
// outgoing one always has a blob.
type File struct {
	Name   string `json:"name,omitempty"`   // as the sender called it: untrusted
	Type   string `json:"type,omitempty"`   // media type, "image/png"; untrusted
	Size   int64  `json:"size,omitempty"`   // bytes as announced, 0 when unknown
	Remote string `json:"remote,omitempty"` // the adapter's own handle for Fetch
	Blob   string `json:"blob,omitempty"`   // id in the blob store
	Voice  bool   `json:"voice,omitempty"`  // a voice note rather than a file
	Inline bool   `json:"inline,omitempty"` // show it as picture or video where the platform can
}

// eventWire is the stored form of an Event: the body's kind beside its value.
type eventWire struct {
	ID     string          `json:"id"`
	Key    Key             `json:"key"`
	From   User            `json:"from"`
	At     time.Time       `json:"at"`
	Ticket string          `json:"ticket,omitempty"`
	Kind   string          `json:"kind"`
	Body   json.RawMessage `json:"body"`
}

// MarshalJSON writes the stored form. An event without a body is an error.
func (e Event) MarshalJSON() ([]byte, error) {
	kind, err := bodyKind(e.Body)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(eventWire{e.ID, e.Key, e.From, e.At, e.Ticket, kind, body})
}

// UnmarshalJSON reads the stored form. A kind that this version does not know
// is an error that names it.
func (e *Event) UnmarshalJSON(b []byte) error {
	var w eventWire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	body, err := decodeBody(w.Kind, w.Body)
	if err != nil {
		return err
	}
	*e = Event{w.ID, w.Key, w.From, w.At, w.Ticket, body}
	return nil
}

func bodyKind(b Body) (string, error) {
	switch b.(type) {
	case Said:
		return "said", nil
	case Edited:
		return "edited", nil
	case Deleted:
		return "deleted", nil
	case Pressed:
		return "pressed", nil
	case Located:
		return "located", nil
	case Joined:
		return "joined", nil
	case Moved:
		return "moved", nil
	case Reported:
		return "reported", nil
	default:
		return "", fmt.Errorf("encoding event: unknown body %T", b)
	}
}

func decodeBody(kind string, raw json.RawMessage) (Body, error) {
	switch kind {
	case "said":
		return decodeAs[Said](raw)
	case "edited":
		return decodeAs[Edited](raw)
	case "deleted":
		return decodeAs[Deleted](raw)
	case "pressed":
		return decodeAs[Pressed](raw)
	case "located":
		return decodeAs[Located](raw)
	case "joined":
		return decodeAs[Joined](raw)
	case "moved":
		return decodeAs[Moved](raw)
	case "reported":
		return decodeAs[Reported](raw)
	default:
		return nil, fmt.Errorf("decoding event: unknown kind %q", kind)
	}
}

func decodeAs[T Body](raw json.RawMessage) (Body, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}
