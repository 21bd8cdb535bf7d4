package access

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// Person is one human with all their accounts. Somebody who is unknown is a
// Person, too, with the role None (or Guest, where strangers may talk) and one
// account.
type Person struct {
	ID       string // stays the same for as long as the person exists
	Name     string // for showing, cleaned; never empty
	Role     Role
	Accounts []chat.UserID
	Private  map[string]chat.Key // the private chat with each adapter, where one is known
	Home     chat.Key            // where results and questions go by themselves, zero: nowhere
}

// seenRow is what an account was called and where it last wrote in private. It
// is apart from the person so that Judge can write it without a condition.
type seenRow struct {
	Name string    `json:"name,omitempty"`
	Chat chat.Key  `json:"chat,omitzero"`
	At   time.Time `json:"at"` // to the week
}

const seen = storage.Typed[seenRow]("access_seen") // by account

// person adds what is known of the accounts to a standing.
func (a *Access) person(ctx context.Context, s standing) (Person, error) {
	p := Person{ID: s.id, Name: s.row.Name, Role: s.role, Accounts: slices.Clone(s.row.Accounts), Private: make(map[string]chat.Key)}
	for _, account := range s.row.Accounts {
		row, _, err := seen.Get(ctx, a.store, string(account))
		if err != nil {
			return Person{}, err
		}
		p.Name = orElse(p.Name, row.Name)
		if _, earlier := p.Private[account.Adapter()]; !earlier && !row.Chat.IsZero() {
			p.Private[account.Adapter()] = row.Chat
		}
	}
	p.Name = orElse(p.Name, s.id)
	var err error
	p.Home, _, err = a.HomeOf(ctx, s.id)
	return p, err
}

// persons is person for many.
func (a *Access) persons(ctx context.Context, all []standing) ([]Person, error) {
	var list []Person
	for _, s := range all {
		p, err := a.person(ctx, s)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// PersonOf returns the person behind an account.
func (a *Access) PersonOf(ctx context.Context, account chat.UserID) (Person, error) {
	s, err := a.standing(ctx, account)
	if err != nil {
		return Person{}, err
	}
	return a.person(ctx, s)
}

// People lists everybody who was ever granted or refused something by name, in
// order of their ids; removed people have the role None.
func (a *Access) People(ctx context.Context) ([]Person, error) {
	all, err := a.everyone(ctx)
	if err != nil {
		return nil, err
	}
	return a.persons(ctx, all)
}

// RoleOf returns what an account may do now. It is cheap and is to be asked
// again rather than kept.
func (a *Access) RoleOf(ctx context.Context, account chat.UserID) (Role, error) {
	s, err := a.standing(ctx, account)
	return s.role, err
}

// PrivateChat returns the private chat with the person behind an account: on
// the given adapter, or with "" on any, the account's own first. It reports
// whether one is known.
func (a *Access) PrivateChat(ctx context.Context, account chat.UserID, adapter string) (chat.Key, bool, error) {
	s, err := a.standing(ctx, account)
	if err != nil {
		return chat.Key{}, false, err
	}
	for _, mine := range append([]chat.UserID{account}, s.row.Accounts...) {
		if adapter != "" && mine.Adapter() != adapter {
			continue
		}
		row, _, err := seen.Get(ctx, a.store, string(mine))
		if err != nil || !row.Chat.IsZero() {
			return row.Chat, err == nil, err
		}
	}
	return chat.Key{}, false, nil
}

// remember returns the ops that keep what an event tells about its sender: the
// name, and in a private chat the chat. None when nothing is new.
func (a *Access) remember(ctx context.Context, from chat.User, private chat.Key) ([]storage.Op, error) {
	old, _, err := seen.Get(ctx, a.store, string(from.ID))
	if err != nil {
		return nil, err
	}
	now := seenRow{Name: nameOf(from), Chat: old.Chat, At: a.now()}
	if !private.IsZero() {
		now.Chat = room(private)
	}
	if now.Name == old.Name && now.Chat == old.Chat && a.now().Sub(old.At) < 7*day {
		return nil, nil
	}
	return []storage.Op{seen.Set(string(from.ID), now)}, nil
}

// lines lists accounts as code spans.
func lines(accounts []chat.UserID) string {
	var spans []string
	for _, account := range slices.Sorted(slices.Values(accounts)) {
		spans = append(spans, mono(string(account)))
	}
	return strings.Join(spans, ", ")
}

// privates lists a person's private chats in the order of their adapters.
func (p Person) privates() []chat.Key {
	var keys []chat.Key
	for _, adapter := range slices.Sorted(maps.Keys(p.Private)) {
		keys = append(keys, p.Private[adapter])
	}
	return keys
}
