package ask

import (
	"context"
	"maps"
	"slices"
	"strings"

	"parley/core/chat"
	"parley/storage"
)

// Get returns a request by its id, typed or not, and whether there is one.
func (a *Asks) Get(ctx context.Context, id string) (Request, bool, error) {
	r, rev, err := a.read(ctx, id)
	return r, rev != storage.NewRev, err
}

// ForSession lists the requests of a session, the oldest first, settled ones
// too: a session that is resumed finds its answers here. What was settled more
// than seven days ago may be missing.
func (a *Asks) ForSession(ctx context.Context, session string) ([]Request, error) {
	return a.follow(ctx, inSession(session), func(r Request) bool { return r.Session == session })
}

// ForPerson lists what is open and may be answered by one of these accounts,
// the oldest first: somebody's inbox.
func (a *Asks) ForPerson(ctx context.Context, accounts ...chat.UserID) ([]Request, error) {
	now := a.now()
	return a.follow(ctx, dueAt, func(r Request) bool {
		return r.State == Open && !r.due(now) && slices.ContainsFunc(r.Answerers, func(u chat.UserID) bool {
			return slices.Contains(accounts, u)
		})
	})
}

// OpenIn lists the clarifications that somebody's next message in a chat may
// answer, the oldest first. Other kinds are not among them: what one says to
// the agent must not by accident approve a call or go to an MCP server.
func (a *Asks) OpenIn(ctx context.Context, k chat.Key, who chat.UserID) ([]Request, error) {
	now := a.now()
	return a.follow(ctx, inChat(k), func(r Request) bool {
		return r.Kind == Clarification && r.State == Open && !r.due(now) &&
			slices.Contains(r.Answerers, who) && slices.Contains(r.keys(), k)
	})
}

// All lists every request that is kept, the oldest first.
func (a *Asks) All(ctx context.Context) ([]Request, error) {
	all, err := rows.All(ctx, a.store, "")
	if err != nil {
		return nil, err
	}
	return ordered(slices.Collect(maps.Values(all))), nil
}

// follow reads the rows that a part of the index leads to.
func (a *Asks) follow(ctx context.Context, prefix string, want func(Request) bool) ([]Request, error) {
	entries, err := index.All(ctx, a.store, prefix)
	if err != nil {
		return nil, err
	}
	var list []Request
	for key := range entries {
		r, rev, err := rows.Get(ctx, a.store, entered(key))
		if err != nil {
			return nil, err
		}
		if rev != storage.NewRev && want(r) {
			list = append(list, r)
		}
	}
	return ordered(list), nil
}

func ordered(list []Request) []Request {
	slices.SortFunc(list, func(x, y Request) int {
		if c := x.Asked.Compare(y.Asked); c != 0 {
			return c
		}
		return strings.Compare(x.ID, y.ID)
	})
	return list
}
