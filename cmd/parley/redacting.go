package main

import (
	"context"
	"slices"

	"parley/cmd/parley/redact"
	"parley/core/chat"
)

// redacting stands in front of an adapter and takes known secrets out of what
// is to be shown. It does so before rendering: what the outbox stores and
// delivers has none.
type redacting struct {
	chat.Adapter
	redact *redact.Redactor
}

// Render renders the post without secrets.
func (r redacting) Render(k chat.Key, p chat.Post) ([]chat.Part, error) {
	p.Text = r.redact.String(p.Text)
	buttons := make([][]chat.Button, len(p.Buttons))
	for i, row := range p.Buttons {
		buttons[i] = slices.Clone(row)
		for j := range buttons[i] {
			buttons[i][j].Label = r.redact.String(buttons[i][j].Label)
			buttons[i][j].Prompt = r.redact.String(buttons[i][j].Prompt)
		}
	}
	p.Buttons = buttons
	return r.Adapter.Render(k, p)
}

// Signal shows a draft without secrets.
func (r redacting) Signal(ctx context.Context, k chat.Key, s chat.Signal) error {
	if d, ok := s.(chat.Draft); ok {
		d.Text = r.redact.String(d.Text)
		s = d
	}
	return r.Adapter.Signal(ctx, k, s)
}
