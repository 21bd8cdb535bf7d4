package gateway

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"parley/core/chat"
)

// doors let in one batch of events at a time for each chat, so that what one
// batch reads and writes is not changed by another between the two. The zero
// value is ready.
type doors struct {
	mu   sync.Mutex                 // guards busy; never held while waiting
	busy map[chat.Key]chan struct{} // closed when the door is free again
}

// enter waits for the doors of all chats of a batch and returns how to leave
// them.
func (d *doors) enter(ctx context.Context, events []chat.Event) (leave func(), err error) {
	keys := chats(events)
	for i, key := range keys {
		if err := d.take(ctx, key); err != nil {
			d.leave(keys[:i])
			return nil, err
		}
	}
	return func() { d.leave(keys) }, nil
}

// chats lists the chats of a batch, each once, in the one order in which doors
// are taken: two batches never wait for each other.
func chats(events []chat.Event) []chat.Key {
	keys := make([]chat.Key, 0, len(events))
	for _, ev := range events {
		keys = append(keys, ev.Key)
	}
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys)
}

func compareKeys(a, b chat.Key) int {
	return cmp.Or(cmp.Compare(a.Adapter, b.Adapter), cmp.Compare(a.Chat, b.Chat), cmp.Compare(a.Thread, b.Thread))
}

func (d *doors) take(ctx context.Context, key chat.Key) error {
	for {
		d.mu.Lock()
		free, busy := d.busy[key]
		if !busy {
			if d.busy == nil {
				d.busy = make(map[chat.Key]chan struct{})
			}
			d.busy[key] = make(chan struct{})
		}
		d.mu.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (d *doors) leave(keys []chat.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		close(d.busy[key])
		delete(d.busy, key)
	}
}
