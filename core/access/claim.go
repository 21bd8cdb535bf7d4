package access

import (
	"context"
	"fmt"

	"parley/core/chat"
	"parley/storage"
)

// ClaimCode makes the one-time code with which the first owner claims parley.
// The program calls it once at every start, applies the ops and, if needed,
// prints the code: only its hash is stored, and a new one ends the one before.
// It is not needed once there is an owner who can be reached from outside;
// then the ops remove what is left of an earlier code.
func (a *Access) ClaimCode(ctx context.Context) (code string, ops []storage.Op, needed bool, err error) {
	owners, err := a.reachableOwners(ctx)
	if err != nil {
		return "", nil, false, err
	}
	if len(owners) > 0 {
		return "", []storage.Op{codes.Remove(claimKey)}, false, nil
	}
	if code, err = a.newCode(); err != nil {
		return "", nil, false, err
	}
	row, err := a.hashed(code)
	if err != nil {
		return "", nil, false, err
	}
	return code, []storage.Op{codes.Set(claimKey, row)}, true, nil
}

// Claim makes an account the first owner by the one-time code. Said where
// others can read it, a right code is void; wrong ones are limited.
func (a *Access) Claim(ctx context.Context, who chat.User, at chat.Key, private bool, code string) (Change, error) {
	rev, err := a.begin(ctx)
	if err != nil {
		return Change{}, err
	}
	if who.Bot || a.bots[who.ID] || idProblem(string(who.ID)) != "" {
		return refuse("claim by a bot", "Only a person can claim parley."), nil
	}
	if a.local[who.ID] {
		return refuse("claim from this machine", "You are an owner already. The code is for your account on a platform: send it to the bot there, in a private chat."), nil
	}
	if c, err := a.unclaimable(ctx); err != nil || c.Refused {
		return c, err
	}
	row, _, err := codes.Get(ctx, a.store, claimKey)
	if err != nil {
		return Change{}, err
	}
	if len(row.Hash) == 0 {
		return refuse("no claim code", "There is no claim code at the moment. Restart parley; it prints one when it starts."), nil
	}
	try, err := a.guess(ctx, claimKey, who.ID, false)
	switch {
	case err != nil:
		return Change{}, err
	case try.blocked():
		return refuse("too many claims", fmt.Sprintf("Too many wrong codes; try again in an hour. Whoever runs parley can also list your id, %s, under access.owners in config.yaml.", mono(string(who.ID)))), nil
	case !row.fits(code):
		return a.wrong(try, "That is not the code. Send /claim with the code that parley printed when it started last.")
	case !private:
		return a.voidClaim(rev, who)
	default:
		return a.claim(ctx, rev, who, at)
	}
}

// unclaimable refuses when there is an owner.
func (a *Access) unclaimable(ctx context.Context) (Change, error) {
	owners, err := a.reachableOwners(ctx)
	if err != nil || len(owners) == 0 {
		return Change{}, err
	}
	return refuse("claimed already", "This parley has an owner already. Ask them to let you in."), nil
}

// voidClaim ends a code that others could read: the first of them to send it in
// private would own parley.
func (a *Access) voidClaim(rev uint64, who chat.User) (Change, error) {
	c := refuse("claim code said in a group", "Others can read that code here, so it is void now. Restart parley for a new one and send it to me in a private chat.")
	var err error
	c.Ops, err = a.seal(rev, who.ID, c.Why, codes.Remove(claimKey))
	return c, err
}

// claim makes the account, and with it all that are linked with it, an owner.
// The private chat is remembered at once, so that an approval can be asked for
// before the owner writes again.
func (a *Access) claim(ctx context.Context, rev uint64, who chat.User, at chat.Key) (Change, error) {
	s, err := a.standing(ctx, who.ID)
	if err != nil {
		return Change{}, err
	}
	why := fmt.Sprintf("claimed by %s", who.ID)
	ops := append(a.grant(s, nameOf(who), Owner, who.ID),
		codes.Remove(claimKey), guesses.Remove(claimKey),
		seen.Set(string(who.ID), seenRow{Name: nameOf(who), Chat: room(at), At: a.now()}))
	ops, err = a.seal(rev, who.ID, why, ops...)
	return Change{
		Ops:   ops,
		Reply: "You are the owner of this parley now. /help lists what you can do.",
		Why:   why,
	}, err
}
