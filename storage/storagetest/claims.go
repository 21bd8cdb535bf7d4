package storagetest

import (
	"time"

	"parley/storage"
)

// claimTrials are what holds of claims, which a lane gives out from its head.
var claimTrials = []trial{
	{"items come from the head, in order, up to the limit", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"), enqueue("c"))
		k.equal(k.claim("o", 2), "a b", "claimed")
		k.equal(k.claim("o", 0), "", "claimed with limit 0")
	}},
	{"a claimed item brings its data", func(k *kit) {
		k.apply(enqueue("a"))
		items, err := k.Store.Claim(k.Context(), "q", "k", "l", "o", k.Clock.Now().Add(claimFor), 1)
		k.noError(err, "claiming")
		k.equal(show(items), show([]storage.Item{k.item("q", "a")}), "item")
	}},
	{"a claim keeps others out, and is extended by its owner", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"))
		k.equal(k.claim("o", 1), "a", "claimed")
		k.equal(k.claim("p", 9), "", "claimed by another")
		k.Clock.Move(claimFor / 2)
		k.equal(k.claim("o", 9), "a b", "claimed again")
		k.Clock.Move(claimFor - time.Second)
		k.equal(k.claim("p", 9), "", "claimed by another")
	}},
	{"a claim ends with its time", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"))
		k.claim("o", 1)
		k.Clock.Move(claimFor)
		k.equal(k.claim("p", 9), "a b", "claimed by another")
		k.equal(k.claim("o", 9), "", "claimed by the first")
	}},
	{"it stops at what is somebody else's", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"), enqueue("c"))
		k.claim("o", 2)
		k.noError(k.Store.Release(k.Context(), "q", "o", "a"), "releasing")
		k.equal(k.claim("p", 9), "a", "claimed by another")
	}},
	{"release gives back what the owner holds, and only that", func(k *kit) {
		k.apply(enqueue("a"))
		k.claim("o", 1)
		k.noError(k.Store.Release(k.Context(), "q", "p", "a"), "releasing")
		k.noError(k.Store.Release(k.Context(), "q2", "o", "a"), "releasing")
		k.equal(k.claim("p", 1), "", "claimed by another")
		k.noError(k.Store.Release(k.Context(), "q", "o", "unknown", "a"), "releasing")
		k.equal(k.claim("p", 1), "a", "claimed by another")
	}},
	{"keys and lanes never wait for each other", func(k *kit) {
		k.apply(storage.Enqueue{Queue: "q", ID: "x", Key: "k2", Lane: "l"}, storage.Enqueue{Queue: "q", ID: "y", Key: "k", Lane: "l2"}, enqueue("a"))
		k.equal(k.claim("o", 9), "a", "claimed")
		for id, at := range map[string][2]string{"x": {"k2", "l"}, "y": {"k", "l2"}} {
			items, err := k.Store.Claim(k.Context(), "q", at[0], at[1], "p", k.Clock.Now().Add(claimFor), 9)
			k.noError(err, "claiming")
			k.equal(ids(items), id, "claimed")
		}
	}},
	{"a resting item holds up its lane, in its place", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"))
		k.claim("o", 1)
		k.apply(storage.Retry{Queue: "q", ID: "a", At: k.Clock.Now().Add(time.Hour)})
		k.equal(k.claim("o", 9), "", "claimed while it rests")
		k.equal(k.item("q", "a").Attempts, 1, "attempts")
		k.equal(k.item("q", "a").NotFor.Equal(k.Clock.Now().Add(time.Hour)), true, "rests until")
		k.reopen()
		k.equal(k.claim("o", 9), "", "claimed while it rests")
		k.Clock.Move(time.Hour)
		k.equal(k.claim("p", 9), "a b", "claimed by another, since the claim ended")
	}},
	{"what ends makes room for the next", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"), enqueue("c"), enqueue("d"))
		k.apply(storage.Retry{Queue: "q", ID: "a", At: k.Clock.Now().Add(time.Hour)}, storage.Finish{Queue: "q", ID: "a"})
		k.equal(k.claim("o", 1), "b", "claimed")
		k.apply(storage.Bury{Queue: "q", ID: "b"})
		k.equal(k.claim("o", 1), "c", "claimed")
		k.apply(storage.Drop{Queue: "q", ID: "c"})
		k.equal(k.claim("o", 9), "d", "claimed")
	}},
	{"a revived item is free and last", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"))
		k.claim("o", 9)
		k.apply(storage.Bury{Queue: "q", ID: "a"}, storage.Revive{Queue: "q", ID: "a"}, storage.Finish{Queue: "q", ID: "b"})
		k.equal(k.claim("p", 9), "a", "claimed by another")
	}},
	{"an update leaves the claim", func(k *kit) {
		k.apply(enqueue("a"))
		k.claim("o", 1)
		k.apply(storage.Update{Queue: "q", ID: "a", Data: []byte("new")})
		k.equal(k.claim("p", 1), "", "claimed by another")
	}},
	{"after a restart everything can be claimed, if claims are in memory", func(k *kit) {
		k.apply(enqueue("a"), enqueue("b"))
		k.claim("o", 9)
		k.reopen()
		want := "a b"
		if k.KeepsClaims {
			want = ""
		}
		k.equal(k.claim("p", 9), want, "claimed by another")
	}},
}
