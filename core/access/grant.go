package access

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"parley/core/chat"
)

// CLI is who acts when a command comes from the command line of this machine:
// an owner. No account of a platform can have this id, since it names none,
// and Judge admits nobody by it.
const CLI chat.UserID = "cli"

// authority is the role with which somebody gives orders.
func (a *Access) authority(ctx context.Context, by chat.User) (Role, error) {
	if by.Bot || a.bots[by.ID] {
		return None, nil
	}
	s, err := a.standing(ctx, by.ID)
	return s.granted, err
}

// SetRole gives a person another role, "none" to remove them. Owners may do
// everything; admins may make members and guests of people below admin, and
// remove those. What config.yaml grants cannot be taken by command, and the
// last owner stays one unless somebody at this machine decides otherwise.
//
// The person is named by an account's id, also one that was never seen here. A
// name is not enough, since names can be taken by anybody: it is answered with
// the ids of those who go by it.
func (a *Access) SetRole(ctx context.Context, by chat.User, user, role string) (Change, error) {
	rev, err := a.begin(ctx)
	if err != nil {
		return Change{}, err
	}
	mine, err := a.authority(ctx, by)
	if err != nil {
		return Change{}, err
	}
	if mine.below(Admin) {
		return refuse("not an admin", "Only owners and admins can change roles; ask one of them."), nil
	}
	to, ok := ParseRole(role)
	if !ok {
		return refuse("unknown role", fmt.Sprintf("%s is no role. The roles are owner, admin, member, guest, and none to remove somebody.", typed(role))), nil
	}
	account := chat.UserID(strings.Trim(strings.TrimSpace(user), "`"))
	if idProblem(string(account)) != "" {
		return a.whoIs(ctx, user, to)
	}
	s, err := a.standing(ctx, account)
	if err != nil {
		return Change{}, err
	}
	if c, err := a.unchangeable(ctx, by, mine, account, s, to); err != nil || c.Refused {
		return c, err
	}
	return a.setRole(ctx, rev, by, account, s, to)
}

// Remove takes everything away from a person. It is SetRole with "none".
func (a *Access) Remove(ctx context.Context, by chat.User, user string) (Change, error) {
	return a.SetRole(ctx, by, user, "none")
}

// whoIs answers a name with the ids it may stand for.
func (a *Access) whoIs(ctx context.Context, name string, to Role) (Change, error) {
	known, err := a.People(ctx)
	if err != nil {
		return Change{}, err
	}
	const shown = 3
	var ids []string
	for _, p := range known {
		if len(ids) < shown && clean(name) != "" && strings.EqualFold(p.Name, clean(name)) {
			ids = append(ids, mono("/role "+string(p.Accounts[0])+" "+Group(to)))
		}
	}
	if len(ids) == 0 {
		return refuse("no account named", fmt.Sprintf("%s is no id that I know. Write platform:ID; the person finds theirs with /whoami.", typed(name))), nil
	}
	return refuse("a name instead of an id",
		fmt.Sprintf("Names can be taken by anybody, so I need the id. If you mean this person, send %s.", strings.Join(ids, " or "))), nil
}

// unchangeable says what stands against a change of role.
func (a *Access) unchangeable(ctx context.Context, by chat.User, mine Role, account chat.UserID, s standing, to Role) (Change, error) {
	name, err := a.display(ctx, s, account)
	switch {
	case err != nil:
		return Change{}, err
	case to == s.granted && (to != None || s.removed()):
		return refuse("no change", fmt.Sprintf("%s is %s already.", name, to.phrase())), nil
	case !mayRule(mine, s.granted, to):
		return refuse("not an owner", fmt.Sprintf("%s is %s, and only an owner can make that %s.", name, s.granted.phrase(), to.phrase())), nil
	case to.below(s.listed):
		return refuse("listed in config.yaml", fmt.Sprintf("%s is listed in config.yaml (%s). Take the id out there and restart parley.", name, listKey(s.listed))), nil
	case Member.below(to) && slices.ContainsFunc(s.row.Accounts, func(u chat.UserID) bool { return a.bots[u] }):
		return refuse("a bot", fmt.Sprintf("%s is a bot, and a bot can be a member at most.", name)), nil
	case s.granted == Owner && to != Owner:
		return a.lastOwner(ctx, by, s, name)
	default:
		return Change{}, nil
	}
}

// listKey is where in config.yaml a role comes from.
func listKey(r Role) string {
	if r == Owner {
		return "access.owners"
	}
	return "access.members"
}

// lastOwner refuses when nobody would be left who owns parley. Somebody at
// this machine may: the next start prints a new claim code.
func (a *Access) lastOwner(ctx context.Context, by chat.User, s standing, name string) (Change, error) {
	if by.ID == CLI || a.local[by.ID] {
		return Change{}, nil
	}
	owners, err := a.reachableOwners(ctx)
	if err != nil || slices.ContainsFunc(owners, func(o standing) bool { return o.id != s.id }) {
		return Change{}, err
	}
	return refuse("the last owner", fmt.Sprintf("%s is the last owner. Make somebody else an owner first.", name)), nil
}

// setRole is the change itself. Whoever may do less than before has their turns
// stopped: they were begun with rights that are gone.
func (a *Access) setRole(ctx context.Context, rev uint64, by chat.User, account chat.UserID, s standing, to Role) (Change, error) {
	name, err := a.display(ctx, s, account)
	if err != nil {
		return Change{}, err
	}
	c := Change{
		Whom:  chat.User{ID: account, Name: s.row.Name},
		Reply: fmt.Sprintf("%s is %s now.", name, to.phrase()),
		Why:   fmt.Sprintf("role of %s set from %s to %s by %s", s.id, Group(s.granted), Group(to), by.ID),
	}
	if to == None {
		c.Reply = fmt.Sprintf("%s has no access any more.", name)
	}
	if to.below(s.granted) || to == None {
		c.Revoked = slices.Clone(s.row.Accounts)
	}
	if c.Told, err = a.tell(ctx, by, s, to); err != nil {
		return Change{}, err
	}
	c.Ops, err = a.seal(rev, by.ID, c.Why, a.grant(s, "", to, by.ID)...)
	return c, err
}

// tell is the notice for the person whose role changes: where they asked to be
// let in, else in a private chat. Who is removed, or did it themselves, is not
// told.
func (a *Access) tell(ctx context.Context, by chat.User, s standing, to Role) ([]Tell, error) {
	if to == None || s.owns(by.ID) {
		return nil, nil
	}
	text := fmt.Sprintf("You are %s here now. /help lists what you can do.", to.phrase())
	for _, account := range s.row.Accounts {
		asked, _, err := pairings.Get(ctx, a.store, string(account))
		if err != nil {
			return nil, err
		}
		if !asked.At.IsZero() {
			return []Tell{{asked.At, text}}, nil
		}
	}
	return a.tellPerson(ctx, s, text)
}

// tellPerson is a notice for a person's private chat, none if none is known.
func (a *Access) tellPerson(ctx context.Context, s standing, text string) ([]Tell, error) {
	p, err := a.person(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, k := range p.privates() {
		return []Tell{{k, text}}, nil
	}
	return nil, nil
}

// display is a person in a sentence, by the account that was named.
func (a *Access) display(ctx context.Context, s standing, account chat.UserID) (string, error) {
	p, err := a.person(ctx, s)
	if p.Name == s.id {
		p.Name = ""
	}
	return called(p.Name, account), err
}
