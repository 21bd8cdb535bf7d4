// Package outbox brings posts onto the screen. A post is put into the store in
// the very commit that decides on it, and everything after that happens here:
//
//	Put ──► queue "outbox" ──► line (one per chat) ──► Render ──► Deliver, Edit, Delete
//	           ▲ receipts, part by part ◄──────────────────────────────┘
//
// A line is a goroutine that serves one chat while the chat has work, and is
// gone, with all its memory, when it has none. Within a chat there are lanes:
// answers; cards and notices, which overtake answers between two posts; and
// each ticket for itself. A lane keeps its order, and lanes never wait for
// each other longer than one call takes.
//
// # Guarantees
//
// A post that is in the queue is shown at least once or becomes a dead letter
// with a reason; it is shown exactly once unless the process died during a
// call or a call ended without a clear answer. Such a part is repeated with
// [chat.Part.Unsure] set, so that adapters which can look first do.
//
// The parts of a post of several parts are stored before the first one is
// sent; what a part became is stored before the next one is sent; and what a
// live preview became is stored as soon as the adapter tells. So a restart
// goes on at the next part, with the same parts, and edits the same messages.
//
// For one chat never two of Deliver, Edit and Delete are under way.
//
// # Taking over messages
//
// A post takes over the messages of the post it replaces, and those of its own
// live preview: part by part by edit, further parts are delivered, further
// messages deleted. Once an edit is refused for good, that part and all after
// it are delivered anew and the old messages deleted, so that the order holds.
// If the original was never begun it is dropped and the replacing post also
// takes over what the original would have; if it is begun, the replacing post
// waits until it is through. An original that another chat holds, or that
// was swept, is not touched: the post is shown as new.
//
// An adapter learns that an edit is coming, and that the edit limit of the
// chat holds, by Post.Replaces, which is never empty then: for a preview, and
// for the post that follows it, it is the post's own id.
//
// # Errors
//
// A wait that the platform asks for holds the whole chat for exactly that
// long, counts as no failure, and is followed by a minute of one message a
// second. A refusal for good makes a dead letter. Anything else is tried again
// with growing pauses: without end while the platform is out of reach, at most
// two minutes when it answers and the answer is an error;
// docs/decisions/outbox-outages.md tells why.
//
// # Caveats
//
// Previews and typing are best effort: they are paced, give way to posts, and
// only the newest text counts. A preview shows the head of a text that is too
// long for one message. Receipts live as long as the store keeps finished
// items; a post that replaces an older one is shown as new. A post that was
// withdrawn in the middle leaves what was shown of it, without a receipt.
package outbox
