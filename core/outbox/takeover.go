package outbox

import (
	"errors"
	"slices"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// yield drops the post if a later one replaces it and nothing of it can have
// been shown. The later one then takes over what this one would have. It
// reports whether that ended the attempt.
func (j *job) yield() bool {
	if j.mayBeBegun(j.item.ID) {
		return false
	}
	for _, w := range j.items {
		if w.seq > j.item.Seq && slices.Contains(w.replaces, j.item.ID) {
			return j.supersede(j.item, w.id)
		}
	}
	return false
}

// supersede drops an item that was never begun in favour of the post that
// replaces it, in one step. It reports whether it did.
func (l *line) supersede(old storage.Item, by string) bool {
	item, err := l.box.store.Item(l.life.commits, queue, by)
	if err != nil || item.State != storage.StateWaiting {
		l.stale = true
		l.gone = l.gone || errors.Is(err, storage.ErrClosed)
		return false
	}
	was, err1 := decodeRecord(old)
	rec, err2 := decodeRecord(item)
	if err1 != nil || err2 != nil || len(rec.Parts) > 0 {
		return false
	}
	rec.inherit(was)
	ops := []storage.Op{storage.Drop{Queue: queue, ID: old.ID}, rec.update()}
	for _, id := range append(was.targets(), old.ID) {
		row, rev, err := previewRows.Get(l.life.commits, l.box.store, id)
		if err == nil && rev != storage.NewRev {
			row.Heir = by
			ops = append(ops, previewRows.Set(id, row))
		}
	}
	if l.commit(ops...) {
		l.through(old.ID)
	}
	return true
}

// inherit takes over what an older post was to take over and to settle.
func (r *record) inherit(was record) {
	for _, id := range was.targets() {
		if !slices.Contains(r.targets(), id) {
			r.Also = append(r.Also, id)
		}
	}
	answers := slices.Clone(was.Post.Answers)
	for _, id := range r.Post.Answers {
		if !slices.Contains(answers, id) {
			answers = append(answers, id)
		}
	}
	r.Post.Answers = answers
}

// mayBeBegun reports whether some of a waiting item may be on the screen.
// Only the head of a lane can have been begun.
func (l *line) mayBeBegun(id string) bool {
	w, ok := l.find(id)
	if !ok {
		return false
	}
	if head, _ := l.head(w.lane); head.id != id {
		return w.begun
	}
	ln := l.laneOf(w)
	return w.begun || ln.begun || ln.tried || (w.seq <= l.life.before && !ln.sure)
}

// takeOver finds the messages that the post takes the place of. It reports
// false when the post has to wait for an original that is being shown, or when
// something else had to be done first.
func (j *job) takeOver() bool {
	j.rec.Over, j.rec.Rows, j.rec.Outdated, j.heirs = nil, nil, nil, nil
	for _, id := range j.rec.targets() {
		if !j.takeOverPost(id) {
			return false
		}
	}
	return j.takeOverPreview(j.rec.Post.ID)
}

// takeOverPost takes over what is on the screen of one earlier post.
func (j *job) takeOverPost(id string) bool {
	item, err := j.box.store.Item(j.life.commits, queue, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return j.takeOverPreview(id)
	case err != nil:
		j.log.Error().Err(err).Msg("reading the post to be replaced")
		j.lane.until = j.now().Add(time.Second)
		return false
	}
	switch item.State {
	case storage.StateWaiting:
		return j.takeOverWaiting(item)
	case storage.StateDead:
		return j.takeOverDead(item)
	default:
		return j.takeOverDone(item)
	}
}

// takeOverWaiting drops an original that was never begun and waits for one
// that may be. An original of another chat, or one that was put later, is not
// waited for, so that no two posts can wait for each other.
func (j *job) takeOverWaiting(item storage.Item) bool {
	if _, here := j.find(item.ID); !here || item.Seq > j.item.Seq {
		return true
	}
	if !j.mayBeBegun(item.ID) {
		return !j.supersede(item, j.item.ID) && !j.gone
	}
	j.lane.await = item.ID
	return false
}

func (j *job) takeOverDead(item storage.Item) bool {
	if rec, err := decodeRecord(item); err == nil {
		for i, ids := range rec.Shown {
			j.stand(ids, rec.Parts[i])
		}
	}
	j.rec.Outdated = append(j.rec.Outdated, item.ID)
	return j.takeOverPreview(item.ID)
}

func (j *job) takeOverDone(item storage.Item) bool {
	if len(item.Result) == 0 {
		return j.takeOverPreview(item.ID) // dropped
	}
	r, err := decodeReceipt(item)
	if err != nil {
		j.log.Error().Err(err).Msg("reading the post to be replaced")
		return true
	}
	if r.Forward != "" {
		return j.takeOverPost(r.Forward)
	}
	if j.box.dest(r.Key) == j.key {
		for i, ids := range r.Messages {
			j.stand(ids, r.Parts[i])
		}
	}
	return true
}

// takeOverPreview takes over a live preview. One whose fate is not known is
// settled first, by delivering it once more.
func (j *job) takeOverPreview(post string) bool {
	row, rev, err := previewRows.Get(j.life.commits, j.box.store, post)
	switch {
	case err != nil && rev == storage.NewRev:
		j.log.Error().Err(err).Msg("reading preview")
		j.lane.until = j.now().Add(time.Second)
		return false
	case err != nil: // a row that means nothing: it goes with the post
		j.log.Error().Err(err).Msg("reading preview")
		j.rec.Rows = append(j.rec.Rows, post)
		return true
	case rev == storage.NewRev:
		return true
	}
	if !row.Sent && j.box.dest(row.Key) == j.key {
		j.settlePreview(post, row)
		return false
	}
	j.rec.Rows = append(j.rec.Rows, post)
	if id := j.rec.Post.ID; row.owner(post) != id {
		row.Heir = id
		j.heirs = append(j.heirs, previewRows.Set(post, row))
	}
	if j.box.dest(row.Key) == j.key {
		j.stand(row.Messages, j.previews.showing(post))
	}
	return true
}

// settlePreview finds out what became of a preview.
func (j *job) settlePreview(post string, row previewRow) {
	if _, err := j.deliverPreview(post, row, true); err != nil {
		j.failed(err, func(error) { j.commit(previewRows.Remove(post)) })
	}
}

// stand notes messages to be taken over. A part without messages leaves
// nothing to edit.
func (j *job) stand(ids []chat.MessageID, part chat.Part) {
	if len(ids) > 0 {
		j.rec.Over = append(j.rec.Over, standing{Messages: ids, Part: part})
	}
}
