package outbox

import (
	"context"
	"fmt"

	"parley/core/chat"
	"parley/storage"
)

// Withdrawn is what it takes to withdraw the posts of a turn that are not
// wholly shown.
type Withdrawn struct {
	Ops     []storage.Op // for the caller's Apply
	Posts   []string
	Answers []string // events that the posts would have settled
}

// Withdraw finds the posts of a turn that wait in a chat. The caller makes Ops
// part of its Apply and then calls [Outbox.Wake], upon which previews of these
// posts are taken back as well. A part under way is still finished. Cards and
// notices that replace something stay: they settle what is on the screen.
// Twice finds the same until the ops are applied.
func (o *Outbox) Withdraw(ctx context.Context, k chat.Key, turn string) (Withdrawn, error) {
	var w Withdrawn
	if turn == "" {
		return w, nil
	}
	for _, key := range o.sources(o.dest(k)) {
		err := o.eachItem(ctx, storage.Filter{Key: key.String()}, func(it storage.Item) {
			rec, err := decodeRecord(it)
			settles := rec.Post.Kind != chat.Answer && rec.Post.Replaces != ""
			if err != nil || rec.Post.Turn != turn || settles {
				return
			}
			w.Ops = append(w.Ops, storage.Drop{Queue: queue, ID: it.ID})
			w.Posts = append(w.Posts, it.ID)
			w.Answers = append(w.Answers, rec.Post.Answers...)
		})
		if err != nil {
			return Withdrawn{}, fmt.Errorf("withdrawing turn %q: %w", turn, err)
		}
	}
	if len(w.Posts) > 0 {
		o.tell(k, func(m *mail) { m.withdrawn = append(m.withdrawn, w.Posts...) })
	}
	return w, nil
}
