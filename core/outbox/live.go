package outbox

import "parley/core/chat"

// Live reports whether a chat shows drafts: whether [Outbox.Draft] does
// anything there. It does not block.
func (o *Outbox) Live(k chat.Key) bool {
	t := o.traits(o.dest(k))
	return t.PreviewEvery > 0 && (t.Drafts || t.Edits)
}
