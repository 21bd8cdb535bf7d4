package access

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/core/chat"
	"parley/storage"
)

const (
	linkLife    = 10 * time.Minute
	maxAccounts = 10 // of one person
)

// Link says that two accounts are one person's. Without a code it makes one,
// for the person who asks; with a code it takes the person who says it into
// the one who made it: their accounts, all of them, belong to that person from
// then on and have that person's role, and what they were is gone.
//
// That is refused to whoever would lose a higher role by it, who is told to do
// it the other way round, and to people who were removed, or a friend's code
// would be the way back in. Codes are for private chats: one that is said
// where others can read it is void.
func (a *Access) Link(ctx context.Context, who chat.User, at chat.Key, private bool, code string) (Change, error) {
	if who.Bot || a.bots[who.ID] || idProblem(string(who.ID)) != "" {
		return refuse("link by a bot", "Only people can link their accounts."), nil
	}
	rev, err := a.begin(ctx)
	if err != nil {
		return Change{}, err
	}
	s, err := a.standing(ctx, who.ID)
	if err != nil {
		return Change{}, err
	}
	if strings.TrimSpace(code) == "" {
		return a.linkCode(who, at, private, s)
	}
	try, err := a.guess(ctx, "link", who.ID, s.granted != None)
	if err != nil {
		return Change{}, err
	}
	if try.blocked() {
		return refuse("too many link codes", "Too many wrong codes; try again in an hour."), nil
	}
	key, row, err := a.findLink(ctx, code)
	switch {
	case err != nil:
		return Change{}, err
	case key == "":
		return a.wrong(try, "That is not a code I know. Codes are good for ten minutes: send /link from your other account for a new one.")
	case !private:
		return a.voidLink(rev, who, key)
	default:
		return a.join(ctx, rev, who, at, s, key, row)
	}
}

// linkCode makes the code of a person; an earlier one is void.
func (a *Access) linkCode(who chat.User, at chat.Key, private bool, s standing) (Change, error) {
	if s.granted == None {
		return refuse("no role", "Only people who were let in can link accounts. If you have another account here, send /link from that one and the code it gets from this one."), nil
	}
	if !private {
		return refuse("link in a group", "Others could read the code here. Send /link in our private chat."), nil
	}
	code, err := a.newCode()
	if err != nil {
		return Change{}, err
	}
	row, err := a.hashed(code)
	if err != nil {
		return Change{}, err
	}
	row.Expires, row.By, row.At = a.now().Add(linkLife), who.ID, at
	return Change{
		Ops:   []storage.Op{codes.Set(linkKey+s.id, row)},
		Reply: fmt.Sprintf("Send %s from your other account, in a private chat with me, within ten minutes. That account is then yours, too, and may do what you may: do not give the code to anybody.", mono("/link "+code)),
		Why:   "link code made by " + string(who.ID),
	}, nil
}

// findLink returns the open code that a typed one fits, "" for none. It
// compares all of them.
func (a *Access) findLink(ctx context.Context, code string) (string, codeRow, error) {
	open, err := codes.All(ctx, a.store, linkKey)
	if err != nil {
		return "", codeRow{}, err
	}
	found := ""
	for _, key := range slices.Sorted(maps.Keys(open)) {
		if fits := open[key].fits(code); fits && !open[key].expired(a.now()) {
			found = key
		}
	}
	return found, open[found], nil
}

// voidLink ends a code that others could read: the first of them to send it in
// private would be its maker.
func (a *Access) voidLink(rev uint64, who chat.User, key string) (Change, error) {
	c := refuse("link code said in a group", "Others can read that code here, so it is void now. Make a new one with /link and send it to me in a private chat.")
	var err error
	c.Ops, err = a.seal(rev, who.ID, c.Why, codes.Remove(key))
	return c, err
}

// join takes the person s into the one who made the code.
func (a *Access) join(ctx context.Context, rev uint64, who chat.User, at chat.Key, s standing, key string, code codeRow) (Change, error) {
	maker, err := a.standing(ctx, code.By)
	if err != nil {
		return Change{}, err
	}
	if c := unjoinable(maker, s, key); c.Refused {
		return c, nil
	}
	why := fmt.Sprintf("%s linked to %s", lines(s.row.Accounts), maker.id)
	ops, err := a.merge(ctx, maker, s)
	if err != nil {
		return Change{}, err
	}
	ops = append(ops, codes.Remove(key), seen.Set(string(who.ID), seenRow{Name: nameOf(who), Chat: room(at), At: a.now()}))
	ops, err = a.seal(rev, who.ID, why, ops...)
	return Change{
		Ops:   ops,
		Reply: fmt.Sprintf("Linked: this account and %s are one person now, %s.", mono(string(code.By)), maker.granted.phrase()),
		Told: []Tell{{code.At, fmt.Sprintf("%s is linked with you now and may do what you may. If that is not you, send %s.",
			called(nameOf(who), who.ID), mono("/unlink "+string(who.ID)))}},
		Why: why,
	}, err
}

// unjoinable says what stands against taking s into maker.
func unjoinable(maker, s standing, key string) Change {
	switch {
	case maker.granted == None || linkKey+maker.id != key:
		return refuse("code of somebody without a role", "The person who made that code has no access any more.")
	case s.id == maker.id:
		return refuse("linked already", "This is the account's own code: send it from your other account.")
	case s.removed():
		return refuse("removed person", "Your access was taken away, so this account cannot be linked. An owner has to let you in first.")
	case maker.granted.below(s.granted):
		return refuse("would lose a role", fmt.Sprintf("This account is %s and the other is only %s. Do it the other way round: send /link here, and the code it gets from the other account.", s.granted.phrase(), maker.granted.phrase()))
	case len(maker.row.Accounts)+len(s.row.Accounts) > maxAccounts:
		return refuse("too many accounts", fmt.Sprintf("One person can have %d accounts at most. Take one out with /unlink first.", maxAccounts))
	default:
		return Change{}
	}
}

// merge moves the accounts of s to maker, and the home if maker has none.
func (a *Access) merge(ctx context.Context, maker, s standing) ([]storage.Op, error) {
	var ops []storage.Op
	if s.stored {
		ops = append(ops, people.Remove(s.id), codes.Remove(linkKey+s.id))
	}
	home, has, err := a.HomeOf(ctx, s.id)
	if err != nil {
		return nil, err
	}
	_, settled, err := a.HomeOf(ctx, maker.id)
	if err != nil {
		return nil, err
	}
	if has {
		ops = append(ops, homes.Remove(s.id))
	}
	if has && !settled {
		ops = append(ops, homes.Set(maker.id, home))
	}
	maker.row.Accounts = append(slices.Clone(maker.row.Accounts), s.row.Accounts...)
	maker.row.At = a.now()
	return append(ops, maker.keep()...), nil
}

// Unlink takes one account out of the person it belongs to. It has no role
// then but what config.yaml gives it. Each person may do it with their own
// accounts, owners and admins with those of people below them.
func (a *Access) Unlink(ctx context.Context, by chat.User, account string) (Change, error) {
	rev, err := a.begin(ctx)
	if err != nil {
		return Change{}, err
	}
	gone := chat.UserID(strings.Trim(strings.TrimSpace(account), "`"))
	s, err := a.standing(ctx, gone)
	if err != nil {
		return Change{}, err
	}
	mine, err := a.authority(ctx, by)
	switch {
	case err != nil:
		return Change{}, err
	case mine == None || !s.owns(by.ID) && !mayRule(mine, s.granted, None):
		return refuse("not theirs", fmt.Sprintf("%s is not your account.", typed(account))), nil
	case len(s.row.Accounts) < 2:
		return refuse("not linked", fmt.Sprintf("%s is not linked with another account.", typed(account))), nil
	}
	return a.unlink(rev, by, s, gone)
}

// unlink also ends the person's open link code, which the account that goes may
// have made.
func (a *Access) unlink(rev uint64, by chat.User, s standing, gone chat.UserID) (Change, error) {
	s.row.Accounts = slices.DeleteFunc(slices.Clone(s.row.Accounts), func(u chat.UserID) bool { return u == gone })
	row := s.row
	row.By, row.At = by.ID, a.now()
	why := fmt.Sprintf("%s unlinked from %s by %s", gone, s.id, by.ID)
	ops, err := a.seal(rev, by.ID, why,
		people.Set(s.id, row), accounts.Remove(string(gone)), codes.Remove(linkKey+s.id))
	return Change{
		Ops:     ops,
		Reply:   fmt.Sprintf("%s is on its own now.", mono(string(gone))),
		Revoked: []chat.UserID{gone},
		Why:     why,
	}, err
}
