package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// takeBack removes a preview whose post will not come. If that post or another
// one that takes the preview over waits, or is a dead letter that may be
// revived, the preview stays for it.
func (l *line) takeBack(p *preview) {
	err := l.tryTakeBack(p.post)
	if err == nil || p.fails >= giveUp || judge(err) == never {
		l.previews.forget(p.post)
		return
	}
	l.previewFailed(p, err)
}

func (l *line) tryTakeBack(post string) error {
	row, rev, err := previewRows.Get(l.life.commits, l.box.store, post)
	if err != nil {
		return err
	}
	item, err := l.box.store.Item(l.life.commits, queue, row.owner(post))
	switch unknown := errors.Is(err, storage.ErrNotFound); {
	case err != nil && !unknown:
		return err
	case !unknown && item.State != storage.StateDone:
		return nil
	case unknown || len(item.Result) == 0:
		if err := l.erase(post, row); err != nil {
			return err
		}
	}
	if rev != storage.NewRev {
		l.commit(previewRows.Remove(post))
	}
	return nil
}

// erase takes a preview off the screen. Twice is fine.
func (l *line) erase(post string, row previewRow) error {
	if l.box.traits(l.key).Drafts {
		err := l.call(l.box.opts.CallTimeout, func(ctx context.Context) error {
			return l.adapter.Signal(ctx, l.key, chat.Draft{Post: post})
		})
		if err != nil {
			l.log.Debug().Err(err).Str("post", post).Msg("taking back draft")
		}
	}
	for _, m := range row.Messages {
		err := l.call(l.box.opts.CallTimeout, func(ctx context.Context) error {
			return l.adapter.Delete(ctx, l.key, m)
		})
		if judge(err) == never {
			l.log.Info().Err(err).Str("message", string(m)).Msg("preview cannot be deleted")
		} else if err != nil {
			return err
		}
	}
	return nil
}

// takeBackWithdrawn takes back the previews of withdrawn posts that do not
// wait any more.
func (l *line) takeBackWithdrawn() {
	var still []string
	for _, id := range l.withdrawn {
		if _, waits := l.find(id); waits {
			still = append(still, id)
		} else {
			l.previews.want(id, "")
		}
	}
	l.withdrawn = still
}

// sweepPreviews takes back what earlier processes left: previews of posts that
// were dropped, and those that wait for a post longer than the store remembers
// posts. All others may still become one.
func (o *Outbox) sweepPreviews(ctx context.Context) error {
	rows, err := previewRows.All(ctx, o.store, "")
	if err != nil {
		return fmt.Errorf("reading previews: %w", err)
	}
	for post, row := range rows {
		item, err := o.store.Item(ctx, queue, row.owner(post))
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return fmt.Errorf("reading post of a preview: %w", err)
		}
		if err == nil && item.State == storage.StateDone || err != nil && o.old(row.At) {
			o.tell(row.Key, func(m *mail) { m.draft(post, "") })
		}
	}
	return nil
}

func (o *Outbox) old(t time.Time) bool { return o.opts.Now().Sub(t) > storage.KeepFinished }
