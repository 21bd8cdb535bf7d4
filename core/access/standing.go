package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// personRow is what commands granted. What config.yaml grants is added when it
// is read and never stored, so that taking it out there takes effect.
type personRow struct {
	Name     string        `json:"name,omitempty"`
	Role     Role          `json:"role,omitempty"`
	Removed  bool          `json:"removed,omitempty"` // by somebody, rather than never let in
	Accounts []chat.UserID `json:"accounts"`
	By       chat.UserID   `json:"by,omitempty"` // who decided last
	At       time.Time     `json:"at"`
}

// accountRow says whose an account is.
type accountRow struct {
	Person string `json:"person"`
}

const (
	people   = storage.Typed[personRow]("access_people")
	accounts = storage.Typed[accountRow]("access_accounts")
)

// standing is what a person may do at one moment, and why.
type standing struct {
	id      string
	row     personRow
	stored  bool
	listed  Role // what config.yaml gives any of the accounts
	granted Role // by config.yaml or by command
	role    Role // granted, or guest where strangers may talk
}

// removed reports whether the person was shut out by somebody.
func (s standing) removed() bool { return s.row.Removed && s.listed == None }

func (s standing) owns(account chat.UserID) bool { return slices.Contains(s.row.Accounts, account) }

// weigh works out the standing of a person from the row and the configuration.
func (a *Access) weigh(id string, row personRow, stored bool) standing {
	s := standing{id: id, row: row, stored: stored}
	bot := false
	for _, account := range row.Accounts {
		s.listed = higher(s.listed, a.listed[account])
		bot = bot || a.bots[account]
	}
	s.granted = higher(s.listed, row.Role) // a word that is no role grants nothing
	if bot && !s.removed() {
		s.granted = bounded(s.granted)
	}
	s.role = s.granted
	if s.role == None && a.door == Open && !s.removed() {
		s.role = Guest
	}
	return s
}

// bounded keeps a bot that may talk between guest and member: what it says can
// be put into its mouth by anybody it listens to.
func bounded(r Role) Role {
	switch {
	case r.below(Guest):
		return Guest
	case Member.below(r):
		return Member
	default:
		return r
	}
}

// standing finds the person behind an account.
func (a *Access) standing(ctx context.Context, account chat.UserID) (standing, error) {
	if account == CLI {
		return standing{id: string(CLI), row: personRow{Accounts: []chat.UserID{CLI}}, listed: Owner, granted: Owner, role: Owner}, nil
	}
	// Two reads are not one moment: an account may be linked to somebody
	// else between them, and the person it belonged to be gone.
	for range 3 {
		link, rev, err := accounts.Get(ctx, a.store, string(account))
		if err != nil {
			return standing{}, err
		}
		if rev == storage.NewRev {
			return a.stranger(ctx, account)
		}
		row, rev, err := people.Get(ctx, a.store, link.Person)
		if err != nil {
			return standing{}, err
		}
		if rev != storage.NewRev && slices.Contains(row.Accounts, account) {
			return a.weigh(link.Person, row, true), nil
		}
	}
	return a.stranger(ctx, account)
}

// stranger is the standing of an account that no command granted anything.
func (a *Access) stranger(ctx context.Context, account chat.UserID) (standing, error) {
	id, err := a.freeID(ctx, account)
	if err != nil {
		return standing{}, err
	}
	return a.weigh(id, personRow{Accounts: []chat.UserID{account}}, false), nil
}

// freeID is the id of the person that an account would become: the account's
// own, unless a person it was taken out of goes by that.
func (a *Access) freeID(ctx context.Context, account chat.UserID) (string, error) {
	id := string(account)
	for n := 2; ; n++ {
		_, rev, err := people.Get(ctx, a.store, id)
		if err != nil || rev == storage.NewRev {
			return id, err
		}
		id = fmt.Sprintf("%s#%d", account, n)
	}
}

// everyone is all people with a row or a line in config.yaml, in order of
// their ids.
func (a *Access) everyone(ctx context.Context) ([]standing, error) {
	rows, err := people.All(ctx, a.store, "")
	if err != nil {
		return nil, err
	}
	var all []standing
	taken := make(map[chat.UserID]bool)
	for id, row := range rows {
		all = append(all, a.weigh(id, row, true))
		for _, account := range row.Accounts {
			taken[account] = true
		}
	}
	for account := range a.listed {
		if taken[account] {
			continue
		}
		s, err := a.stranger(ctx, account)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y standing) int { return strings.Compare(x.id, y.id) })
	return all, nil
}

// reachableOwners lists the owners who do not depend on this machine.
func (a *Access) reachableOwners(ctx context.Context) ([]standing, error) {
	all, err := a.everyone(ctx)
	return slices.DeleteFunc(all, func(s standing) bool {
		return s.role != Owner || !slices.ContainsFunc(s.row.Accounts, func(u chat.UserID) bool { return !a.local[u] })
	}), err
}

// grant is a change of a person's role, and of what hangs on it.
func (a *Access) grant(s standing, name string, to Role, by chat.UserID) []storage.Op {
	s.row.Name = orElse(s.row.Name, clean(name))
	s.row.Role, s.row.Removed, s.row.By, s.row.At = to, to == None, by, a.now()
	ops := s.keep()
	if to == None {
		ops = append(ops, codes.Remove(linkKey+s.id))
	}
	return ops
}

// keep writes a person's row and makes the accounts theirs.
func (s standing) keep() []storage.Op {
	ops := []storage.Op{people.Set(s.id, s.row)}
	for _, account := range s.row.Accounts {
		ops = append(ops, accounts.Set(string(account), accountRow{s.id}), pairings.Remove(string(account)))
	}
	return ops
}
