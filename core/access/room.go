package access

import (
	"context"
	"fmt"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// roomRow is what commands said of a group chat. Threads have no row of their
// own.
type roomRow struct {
	Mode    Mode        `json:"mode,omitempty"`
	Allowed bool        `json:"allowed,omitempty"` // by command, apart from config.yaml
	By      chat.UserID `json:"by,omitempty"`
	At      time.Time   `json:"at"`
}

const rooms = storage.Typed[roomRow]("access_chats")

// room is the chat that a thread belongs to, and a chat itself.
func room(k chat.Key) chat.Key { return chat.Key{Adapter: k.Adapter, Chat: k.Chat} }

// Room says whether parley answers in a group chat and when it listens there.
// A private chat is no room: nothing is said about it.
func (a *Access) Room(ctx context.Context, k chat.Key) (allowed bool, mode Mode, err error) {
	row, _, err := rooms.Get(ctx, a.store, room(k).String())
	if err != nil {
		return false, Off, err
	}
	return row.Allowed || a.chats[room(k)], orElse(row.Mode, a.mode), nil
}

// private reports whether a chat is the private one of an account. The bodies
// that do not say so themselves are judged by it.
func (a *Access) private(ctx context.Context, account chat.UserID, k chat.Key) (bool, error) {
	row, _, err := seen.Get(ctx, a.store, string(account))
	return !k.IsZero() && row.Chat == room(k), err
}

// SetMention sets when parley listens in a group chat, and with that lets the
// chat be answered at all. Owners and admins may. An empty word tells how it is
// now. The change is not conditional: the last one counts.
func (a *Access) SetMention(ctx context.Context, by chat.User, at chat.Key, word string) (Change, error) {
	alone, err := a.private(ctx, by.ID, at)
	if err != nil {
		return Change{}, err
	}
	if alone {
		return refuse("private chat", "This is a private chat: I always answer here. /mention is for group chats."), nil
	}
	if clean(word) == "" {
		return a.tellMention(ctx, at)
	}
	mode, ok := ParseMode(word)
	if !ok {
		return refuse("unknown mode", fmt.Sprintf("%s is none of the modes: say /mention with mention, always or off.", typed(word))), nil
	}
	mine, err := a.authority(ctx, by)
	if err != nil {
		return Change{}, err
	}
	if mine.below(Admin) {
		return refuse("not an admin", "Only owners and admins can say when I listen here; ask one of them."), nil
	}
	return a.setMode(ctx, by.ID, room(at), mode)
}

// tellMention is no secret: everybody in the chat can see when parley answers.
func (a *Access) tellMention(ctx context.Context, at chat.Key) (Change, error) {
	allowed, mode, err := a.Room(ctx, at)
	if err != nil {
		return Change{}, err
	}
	if !allowed {
		return Change{Reply: closedRoom(at)}, nil
	}
	return Change{Reply: mode.phrase() + ". /mention mention, always or off changes that."}, nil
}

// setMode allows the chat along with setting its mode.
func (a *Access) setMode(ctx context.Context, by chat.UserID, at chat.Key, mode Mode) (Change, error) {
	row, _, err := rooms.Get(ctx, a.store, at.String())
	if err != nil {
		return Change{}, err
	}
	row.Mode, row.By, row.At = mode, by, a.now()
	// A chat of config.yaml stays its: taking it out there takes effect.
	row.Allowed = row.Allowed || !a.chats[at]
	return Change{
		Ops:   []storage.Op{rooms.Set(at.String(), row)},
		Reply: mode.phrase() + ".",
		Why:   fmt.Sprintf("mention mode of %s set to %s", at, mode),
	}, nil
}

// closedRoom tells somebody who may do it how a group chat is allowed.
func closedRoom(at chat.Key) string {
	return fmt.Sprintf("I do not answer in this chat yet. To allow it, send /mention mention here, or add %s to access.chats in config.yaml.", mono(room(at).String()))
}

// Moved returns the ops that let a chat keep its permission, its mode and the
// homes in it under a new key. None is conditional, and a second call is
// harmless: what was set under the new key already is kept.
func (a *Access) Moved(ctx context.Context, from, to chat.Key) ([]storage.Op, error) {
	from, to = room(from), room(to)
	if from == to || from.IsZero() || to.IsZero() {
		return nil, nil
	}
	ops, err := a.moveHomes(ctx, from, to)
	if err != nil {
		return nil, err
	}
	old, rev, err := rooms.Get(ctx, a.store, from.String())
	if err != nil {
		return nil, err
	}
	if rev != storage.NewRev {
		ops = append(ops, rooms.Remove(from.String()))
	}
	_, settled, err := rooms.Get(ctx, a.store, to.String())
	if err != nil || settled != storage.NewRev {
		return ops, err
	}
	if old.Allowed = old.Allowed || a.chats[from]; old.Allowed || rev != storage.NewRev {
		ops = append(ops, rooms.Set(to.String(), old))
	}
	return ops, nil
}
