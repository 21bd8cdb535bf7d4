package access

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"parley/core/chat"
)

// Whoami tells somebody, also an unknown person, who they are here. Where
// others read along it keeps to the id, the role and the chat.
func (a *Access) Whoami(ctx context.Context, who chat.User, at chat.Key, private bool) (string, error) {
	s, err := a.standing(ctx, who.ID)
	if err != nil {
		return "", err
	}
	text := []string{
		fmt.Sprintf("You are %s.", called(nameOf(who), who.ID)),
		a.roleLine(s),
	}
	if !private {
		line, err := a.roomLine(ctx, at)
		return strings.Join(append(text, line), "\n"), err
	}
	if len(s.row.Accounts) > 1 {
		text = append(text, "Your accounts: "+lines(s.row.Accounts)+".")
	}
	home, set, err := a.HomeOf(ctx, s.id)
	switch {
	case err != nil:
		return "", err
	case set:
		text = append(text, "Your home chat: "+mono(home.String())+".")
	case s.granted != None:
		text = append(text, "You have no home chat; /sethome makes the chat where you send it yours.")
	}
	return strings.Join(text, "\n"), nil
}

// roleLine says where a role comes from when no command can take it.
func (a *Access) roleLine(s standing) string {
	switch {
	case s.removed():
		return "Your access was taken away."
	case s.role == None:
		return "I do not know you: an owner has to let you in before we can talk."
	case slices.ContainsFunc(s.row.Accounts, func(u chat.UserID) bool { return a.local[u] }):
		return fmt.Sprintf("Your role: %s, as whoever sits at this machine.", s.role)
	case s.listed != None && s.granted == s.listed:
		return fmt.Sprintf("Your role: %s, by config.yaml.", s.role)
	default:
		return fmt.Sprintf("Your role: %s.", s.role)
	}
}

func (a *Access) roomLine(ctx context.Context, at chat.Key) (string, error) {
	allowed, mode, err := a.Room(ctx, at)
	if err != nil {
		return "", err
	}
	if !allowed {
		return fmt.Sprintf("This chat is %s, and I do not answer here.", mono(room(at).String())), nil
	}
	return fmt.Sprintf("This chat is %s. %s.", mono(room(at).String()), mode.phrase()), nil
}
