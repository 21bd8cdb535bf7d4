package policy

import (
	"context"

	"parley/storage"
)

// PlantNext plants a later edition of one rule of a group, and a rule that is
// new in it, as a later parley would.
func (p *Policy) PlantNext(ctx context.Context, group, tool, fresh string) ([]storage.Op, error) {
	b, err := p.book(ctx)
	if err != nil {
		return nil, err
	}
	ops := b.plant(group, []seed{
		{version: 2, priority: second, action: Deny, tool: tool, note: "second edition"},
		{priority: second, action: Allow, tool: fresh},
	})
	c, err := p.seal(b, Change{Why: "test"}, ops...)
	return c.Ops, err
}
