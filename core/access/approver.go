package access

import (
	"context"
	"slices"

	"parley/core/chat"
)

// Approvers lists the people who may approve tool calls, in order of their
// ids.
func (a *Access) Approvers(ctx context.Context) ([]Person, error) {
	all, err := a.everyone(ctx)
	if err != nil {
		return nil, err
	}
	return a.persons(ctx, slices.DeleteFunc(all, func(s standing) bool { return !a.approves(s) }))
}

// MayApprove reports whether user may approve what requester asked for. Who
// may approve by role may approve their own, who is named by account may not.
func (a *Access) MayApprove(ctx context.Context, user, requester chat.UserID) (bool, error) {
	s, err := a.standing(ctx, user)
	if err != nil {
		return false, err
	}
	if s.owns(requester) {
		return a.approving[s.granted], nil
	}
	return a.approves(s), nil
}

// approves leaves out people without a grant of their own, whatever the list
// says: the button they would press is not admitted, and strangers who talk as
// guests must never decide.
func (a *Access) approves(s standing) bool {
	return s.granted != None &&
		(a.approving[s.granted] || slices.ContainsFunc(s.row.Accounts, func(u chat.UserID) bool { return a.approvers[u] }))
}
