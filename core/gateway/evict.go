package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/core/chat"
	"parley/core/session"
	"parley/storage"
)

// system is who says what parley says to itself; no adapter has such a name.
const system = chat.UserID("parley:gateway")

// backstage is the conversation that parley has with itself. Nothing of it is
// shown.
var backstage = chat.Key{Adapter: "parley", Chat: "gateway"}

// Commands that are in no table: only parley says them.
const (
	// revoke tells a conversation that accounts may no longer talk. Behind it
	// stand the accounts.
	revoke = "revoke"
	// sweep has all conversations told that have something of these accounts
	// now. Behind it stand the accounts.
	sweep = "sweep"
)

// sweeping begins the id of a sweep; the cause follows.
const sweeping = "sweep/"

// evict tells every conversation in which one of the accounts may have
// something running or waiting. The ops are to be applied together with what
// takes the access away. A turn that begins between now and then is found by a
// second look, backstage, when access is gone for sure.
func (g *Gateway) evict(ctx context.Context, cause string, accounts []chat.UserID) ([]storage.Op, []chat.Key, error) {
	if len(accounts) == 0 {
		return nil, nil, nil
	}
	words := make([]string, 0, len(accounts))
	for _, a := range accounts {
		words = append(words, string(a))
	}
	ops, keys, err := g.revocations(ctx, cause, words)
	if err != nil {
		return nil, nil, err
	}
	op, err := g.tell(backstage, sweeping+cause, sweep, words...)
	return append(ops, op), append(keys, backstage), err
}

// revocations tells every conversation that has something to do. Twice for one
// cause tells none twice.
func (g *Gateway) revocations(ctx context.Context, cause string, accounts []string) ([]storage.Op, []chat.Key, error) {
	keys, err := session.Busy(ctx, g.store)
	if err != nil {
		return nil, nil, err
	}
	keys = slices.DeleteFunc(keys, func(k chat.Key) bool { return k == backstage })
	var ops []storage.Op
	for _, key := range keys {
		op, err := g.tell(key, fmt.Sprintf("revoke/%s/%s", cause, key), revoke, accounts...)
		if err != nil {
			return nil, nil, err
		}
		ops = append(ops, op)
	}
	return ops, keys, nil
}

// tell puts a command of parley's own into a conversation's control lane.
func (g *Gateway) tell(key chat.Key, id, name string, args ...string) (storage.Op, error) {
	ev := chat.Event{
		ID: id, Key: key, From: chat.User{ID: system, Name: "parley"}, At: g.now(),
		Body: chat.Pressed{Line: "/" + strings.Join(append([]string{name}, args...), " ")},
	}
	data, err := json.Marshal(ev)
	return storage.Enqueue{Queue: session.Inbox, ID: id, Key: key.String(), Lane: session.Control, Data: data}, err
}

// internal runs what parley said to itself.
func (g *Gateway) internal(ctx context.Context, ev chat.Event, line Line) (session.Effect, error) {
	switch line.Name {
	case revoke:
		only := make([]chat.UserID, 0, len(line.Args))
		for _, a := range line.Args {
			only = append(only, chat.UserID(a))
		}
		return session.Effect{Act: session.Stop{Only: only}}, nil
	case sweep:
		ops, keys, err := g.revocations(ctx, strings.TrimPrefix(ev.ID, sweeping), line.Args)
		return session.Effect{Ops: ops, Wake: keys}, err
	default:
		return session.Effect{}, nil
	}
}
