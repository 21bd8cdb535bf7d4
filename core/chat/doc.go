// Package chat is the vocabulary that platform adapters and the core share.
//
// An adapter turns what happens on its platform into an [Event] and hands it
// to [Inbound.Accept]; the core turns what it wants shown into a [Post], which
// the adapter renders into one or more [Part] values and delivers:
//
//	platform ──► Adapter.Run ──► Inbound.Accept(Event)
//	platform ◄── Adapter.Deliver(Part) ◄── Adapter.Render(Post) ◄── outbox
//
// Neither side knows the other. The core never names a platform: whatever
// differs between chats is a field of [Traits], and it is the core that
// degrades (no buttons: numbered lines to type), never the adapter.
//
// # Guarantees
//
// An event is on disk, or was known already, when Accept returns; only then
// may an adapter tell its platform that it has it. A post is on disk before
// its first part is delivered, its parts are delivered in order, and each part
// is recorded as shown before the next one goes out.
//
// # Caveats
//
// A part may be delivered a second time after a crash or a cut connection; it
// is then marked [Part.Unsure], and the adapter looks first where its platform
// lets it. The package imports nothing of parley: it is a leaf.
package chat
