package chat

import (
	"fmt"
	"net/url"
	"strings"
)

// Key names one conversation: a chat of one adapter, or one thread in it. It
// is comparable and is used as a map key; the zero Key names nothing.
type Key struct {
	Adapter string // the adapter's name in the configuration: "telegram"
	Chat    string // the platform's id of the chat
	Thread  string // the platform's id of the thread or topic, "" for none
}

// String returns the stable text form of the key, "telegram:-100123/45". It is
// what the store keeps; [ParseKey] reads it back.
func (k Key) String() string {
	if k.Thread == "" {
		return k.Adapter + ":" + url.PathEscape(k.Chat)
	}
	return k.Adapter + ":" + url.PathEscape(k.Chat) + "/" + url.PathEscape(k.Thread)
}

// IsZero reports whether the key names nothing.
func (k Key) IsZero() bool { return k == Key{} }

// ParseKey reads the form that [Key.String] writes. The error quotes the text
// and says what is missing.
func ParseKey(s string) (Key, error) {
	adapter, rest, found := strings.Cut(s, ":")
	if !found || adapter == "" || rest == "" {
		return Key{}, fmt.Errorf("parsing chat key %q: want ADAPTER:CHAT or ADAPTER:CHAT/THREAD", s)
	}
	id, thread, _ := strings.Cut(rest, "/")
	k := Key{Adapter: adapter}
	var err error
	if k.Chat, err = url.PathUnescape(id); err != nil {
		return Key{}, fmt.Errorf("parsing chat key %q: %w", s, err)
	}
	if k.Thread, err = url.PathUnescape(thread); err != nil {
		return Key{}, fmt.Errorf("parsing chat key %q: %w", s, err)
	}
	return k, nil
}

// MarshalText writes the key as [Key.String] does, so that it can be a JSON
// value and a JSON map key.
func (k Key) MarshalText() ([]byte, error) {
	if k.IsZero() {
		return nil, nil
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*k = Key{}
		return nil
	}
	parsed, err := ParseKey(string(b))
	if err != nil {
		return err
	}
	*k = parsed
	return nil
}

// UserID names one account on one platform by the platform's unchanging id,
// "telegram:123456". A handle can be given up and taken by somebody else; this
// id cannot, so every decision about a person is made on it.
type UserID string

// Adapter returns the name of the adapter the account belongs to, "" for an
// id that has none.
func (u UserID) Adapter() string {
	adapter, _, found := strings.Cut(string(u), ":")
	if !found {
		return ""
	}
	return adapter
}

// MessageID is the platform's id of one message within its chat.
type MessageID string

// User is the person or bot behind an event.
type User struct {
	ID     UserID `json:"id"`
	Handle string `json:"handle,omitempty"` // "@ada"; for showing only
	Name   string `json:"name,omitempty"`   // for showing only
	Bot    bool   `json:"bot,omitempty"`
}

// Label returns the best name to show for the user, never empty for a user
// that has an id.
func (u User) Label() string {
	switch {
	case u.Name != "":
		return u.Name
	case u.Handle != "":
		return u.Handle
	default:
		return string(u.ID)
	}
}
