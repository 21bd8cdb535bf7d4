// Package gateway stands between the platforms and the conversations. Inward
// it is the door: what an adapter hands over is deduplicated, judged and
// stored before the adapter may acknowledge it. Outward it is the voice: it
// knows the chat commands and finds the words for what happens.
//
//	adapter ──► Accept ──► dedupe ─► access ─► inbox (control | messages) ──► wake
//	                                    └► refusal ─► outbox
//	session ──► Run (a command) ──► Effect      session ──► Present ──► posts
//
// # Guarantees
//
// When Accept returns nil, each event is in the inbox, or refused for good, or
// was known; an event whose refusal was answered is known afterwards too, so
// that nobody is answered twice. One that no adapter should make is logged and
// passed over. Batches of one chat are taken one after another, those of
// different chats beside each other. A lane of the inbox holds 200 events: what
// comes beyond is refused, and its sender is told once. One flooding chat never
// delays another.
//
// When access is taken away, the conversations in which the person is at work
// learn of it in the same commit, and once more behind it, so that a turn that
// was about to begin is found as well.
//
// A command changes nothing by itself. Its effect, its reply and its removal
// from the inbox are one commit of the conversation it was said in.
package gateway
