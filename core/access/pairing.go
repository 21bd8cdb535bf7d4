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

// The rules of pairing requests. Three pending ones keep the list readable,
// and a fourth would let a flood of strangers grow it without end. So the
// oldest gives way to a new one, but not before it stood for a while: else the
// same flood could push out everybody's code before an owner can type it.
// Whoever is crowded out is told the way around the list, which is their id.
// PairingLife is how long a pairing code is good for.
const PairingLife = time.Hour

const (
	pairingPending = 3                // of the whole gateway
	pairingStands  = 10 * time.Minute // before it may give way
)

// pairingRow is the request of one account, which gets one code within
// PairingLife, however often it asks.
type pairingRow struct {
	Code    string    `json:"code"`
	User    chat.User `json:"user"` // cleaned
	At      chat.Key  `json:"at"`
	Since   time.Time `json:"since"`
	Expires time.Time `json:"expires"`
	Told    time.Time `json:"told"`
	Void    bool      `json:"void,omitempty"` // it gave way
}

const pairings = storage.Typed[pairingRow]("access_pairings") // by account

func (r pairingRow) pending(now time.Time) bool { return !r.Void && now.Before(r.Expires) }

// introduce answers an unknown person with a pairing code.
func (a *Access) introduce(ctx context.Context, ev chat.Event) (Verdict, error) {
	all, err := pairings.All(ctx, a.store, "")
	if err != nil {
		return Verdict{}, err
	}
	if mine := all[string(ev.From.ID)]; a.now().Before(mine.Expires) {
		return a.remind(ctx, mine)
	}
	yielding, ok := yield(all, a.now())
	if !ok {
		return a.sayOnce(ctx, ev, patient, "too many pairing requests", crowded(ev.From.ID))
	}
	code, err := a.newCode()
	if err != nil {
		return Verdict{}, err
	}
	mine := pairingRow{
		Code: code, At: ev.Key, Since: a.now(), Expires: a.now().Add(PairingLife), Told: a.now(),
		User: chat.User{ID: ev.From.ID, Handle: clean(ev.From.Handle), Name: clean(ev.From.Name)},
	}
	sentence, err := a.invitation(ctx, mine)
	return Verdict{
		Reply: sentence,
		Ops:   append(yielding, pairings.Set(string(ev.From.ID), mine)),
		Why:   "unknown sender, got a pairing code",
	}, err
}

// yield makes room for one more pending request. It reports whether there is
// any to be had.
func yield(all map[string]pairingRow, now time.Time) ([]storage.Op, bool) {
	var pending []string
	for key, row := range all {
		if row.pending(now) {
			pending = append(pending, key)
		}
	}
	slices.SortFunc(pending, func(x, y string) int { return all[x].Since.Compare(all[y].Since) })
	var ops []storage.Op
	for ; len(pending) >= pairingPending; pending = pending[1:] {
		row := all[pending[0]]
		if now.Before(row.Since.Add(pairingStands)) {
			return nil, false
		}
		row.Void = true
		ops = append(ops, pairings.Set(pending[0], row))
	}
	return ops, true
}

// remind repeats a code that was given before, unless that was just now.
func (a *Access) remind(ctx context.Context, mine pairingRow) (Verdict, error) {
	v := refused("unknown sender, has a pairing code")
	if a.now().Before(mine.Told.Add(patient)) {
		return v, nil
	}
	var err error
	if v.Reply = crowded(mine.User.ID); !mine.Void {
		v.Reply, err = a.invitation(ctx, mine)
	}
	mine.Told = a.now()
	v.Ops = []storage.Op{pairings.Set(string(mine.User.ID), mine)}
	return v, err
}

// crowded tells the way in that needs no code.
func crowded(who chat.UserID) string {
	return fmt.Sprintf("I do not know you, and too many people are asking for access right now, so I have no code for you. "+
		"Give an owner your id, %s: %s lets you in. Or try again in an hour.", mono(string(who)), mono("/role "+string(who)+" member"))
}

// invitation tells the code and what is to be done with it. While nobody owns
// this parley the stranger is most likely its owner, who needs another code.
func (a *Access) invitation(ctx context.Context, mine pairingRow) (string, error) {
	owners, err := a.reachableOwners(ctx)
	if err != nil {
		return "", err
	}
	left := mine.Expires.Sub(a.now()).Round(time.Minute)
	text := fmt.Sprintf("I do not know you yet. Your pairing code is %s, good for %s. An owner can let you in with %s, or at the command line with %s.",
		mono(mine.Code), minutes(left), mono("/pair "+mine.Code), mono("parley pair approve "+mine.Code))
	if len(owners) == 0 {
		text += "\n\nThis parley has no owner yet. If it is yours, send `/claim CODE` with the code that it printed when it started."
	}
	return text, nil
}

func minutes(d time.Duration) string {
	switch n := int(d / time.Minute); {
	case n >= 60:
		return "an hour"
	case n == 1:
		return "a minute"
	default:
		return fmt.Sprintf("%d minutes", n)
	}
}

// Request is a pending pairing request, for those who may approve it.
type Request struct {
	Code    string
	User    chat.User // the names cleaned
	At      chat.Key
	Expires time.Time
}

// Pairings lists the pending pairing requests, the oldest first.
func (a *Access) Pairings(ctx context.Context) ([]Request, error) {
	all, err := pairings.All(ctx, a.store, "")
	if err != nil {
		return nil, err
	}
	var list []Request
	for _, row := range all {
		if row.pending(a.now()) {
			list = append(list, Request{row.Code, row.User, row.At, row.Expires})
		}
	}
	slices.SortFunc(list, func(x, y Request) int {
		if c := x.Expires.Compare(y.Expires); c != 0 {
			return c
		}
		return strings.Compare(x.Code, y.Code)
	})
	return list, nil
}

// Pair lets the person in, as a member, who was told that code, also one who
// was removed before. Owners and admins may. Without a code it lists the
// pending requests.
func (a *Access) Pair(ctx context.Context, by chat.User, code string) (Change, error) {
	rev, err := a.begin(ctx)
	if err != nil {
		return Change{}, err
	}
	mine, err := a.authority(ctx, by)
	if err != nil {
		return Change{}, err
	}
	if mine.below(Admin) {
		return refuse("not an admin", "Only owners and admins can let people in; ask one of them."), nil
	}
	pending, err := a.Pairings(ctx)
	if err != nil {
		return Change{}, err
	}
	if strings.TrimSpace(code) == "" {
		return Change{Reply: requests(pending)}, nil
	}
	for _, r := range pending {
		if sameCode(r.Code, code) {
			return a.pair(ctx, rev, by, mine, r)
		}
	}
	return refuse("unknown pairing code",
		fmt.Sprintf("Nobody is waiting with the code %s. Codes are good for an hour; /pair lists those that are.", typed(code))), nil
}

// requests is the list with the line to send for each, ready to be copied.
func requests(pending []Request) string {
	if len(pending) == 0 {
		return "Nobody is waiting to be let in."
	}
	text := "Waiting to be let in:"
	for _, r := range pending {
		text += fmt.Sprintf("\n- %s: %s", called(nameOf(r.User), r.User.ID), mono("/pair "+r.Code))
	}
	return text
}

// pair lets the person in and tells them where they asked.
func (a *Access) pair(ctx context.Context, rev uint64, by chat.User, mine Role, r Request) (Change, error) {
	s, err := a.standing(ctx, r.User.ID)
	if err != nil {
		return Change{}, err
	}
	if !s.granted.below(Member) {
		return refuse("let in already", fmt.Sprintf("%s is %s already.", called(nameOf(r.User), r.User.ID), s.granted.phrase())), nil
	}
	if !mayRule(mine, s.granted, Member) {
		return refuse("not allowed to", "Only an owner can do that."), nil
	}
	why := fmt.Sprintf("%s paired as member by %s", r.User.ID, by.ID)
	ops := append(a.grant(s, nameOf(r.User), Member, by.ID),
		seen.Set(string(r.User.ID), seenRow{Name: nameOf(r.User), Chat: room(r.At), At: a.now()}))
	ops, err = a.seal(rev, by.ID, why, ops...)
	return Change{
		Ops:   ops,
		Whom:  chat.User{ID: r.User.ID, Name: nameOf(r.User)},
		Reply: fmt.Sprintf("%s is a member now.", called(nameOf(r.User), r.User.ID)),
		Told:  []Tell{{r.At, "You have been let in: you are a member here now. /help lists what you can do."}},
		Why:   why,
	}, err
}
