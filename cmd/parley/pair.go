package main

import (
	"context"
	"fmt"

	"parley/core/api"
	"parley/core/chat"
)

// dial loads the configuration and finds somebody to ask.
func (p *program) dial(ctx context.Context) (*api.Client, error) {
	if err := p.load(); err != nil {
		return nil, err
	}
	return p.client(ctx)
}

// Run lists who waits to be let in.
func (pairListCommand) Run(ctx context.Context, p *program) error {
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	waiting, err := client.Pairings(ctx)
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		p.say("Nobody waits to be let in.")
	}
	for _, w := range waiting {
		p.say("%s  %s  asked %s, until %s", w.User.ID, w.User.Label(), p.at(w.Asked), p.at(w.Expires))
	}
	return nil
}

// Run lets in whoever got the code.
func (c pairApproveCommand) Run(ctx context.Context, p *program) error {
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	user, err := client.Approve(ctx, c.Code)
	if err != nil {
		return err
	}
	p.say("%s may talk to parley now.", person(user))
	return nil
}

// Run takes access back.
func (c pairRemoveCommand) Run(ctx context.Context, p *program) error {
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	user, err := client.Remove(ctx, c.User)
	if err != nil {
		return err
	}
	p.say("%s may not talk to parley any more.", person(user))
	return nil
}

// person is an account in a sentence: the name, if it is known, and the id.
func person(u chat.User) string {
	if label := u.Label(); label != string(u.ID) {
		return fmt.Sprintf("%s (%s)", label, u.ID)
	}
	return string(u.ID)
}
