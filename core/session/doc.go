// Package session runs conversations. One goroutine, the actor, owns a
// conversation and everything about it; only it appends to the log. A turn runs
// beside it, hands it entries and waits for the commit:
//
//	inbox ──► actor ──► turn: prompt ─► model ─► calls ─► …
//	            │  ▲       │
//	            ▼  └───────┘ "log this, show that, finish this item": one Apply
//	   log, outbox, inbox, rows
//
// The actor receives, commits and cancels; it never waits for its turn, so a
// /stop is heard whatever the turn does. No lock guards conversation state.
// [Host] holds the actors that are in memory; an idle one leaves and comes back
// from the log, and that hand-over is the one place with a lock.
//
// # Guarantees
//
// Intent before deed: a message is in the log before the model hears of it, a
// post is in the outbox before it is shown. A turn ends on every way out,
// panics included, with one [TurnEnded] in the log, and each event that it took
// up is named by exactly one post ([chat.Post.Answers]).
//
// After a restart an unfinished turn goes on at the round it was in. It ends
// with a plain message when three attempts in a row died without logging
// anything.
//
// # Caveats
//
// A model request whose answer was not logged is made again after a crash: it
// is paid for twice and may be worded otherwise. What had been streamed of the
// lost answer is replaced.
package session
