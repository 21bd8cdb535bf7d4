package session

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// Names of what a conversation keeps in the store, beside its log.
const (
	// Inbox is the queue of accepted events, by [chat.Key.String] and lane.
	Inbox = "inbox"
	// Control is the lane that is drained first, also while a turn runs.
	Control = "control"
	// Messages is the lane of what people say, and of the commands that
	// change the conversation and so keep their place.
	Messages = "messages"

	routes   storage.Typed[string]   = "routes"   // key -> session id
	sessions storage.Typed[Row]      = "sessions" // session id -> where its log begins
	turns    storage.Typed[OpenTurn] = "turns"    // session id -> its unfinished turn
)

// Row is what the store holds of a conversation beside its log.
type Row struct {
	Key  chat.Key  `json:"key"`
	From uint64    `json:"from"` // the log is read from here on
	Born time.Time `json:"born"`
}

// OpenTurn is the row of a conversation whose turn has not ended: what a start
// has to resume.
type OpenTurn struct {
	Key   chat.Key  `json:"key"`
	Turn  string    `json:"turn"`
	By    chat.User `json:"by"`
	Since time.Time `json:"since"`
}

func stream(session string) string { return "session/" + session }

// newID returns 16 characters that nobody can guess.
func newID() string {
	var b [10]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// Busy lists the conversations that have an open turn or waiting events. The
// inbox is read first: what leaves it meanwhile has opened a turn by then, so
// nobody slips through between the two.
func Busy(ctx context.Context, store storage.Store) ([]chat.Key, error) {
	seen := make(map[chat.Key]bool)
	lanes, err := store.Lanes(ctx, Inbox)
	if err != nil {
		return nil, err
	}
	for _, l := range lanes {
		key, err := chat.ParseKey(l.Key)
		if err != nil {
			return nil, err
		}
		seen[key] = true
	}
	open, err := turns.All(ctx, store, "")
	if err != nil {
		return nil, err
	}
	for _, t := range open {
		seen[t.Key] = true
	}
	return slices.Collect(maps.Keys(seen)), nil
}

// ReadLog returns the whole log of the conversation that a chat is in, from
// its first entry on; none when there is no conversation.
func ReadLog(ctx context.Context, store storage.Store, key chat.Key) ([]Entry, error) {
	id, _, err := routes.Get(ctx, store, key.String())
	if err != nil || id == "" {
		return nil, err
	}
	var entries []Entry
	err = each(ctx, store, stream(id), 1, func(e Entry) { entries = append(entries, e) })
	return entries, err
}
