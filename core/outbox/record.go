package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"parley/core/chat"
	"parley/storage"
)

// record is what the queue keeps of a post: the post, and how far showing it
// has come.
type record struct {
	Post  chat.Post   `json:"post"`
	Parts []chat.Part `json:"parts,omitempty"` // as rendered; none: not begun, or of one step only
	// Shown holds what the first parts became.
	Shown [][]chat.MessageID `json:"shown,omitempty"`
	// Over holds the messages that become the first parts by edit, at most
	// one for each part.
	Over []standing `json:"over,omitempty"`
	// Stale holds messages to be deleted when all parts are shown.
	Stale []chat.MessageID `json:"stale,omitempty"`
	// Also names further posts whose messages this one takes over: what the
	// posts that it superseded would have taken over.
	Also []string `json:"also,omitempty"`
	// Rows names the previews that are settled when the post is.
	Rows []string `json:"rows,omitempty"`
	// Outdated names dead letters that this post makes pointless.
	Outdated []string `json:"outdated,omitempty"`
	// Tried says that the next part may have arrived already.
	Tried bool `json:"tried,omitempty"`
	// Forwarded says that the post came from another chat to the person it is
	// for. It is not sent on again.
	Forwarded bool `json:"forwarded,omitempty"`
	// Apology says that the post tells of another one that could not be shown.
	Apology bool `json:"apology,omitempty"`
}

// standing is what is on the screen and about to become another part. Part is
// empty when it is not known what exactly is shown.
type standing struct {
	Messages []chat.MessageID `json:"messages"`
	Part     chat.Part        `json:"part"`
}

// Receipt tells what became of a post.
type Receipt struct {
	Key chat.Key `json:"key"` // where it is shown
	// Messages holds the ids of each part, which may be none.
	Messages [][]chat.MessageID `json:"messages,omitempty"`
	Parts    []chat.Part        `json:"parts,omitempty"` // what they show
	// Nowhere says why the post was not shown at all: only one person was to
	// see it, and there is no chat for that.
	Nowhere string `json:"nowhere,omitempty"`
	// Forward is the id under which the post went to another chat.
	Forward string `json:"forward,omitempty"`
}

// Receipt returns what became of a post. It reports false for a post that is
// not through yet, was dropped, is a dead letter, or is not known (any more).
func (o *Outbox) Receipt(ctx context.Context, post string) (Receipt, bool, error) {
	item, err := o.store.Item(ctx, queue, post)
	if errors.Is(err, storage.ErrNotFound) {
		return Receipt{}, false, nil
	}
	if err != nil {
		return Receipt{}, false, fmt.Errorf("reading post %q: %w", post, err)
	}
	if item.State != storage.StateDone || len(item.Result) == 0 {
		return Receipt{}, false, nil
	}
	r, err := decodeReceipt(item)
	if err != nil {
		return Receipt{}, false, err
	}
	if r.Forward != "" {
		return o.Receipt(ctx, r.Forward)
	}
	return r, true, nil
}

func decodeReceipt(item storage.Item) (Receipt, error) {
	var r Receipt
	if err := json.Unmarshal(item.Result, &r); err != nil {
		return Receipt{}, fmt.Errorf("decoding receipt of post %q: %w", item.ID, err)
	}
	return r, nil
}

func decodeRecord(item storage.Item) (record, error) {
	var r record
	if err := json.Unmarshal(item.Data, &r); err != nil {
		return record{}, fmt.Errorf("decoding post %q: %w", item.ID, err)
	}
	return r, nil
}

func (r record) enqueue(k chat.Key) storage.Enqueue {
	return storage.Enqueue{
		Queue: queue, ID: r.Post.ID, Key: k.String(), Lane: laneOf(r.Post), Data: encode(r),
	}
}

func (r record) update() storage.Update {
	return storage.Update{Queue: queue, ID: r.Post.ID, Data: encode(r)}
}

func (r record) finish(with Receipt) storage.Finish {
	return storage.Finish{Queue: queue, ID: r.Post.ID, Result: encode(with)}
}

// targets are the posts whose messages this one takes over.
func (r record) targets() []string {
	var ids []string
	if r.Post.Replaces != "" {
		ids = append(ids, r.Post.Replaces)
	}
	return append(ids, r.Also...)
}

// encode writes a value of ours. What an adapter rendered was checked before
// it got here, so an error is a mistake of this package.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("outbox: encoding %T: %v", v, err))
	}
	return b
}

// same reports whether two parts look alike on the screen. Nothing is known to
// look like an empty part.
func same(a, b chat.Part) bool {
	if a.Text == "" && len(a.Files) == 0 {
		return false
	}
	return a.Text == b.Text && bytes.Equal(a.Markup, b.Markup) && alike(a.Buttons, b.Buttons) && alike(a.Files, b.Files)
}

func alike[E any](a, b []E) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}
