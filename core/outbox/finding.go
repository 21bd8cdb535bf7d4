package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// self is how the outbox calls itself in findings.
const self = "outbox"

// Waiting returns how many posts wait, in all chats together.
func (o *Outbox) Waiting(ctx context.Context) (int, error) {
	lanes, err := o.store.Lanes(ctx, queue)
	if err != nil {
		return 0, fmt.Errorf("counting waiting posts: %w", err)
	}
	n := 0
	for _, lane := range lanes {
		n += lane.Count
	}
	return n, nil
}

// Findings reports on posts that wait long, chats that are held back or fail,
// posts of adapters that are not configured, and dead letters. A store that
// cannot be read is a finding as well.
func (o *Outbox) Findings(ctx context.Context) []chat.Finding {
	checks := []func(context.Context) ([]chat.Finding, error){
		o.findWaiting, o.findStranded, o.findHeld, o.findDead,
	}
	var all []chat.Finding
	for _, check := range checks {
		found, err := check(ctx)
		if err != nil {
			return append(all, chat.Finding{Part: self, Level: chat.Fail, Says: err.Error()})
		}
		all = append(all, found...)
	}
	return all
}

// findWaiting is the one finding that is always there.
func (o *Outbox) findWaiting(ctx context.Context) ([]chat.Finding, error) {
	n, err := o.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	first, err := o.store.Items(ctx, queue, storage.Filter{}, 0, 1)
	if err != nil {
		return nil, fmt.Errorf("reading the oldest post: %w", err)
	}
	f := chat.Finding{Part: self, Level: chat.Good, Says: "No post waits."}
	if n > 0 && len(first) > 0 {
		age := o.opts.Now().Sub(first[0].Since).Truncate(time.Second)
		f.Says = fmt.Sprintf("%s, the oldest for %s.", count(n, "post waits", "posts wait"), age)
		if age > o.opts.Patience {
			f.Level = chat.Warn
		}
	}
	return []chat.Finding{f}, nil
}

// findStranded finds posts of adapters that are not configured: they wait
// until the adapter is back.
func (o *Outbox) findStranded(ctx context.Context) ([]chat.Finding, error) {
	lanes, err := o.store.Lanes(ctx, queue)
	if err != nil {
		return nil, fmt.Errorf("listing lanes: %w", err)
	}
	stranded := make(map[string]int)
	for _, lane := range lanes {
		name, _, _ := strings.Cut(lane.Key, ":")
		if o.adapters[name] == nil {
			stranded[name] += lane.Count
		}
	}
	var found []chat.Finding
	for name, n := range stranded {
		found = append(found, chat.Finding{
			Part: self, Level: chat.Warn,
			Says:   fmt.Sprintf("%s for adapter %q, which is not configured.", count(n, "post waits", "posts wait"), name),
			Remedy: "Configure the adapter again and they are shown.",
		})
	}
	slices.SortFunc(found, bySentence)
	return found, nil
}

// findHeld finds chats that are held back or fail, one finding an adapter.
func (o *Outbox) findHeld(context.Context) ([]chat.Finding, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.opts.Now()
	held, failing, why := map[string]int{}, map[string]int{}, map[string]string{}
	for k, l := range o.lines {
		switch s := l.status; {
		case now.Before(s.hold):
			held[k.Adapter]++
		case !s.since.IsZero():
			failing[k.Adapter]++
			why[k.Adapter] = s.why
		}
	}
	var found []chat.Finding
	for name, n := range held {
		found = append(found, chat.Finding{Part: self, Level: chat.Warn,
			Says: fmt.Sprintf("%s asks to wait in %s.", name, count(n, "chat", "chats"))})
	}
	for name, n := range failing {
		found = append(found, chat.Finding{Part: self, Level: chat.Warn,
			Says: fmt.Sprintf("%s fails in %s, at last with: %s.", name, count(n, "chat", "chats"), why[name])})
	}
	slices.SortFunc(found, bySentence)
	return found, nil
}

func bySentence(a, b chat.Finding) int { return strings.Compare(a.Says, b.Says) }

func (o *Outbox) findDead(ctx context.Context) ([]chat.Finding, error) {
	dead, err := o.Dead(ctx)
	if err != nil || len(dead) == 0 {
		return nil, err
	}
	last := dead[len(dead)-1]
	return []chat.Finding{{
		Part: self, Level: chat.Warn,
		Says: fmt.Sprintf("%s could not be shown, the last one because: %s.", count(len(dead), "post", "posts"), last.Reason),
	}}, nil
}

// count writes how many, with the words for one or for several.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
