package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// previewRows holds the live previews that are messages, by the id of the post
// they will become. A row is written before the message is sent, so that a
// restart knows that there may be one, and again with what it became.
const previewRows storage.Typed[previewRow] = "previews"

// previewRow is one preview message.
type previewRow struct {
	Key      chat.Key         `json:"key"`
	Part     chat.Part        `json:"part"` // as it was first sent
	Sent     bool             `json:"sent,omitempty"`
	Messages []chat.MessageID `json:"messages,omitempty"` // of a Sent one
	At       time.Time        `json:"at"`
	// Heir is the post that takes the preview over, if it is not the one that
	// the preview was of.
	Heir string `json:"heir,omitempty"`
}

// owner is the post that decides what becomes of the preview of another.
func (r previewRow) owner(post string) string {
	if r.Heir != "" {
		return r.Heir
	}
	return post
}

// previews are the live previews of one chat. The memory of them lasts as long
// as the pace demands; after that the rows tell what is needed.
type previews struct {
	open []*preview
	next time.Time // none before
	turn time.Time // when the platform's rate admits the next one, zero: not asked
}

// preview is one text as far as it is written.
type preview struct {
	post  string
	text  string // newest; "" takes it back
	dirty bool   // text is not shown yet
	off   bool   // it cannot be shown
	fails int

	loaded bool
	row    previewRow
	tried  bool      // the message may have arrived, and nobody knows its id
	was    chat.Part // what the message shows, empty if that is not known
}

// giveUp is after how many failures a preview that should go is left standing.
const giveUp = 8

// Draft shows the text of a post as far as it is written, each time the whole
// text. It never blocks, and only the newest text counts. The post that is put
// under the same id takes the preview's place; an empty text takes the preview
// back. In chats that can show no preview, and once the post was put, it does
// nothing.
func (o *Outbox) Draft(k chat.Key, post, text string) {
	if !o.Live(k) {
		return
	}
	o.tell(k, func(m *mail) { m.draft(post, text) })
}

func (m *mail) draft(post, text string) {
	if m.drafts == nil {
		m.drafts = make(map[string]string)
	}
	m.drafts[post] = text
}

func (ps *previews) find(post string) *preview {
	i := slices.IndexFunc(ps.open, func(p *preview) bool { return p.post == post })
	if i < 0 {
		return nil
	}
	return ps.open[i]
}

func (ps *previews) want(post, text string) {
	p := ps.find(post)
	if p == nil {
		p = &preview{post: post}
		ps.open = append(ps.open, p)
	}
	p.text, p.dirty = text, !p.off || text == ""
}

func (ps *previews) forget(post string) {
	ps.open = slices.DeleteFunc(ps.open, func(p *preview) bool { return p.post == post })
}

// showing returns what a preview shows, an empty part if that is not known.
func (ps *previews) showing(post string) chat.Part {
	if p := ps.find(post); p != nil {
		return p.was
	}
	return chat.Part{}
}

func (ps *previews) due() *preview {
	i := slices.IndexFunc(ps.open, func(p *preview) bool { return p.dirty })
	if i < 0 {
		return nil
	}
	return ps.open[i]
}

// refresh brings one preview up to date if it is time to, or says when.
func (l *line) refresh(now time.Time, next *alarm) bool {
	ps := &l.previews
	if now.Before(ps.next) {
		next.by(ps.next)
	}
	p := ps.due()
	if p == nil {
		return false
	}
	at := l.pace.next(now)
	if p.text != "" || p.fails > 0 {
		at = latest(at, ps.next)
	}
	if at.After(now) {
		next.by(at)
		return false
	}
	if p.text == "" {
		l.takeBack(p)
		return true
	}
	if !l.awaited(p) {
		return true
	}
	if !l.admit(now, next) {
		return false
	}
	l.showPreview(p)
	return true
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// awaited reports whether the post itself has not been put yet; a preview of
// one that was is forgotten. If the store cannot tell, nothing is shown.
func (l *line) awaited(p *preview) bool {
	_, err := l.box.store.Item(l.life.commits, queue, p.post)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return true
	case err == nil:
		l.previews.forget(p.post)
	default:
		l.previewFailed(p, err)
		l.gone = l.gone || errors.Is(err, storage.ErrClosed)
	}
	return false
}

// admit waits in line for the platform's rate.
func (l *line) admit(now time.Time, next *alarm) bool {
	turn := &l.previews.turn
	if turn.IsZero() {
		*turn = now.Add(l.platform.ahead.ReserveN(now, 1).DelayFrom(now))
	}
	if turn.After(now) {
		next.by(*turn)
		return false
	}
	*turn = time.Time{}
	return true
}

// showPreview shows the newest text of a preview: as a draft where the platform
// has them, which vanish by themselves, else as a message that is edited and so
// has to be remembered.
func (l *line) showPreview(p *preview) {
	t := l.box.traits(l.key)
	p.dirty = false
	var err error
	switch {
	case t.Drafts:
		err = l.call(l.box.opts.CallTimeout, func(ctx context.Context) error {
			return l.adapter.Signal(ctx, l.key, chat.Draft{Post: p.post, Text: p.text})
		})
	case t.Edits:
		err = l.showMessage(p)
	}
	l.previews.next = l.now().Add(t.PreviewEvery)
	if err == nil {
		p.fails = 0
		return
	}
	l.previewFailed(p, err)
}

// previewFailed decides what the error of a preview means. A preview is never
// urgent, so all it costs is waiting.
func (l *line) previewFailed(p *preview, err error) {
	l.log.Debug().Err(err).Str("post", p.post).Msg("showing preview")
	var (
		later chat.RetryAfter
		to    chat.Relocated
	)
	p.dirty = true
	switch judge(err) {
	case wait:
		errors.As(err, &later)
		l.hold(time.Duration(later))
		return
	case gone:
		errors.As(err, &to)
		if l.relocate(to.To) {
			return
		}
	case never:
		p.off, p.dirty = true, false
		return
	}
	p.fails++
	l.previews.next = latest(l.previews.next, l.now().Add(min(time.Second<<min(p.fails, 10), maxPause)))
}

// showMessage shows a preview as a message: sent once, then edited. What does
// not fit into one message is not previewed.
func (l *line) showMessage(p *preview) error {
	post := chat.Post{ID: p.post, Text: p.text, Replaces: p.post}
	parts, err := l.box.render(l.adapter, l.key, post)
	if err != nil {
		l.log.Debug().Err(err).Str("post", p.post).Msg("rendering preview")
		return nil // the next text may do
	}
	part := parts[0]
	part.ID, part.Last, part.Answers = p.post+"#preview", false, nil
	if err := l.loadPreview(p); err != nil {
		return err
	}
	switch {
	case l.box.dest(p.row.Key) != l.key:
		return fmt.Errorf("preview is in another chat: %w", chat.ErrPermanent)
	case !p.row.Sent:
		return l.sendPreview(p, part)
	case len(p.row.Messages) == 0:
		return fmt.Errorf("preview cannot be edited: %w", chat.ErrPermanent)
	default:
		return l.editPreview(p, part)
	}
}

// loadPreview reads what the store knows of a preview, once.
func (l *line) loadPreview(p *preview) error {
	if p.loaded {
		return nil
	}
	row, rev, err := previewRows.Get(l.life.commits, l.box.store, p.post)
	if err != nil {
		return err
	}
	if rev == storage.NewRev {
		row.Key = l.key
	}
	p.row, p.loaded, p.tried = row, true, rev != storage.NewRev && !row.Sent
	return nil
}

// sendPreview makes the message of a preview. Its row is on disk before the
// call, since after a crash a message that nobody knows of would stay.
func (l *line) sendPreview(p *preview, part chat.Part) error {
	if !p.tried {
		p.row.Part, p.row.At = part, l.now()
		if !l.commit(previewRows.Set(p.post, p.row)) {
			return nil
		}
	}
	row, err := l.deliverPreview(p.post, p.row, p.tried)
	if err != nil {
		out := judge(err)
		p.tried = p.tried || out == silent || out == failing
		if out == never {
			l.commit(previewRows.Remove(p.post))
		}
		return err
	}
	p.row, p.was = row, row.Part
	p.dirty = !same(row.Part, part)
	return nil
}

// deliverPreview sends a preview and records what it became.
func (l *line) deliverPreview(post string, row previewRow, unsure bool) (previewRow, error) {
	part := row.Part
	part.Unsure = unsure
	err := l.call(l.box.opts.CallTimeout, func(ctx context.Context) (err error) {
		row.Messages, err = l.adapter.Deliver(ctx, l.key, part)
		return err
	})
	l.pace.went(l.now())
	if err == nil {
		row.Sent = true
		l.commit(previewRows.Set(post, row))
	}
	return row, err
}

// editPreview brings the message of a preview up to date. When it is not known
// whether the edit arrived, nothing counts as shown and the next one is sent
// whatever it says.
func (l *line) editPreview(p *preview, part chat.Part) error {
	if same(p.was, part) {
		return nil
	}
	err := l.call(l.box.opts.CallTimeout, func(ctx context.Context) error {
		return l.adapter.Edit(ctx, l.key, p.row.Messages[0], p.was, part)
	})
	l.pace.went(l.now())
	switch judge(err) {
	case fine:
		p.was = part
	case silent, failing:
		p.was = chat.Part{}
	}
	return err
}
