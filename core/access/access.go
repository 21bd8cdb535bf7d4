package access

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// Access answers questions about people and chats, and works out changes. It
// holds the configuration and nothing else.
type Access struct {
	store     storage.Table
	door      Door
	mode      Mode
	listed    map[chat.UserID]Role // what config.yaml grants
	local     map[chat.UserID]bool
	bots      map[chat.UserID]bool
	chats     map[chat.Key]bool // allowed by config.yaml
	approving map[Role]bool
	approvers map[chat.UserID]bool // named by account
	now       func() time.Time
	rand      io.Reader
}

// New returns an Access that reads from store. It touches nothing; an error is
// the configuration's.
func New(store storage.Table, c Config) (*Access, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	a := &Access{
		store:  store,
		door:   orElse(c.DM, Pairing),
		mode:   orElse(c.Groups, Mention),
		listed: make(map[chat.UserID]Role),
		local:  set(c.Local),
		bots:   set(c.Bots),
		chats:  make(map[chat.Key]bool),
		now:    c.Now,
		rand:   c.Rand,
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.rand == nil {
		a.rand = rand.Reader
	}
	a.list(c)
	a.appoint(c.Approvers)
	return a, nil
}

// list notes whom and which chats a valid configuration names.
func (a *Access) list(c Config) {
	for _, id := range c.Members {
		a.listed[id] = Member
	}
	for _, ids := range [][]chat.UserID{c.Owners, c.Local} {
		for _, id := range ids {
			a.listed[id] = Owner
		}
	}
	for _, text := range c.Chats {
		if k, err := chat.ParseKey(text); err == nil {
			a.chats[room(k)] = true
		}
	}
}

// appoint notes who may approve: roles and accounts, which cannot be mistaken
// for each other, since an account has a colon.
func (a *Access) appoint(names []string) {
	if len(names) == 0 {
		names = []string{string(Owner), string(Admin)}
	}
	a.approving, a.approvers = make(map[Role]bool), make(map[chat.UserID]bool)
	for _, name := range names {
		if r, ok := ParseRole(name); ok {
			a.approving[r] = true
		} else {
			a.approvers[chat.UserID(name)] = true
		}
	}
}

// After returns an Access that sees the rows as the given ops will leave them.
// With it the events of one batch are judged in their order although they are
// committed together:
//
//	for _, ev := range events {
//		v, err := a.After(ops).Judge(ctx, ev)
//		…
//		ops = append(ops, v.Ops...)
//	}
func (a *Access) After(ops []storage.Op) *Access {
	if len(ops) == 0 {
		return a
	}
	later := *a
	later.store = pending{a.store, ops}
	return &later
}

// Change is what a command comes to. The caller applies Ops together with the
// reply; on [storage.ErrConflict] it calls the method again.
type Change struct {
	Ops     []storage.Op
	Reply   string    // what the person who asked is told, Markdown
	Whom    chat.User // the person a role was given to or taken from, by name and account
	Refused bool      // nothing was granted or set; Ops then only count the attempt
	Told    []Tell    // what others are told
	// Revoked are accounts that may do less now: their turns must be stopped.
	Revoked []chat.UserID
	Why     string // for the log and the audit
}

// Tell is a notice for somebody else's chat.
type Tell struct {
	Key  chat.Key
	Text string // Markdown
}

// refuse is a change that is none: a reason for the log, a sentence for the
// person.
func refuse(why, reply string) Change {
	return Change{Reply: reply, Refused: true, Why: why}
}

// rosterRow is the one row that every change of people swaps. Its content is
// for reading only; its revision is what counts.
type rosterRow struct {
	At  time.Time   `json:"at"`
	By  chat.UserID `json:"by,omitempty"`
	Why string      `json:"why,omitempty"`
}

const (
	roster    = storage.Typed[rosterRow]("access_roster")
	rosterKey = "roster"
)

// begin returns the roster's revision. Whatever is read after it still stands
// when the ops that [Access.seal] makes with it are applied.
func (a *Access) begin(ctx context.Context) (uint64, error) {
	_, rev, err := roster.Get(ctx, a.store, rosterKey)
	return rev, err
}

// seal puts the condition in front of the ops of a change.
func (a *Access) seal(rev uint64, by chat.UserID, why string, ops ...storage.Op) ([]storage.Op, error) {
	id, err := a.nonce()
	if err != nil {
		return nil, err
	}
	row := rosterRow{At: a.now(), By: by, Why: why}
	return append([]storage.Op{roster.Swap(rosterKey, row, rev, id)}, ops...), nil
}

// nonce names one attempt at a conditional op, so that repeating the batch is
// not taken for another change.
func (a *Access) nonce() (string, error) {
	var b [12]byte
	if _, err := io.ReadFull(a.rand, b[:]); err != nil {
		return "", fmt.Errorf("reading random bytes: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// orElse is v, or the fallback for an empty one.
func orElse[T ~string](v, fallback T) T {
	if v == "" {
		return fallback
	}
	return v
}

func set[T comparable](values []T) map[T]bool {
	m := make(map[T]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}
