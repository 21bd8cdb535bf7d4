package outbox_test

import (
	"testing"
	"time"

	"parley/core/chat"
	"parley/core/outbox"
)

func TestLive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		traits chat.Traits
		want   bool
	}{
		"nothing": {chat.Traits{}, false},
		"no way":  {chat.Traits{PreviewEvery: time.Second}, false},
		"no pace": {chat.Traits{Drafts: true, Edits: true}, false},
		"drafts":  {chat.Traits{Drafts: true, PreviewEvery: time.Second}, true},
		"edits":   {chat.Traits{Edits: true, PreviewEvery: time.Second}, true},
	} {
		f := &still{traits: c.traits}
		box := outbox.New(nil, map[string]chat.Adapter{"fake": f}, outbox.Options{})
		if got := box.Live(chat.Key{Adapter: "fake", Chat: "1"}); got != c.want {
			t.Errorf("%s: Live = %v, want %v", name, got, c.want)
		}
	}
	box := outbox.New(nil, nil, outbox.Options{})
	if box.Live(chat.Key{Adapter: "none", Chat: "1"}) {
		t.Error("a chat without adapter shows drafts")
	}
}

// still is an adapter that only has traits.
type still struct {
	chat.Adapter
	traits chat.Traits
}

func (s *still) Traits(chat.Key) chat.Traits { return s.traits }
