package access

import (
	"context"
	"fmt"

	"parley/core/chat"
	"parley/storage"
)

const homes = storage.Typed[chat.Key]("access_homes") // by person

// HomeOf returns the home chat of the person with that id. It reports whether
// one is set.
func (a *Access) HomeOf(ctx context.Context, person string) (chat.Key, bool, error) {
	k, _, err := homes.Get(ctx, a.store, person)
	return k, !k.IsZero(), err
}

// SetHome makes a chat, or a thread of one, the place where somebody's results
// and questions go by themselves: their private chat with parley, or a group
// chat where it answers. The change is not conditional.
func (a *Access) SetHome(ctx context.Context, who chat.User, at chat.Key) (Change, error) {
	s, err := a.standing(ctx, who.ID)
	if err != nil {
		return Change{}, err
	}
	if s.granted == None || who.Bot {
		return refuse("no role", "Only people who were let in have a home chat here."), nil
	}
	own, err := a.private(ctx, who.ID, at)
	if err != nil {
		return Change{}, err
	}
	allowed, _, err := a.Room(ctx, at)
	if err != nil {
		return Change{}, err
	}
	if !own && !allowed {
		return refuse("home in a closed chat", "I do not answer in this chat, so it cannot be your home. Send /sethome in our private chat or in a group where I answer."), nil
	}
	return Change{
		Ops:   []storage.Op{homes.Set(s.id, at)},
		Reply: "This chat is your home now: results of background work and questions to you come here.",
		Why:   fmt.Sprintf("home of %s set to %s", s.id, at),
	}, nil
}

// moveHomes keeps the thread: a platform that renames a chat keeps its threads'
// ids.
func (a *Access) moveHomes(ctx context.Context, from, to chat.Key) ([]storage.Op, error) {
	all, err := homes.All(ctx, a.store, "")
	if err != nil {
		return nil, err
	}
	var ops []storage.Op
	for person, home := range all {
		if room(home) == from {
			ops = append(ops, homes.Set(person, chat.Key{Adapter: to.Adapter, Chat: to.Chat, Thread: home.Thread}))
		}
	}
	return ops, nil
}
