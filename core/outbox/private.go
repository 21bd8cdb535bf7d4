package outbox

import (
	"context"

	"parley/core/chat"
)

// sendElsewhere sends a post that one person alone may see to that person's
// private chat, if this chat cannot show it so. It reports whether that ended
// the attempt.
func (j *job) sendElsewhere() bool {
	if !j.rec.Post.Only || j.rec.Forwarded {
		return false
	}
	if t := j.box.traits(j.key); t.Private || t.Ephemeral {
		return false
	}
	j.forward("the chat shows it to everybody")
	return true
}

// forward ends the post here and puts it into the person's private chat, in
// one step. why says what keeps it from being shown here.
func (j *job) forward(why string) {
	to, ok := j.privateChat(j.rec.Post.For.ID)
	if !ok {
		j.nowhere(why + ", and there is no private chat")
		return
	}
	rec := j.rec.forwarded()
	if j.box.dest(to) == j.key {
		rec.Post.ID = j.rec.Post.ID
		if j.commit(rec.update()) { // it is private after all
			j.recover()
		}
		return
	}
	if j.commit(rec.enqueue(to), j.rec.finish(Receipt{Forward: rec.Post.ID})) {
		j.through(j.item.ID)
		j.box.Wake(to)
	}
}

// forwarded is the post as it goes to another chat, where neither ticket nor
// the message replied to mean anything.
func (r record) forwarded() record {
	p := r.Post
	p.ID += "/private"
	p.Only, p.Ticket, p.ReplyTo = false, "", ""
	return record{Post: p, Also: r.Also, Forwarded: true}
}

// nowhere ends a post unshown, with the reason as its receipt.
func (j *job) nowhere(why string) {
	j.log.Info().Str("post", j.rec.Post.ID).Str("reason", why).Msg("post shown nowhere")
	if j.commit(j.rec.finish(Receipt{Key: j.key, Nowhere: why})) {
		j.through(j.item.ID)
	}
}

func (j *job) privateChat(u chat.UserID) (k chat.Key, ok bool) {
	if j.box.opts.PrivateChat == nil || u == "" {
		return k, false
	}
	ctx, cancel := context.WithTimeout(j.life.calls, j.box.opts.CallTimeout)
	defer cancel()
	_ = j.box.guard(func() error { k, ok = j.box.opts.PrivateChat(ctx, u); return nil })
	return k, ok && j.box.adapters[k.Adapter] != nil
}
