package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// job is one attempt to bring the head of a lane a step further. A step is at
// most one Deliver or Edit; the next step begins with what the store holds, so
// that a post which was dropped meanwhile goes no further.
type job struct {
	*line
	lane *lane
	item storage.Item
	rec  record
	// heirs are the previews of other posts that this one takes over, to be
	// noted with the first record of how far it has come.
	heirs []storage.Op
}

// deliver does one step of a waiting item.
func (l *line) deliver(w waiting) {
	j := &job{line: l, lane: l.laneOf(w)}
	if !j.claim(w) {
		return
	}
	var err error
	if j.rec, err = decodeRecord(j.item); err != nil {
		j.discard(err)
		return
	}
	if len(j.rec.Parts) == 0 && !j.begin() {
		return
	}
	switch i := len(j.rec.Shown); {
	case i < len(j.rec.Over):
		j.edit(i)
	case i < len(j.rec.Parts):
		j.send(i)
	default:
		j.clean()
	}
}

// claim takes the item for this process. It fails when the item is not the
// head any more, or belongs to another process.
func (j *job) claim(w waiting) bool {
	until := j.now().Add(w.limit + j.box.opts.Grace)
	items, err := j.box.store.Claim(j.life.commits, queue, w.key, w.lane, j.box.opts.Owner, until, 1)
	if err != nil {
		j.log.Error().Err(err).Msg("claiming post")
		j.gone = errors.Is(err, storage.ErrClosed)
		j.lane.until = j.now().Add(time.Second)
		return false
	}
	if len(items) == 1 && items[0].ID == w.id {
		j.item, j.lane.taken, j.lane.miss = items[0], true, 0
		return true
	}
	j.stale = true
	if j.lane.miss++; j.lane.miss > 1 {
		j.lane.until = j.now().Add(time.Second)
	}
	return false
}

// begin prepares a post of which nothing is stored: where it goes, what it
// takes over, which parts it has. It reports whether the first step can be
// done now.
func (j *job) begin() bool {
	if j.sendElsewhere() || j.yield() || !j.takeOver() {
		return false
	}
	if err := j.render(); err != nil {
		j.bury(err)
		return false
	}
	if len(j.rec.Parts)+len(j.rec.Stale) > 1 {
		return j.note()
	}
	return true
}

// note records how far the post has come.
func (j *job) note() bool {
	ops := append([]storage.Op{j.rec.update()}, j.heirs...)
	j.heirs = nil
	return j.commit(ops...)
}

// render turns the post into parts and lays them over what is on the screen.
func (j *job) render() error {
	post := degrade(j.rec.Post, j.box.traits(j.key))
	if len(j.rec.Over) > 0 && post.Replaces == "" {
		post.Replaces = post.ID // an edit: the edit limit holds
	}
	if len(j.rec.Over) == 0 {
		post.Replaces = ""
	}
	parts, err := j.box.render(j.adapter, j.key, post)
	if err != nil {
		return err
	}
	j.rec.Parts = parts
	j.rec.keepOver(len(parts))
	return nil
}

// keepOver keeps the first n messages to be edited; the rest is to go.
func (r *record) keepOver(n int) {
	n = min(n, len(r.Over))
	for _, over := range r.Over[n:] {
		r.Stale = append(r.Stale, over.Messages...)
	}
	r.Over = r.Over[:n]
}

// render asks the adapter for the parts of a post and sees to what the
// contract promises about them.
func (o *Outbox) render(a chat.Adapter, k chat.Key, p chat.Post) (parts []chat.Part, err error) {
	err = o.guard(func() error { parts, err = a.Render(k, p); return err })
	if err != nil {
		return nil, fmt.Errorf("rendering post: %w", err)
	}
	if len(parts) == 0 {
		return nil, errors.New("rendering post: the adapter made no parts of it")
	}
	for i := range parts {
		part := &parts[i]
		part.ID, part.Post, part.Kind = fmt.Sprintf("%s#%d", p.ID, i), p.ID, p.Kind
		part.Last, part.Answers, part.Unsure = i == len(parts)-1, nil, false
		if part.Last {
			part.Answers = p.Answers
		}
		if len(part.Markup) > 0 && !json.Valid(part.Markup) {
			return nil, fmt.Errorf("rendering post: the markup of %s is not JSON", part.ID)
		}
	}
	return parts, nil
}

// send delivers part i as new messages.
func (j *job) send(i int) {
	part := j.rec.Parts[i]
	part.Unsure = j.unsure()
	var ids []chat.MessageID
	err := j.call(j.limit(part.Files), func(ctx context.Context) (err error) {
		ids, err = j.adapter.Deliver(ctx, j.key, part)
		return err
	})
	j.pace.went(j.now())
	if err != nil {
		j.failed(err, j.refused)
		return
	}
	j.shown(ids)
}

// unsure reports whether the next part may have arrived already: after an
// attempt without a clear answer, or when an earlier process may have tried.
func (j *job) unsure() bool {
	return j.rec.Tried || j.lane.tried || (j.item.Seq <= j.life.before && !j.lane.sure)
}

// edit turns a message that is on the screen into part i.
func (j *job) edit(i int) {
	over, now := j.rec.Over[i], j.rec.Parts[i]
	if !same(over.Part, now) {
		err := j.call(j.limit(now.Files), func(ctx context.Context) error {
			return j.adapter.Edit(ctx, j.key, over.Messages[0], over.Part, now)
		})
		j.pace.went(j.now())
		if err != nil {
			j.failed(err, j.anew)
			return
		}
	}
	j.shown(over.Messages)
}

// anew gives up editing: this part and all after it are delivered, and the
// messages they were to take over are deleted at the end.
func (j *job) anew(why error) {
	j.log.Info().Err(why).Str("post", j.rec.Post.ID).Msg("edit refused, sending anew")
	j.rec.keepOver(len(j.rec.Shown))
	if j.note() {
		j.lane.trouble = trouble{}
		j.lane.sure = true
	}
}

// shown records what the next part became, durably before anything else goes
// out.
func (j *job) shown(ids []chat.MessageID) {
	j.rec.Shown = append(j.rec.Shown, ids)
	j.rec.Tried = false
	j.recover()
	if len(j.rec.Shown) < len(j.rec.Parts) || len(j.rec.Stale) > 0 {
		j.lane.begun = true
		j.note()
		return
	}
	j.finish()
}

// recover forgets the trouble of a lane whose step went well.
func (j *job) recover() {
	if j.lane.tried {
		j.report(func(s *status) { s.since, s.why = time.Time{}, "" })
	}
	j.lane.trouble = trouble{}
	j.lane.sure = true
}

// clean deletes the messages that nothing took the place of. All of them are
// tried again if one fails, since deleting twice is fine.
func (j *job) clean() {
	for _, m := range j.rec.Stale {
		err := j.call(j.box.opts.CallTimeout, func(ctx context.Context) error {
			return j.adapter.Delete(ctx, j.key, m)
		})
		switch judge(err) {
		case fine:
		case never:
			j.log.Info().Err(err).Str("message", string(m)).Msg("message cannot be deleted")
		default:
			j.failed(err, func(why error) {
				j.log.Warn().Err(why).Str("message", string(m)).Msg("giving up deleting")
				j.finish()
			})
			return
		}
		if j.life.stopping() {
			return
		}
	}
	j.finish()
}

// finish ends a post that is wholly shown, with its receipt.
func (j *job) finish() {
	done := Receipt{Key: j.key, Messages: j.rec.Shown, Parts: j.rec.Parts}
	ops := []storage.Op{j.rec.finish(done)}
	for _, post := range j.rec.Rows {
		ops = append(ops, previewRows.Remove(post))
	}
	for _, post := range j.rec.Outdated {
		ops = append(ops, storage.Drop{Queue: queue, ID: post})
	}
	if j.commit(ops...) {
		j.through(j.item.ID)
	}
}

// failed decides what an error of a step means. refused says what happens when
// the step will never work, or has been tried for long enough.
func (j *job) failed(err error, refused func(error)) {
	if j.life.calls.Err() != nil {
		return // we hung up ourselves; the next process goes on
	}
	var (
		later chat.RetryAfter
		to    chat.Relocated
	)
	switch judge(err) {
	case wait:
		errors.As(err, &later)
		j.hold(time.Duration(later))
		j.lane.last = j.pace.hold // waiting as told wears no patience
	case gone:
		errors.As(err, &to)
		if !j.relocate(to.To) {
			j.again(err, true, refused)
		}
	case never:
		refused(err)
	case failing:
		j.again(err, true, refused)
	default:
		j.again(err, j.platform.heardSince(j.lane.last), refused)
	}
}

// again tries the step later, if patience allows.
func (j *job) again(err error, counts bool, refused func(error)) {
	now := j.now()
	if !j.lane.failed(now, counts, j.box.opts.Patience) {
		refused(fmt.Errorf("giving up after %s: %w", j.lane.spent, err))
		return
	}
	j.log.Warn().Err(err).Str("post", j.rec.Post.ID).Dur("pause", j.lane.until.Sub(now)).Msg("showing post")
	j.report(func(s *status) {
		if s.since.IsZero() {
			s.since = now
		}
		s.why = err.Error()
	})
}
