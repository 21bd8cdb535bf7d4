package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"parley/core/chat"
)

// story is a random course of events: posts, drafts, errors, kills.
type story struct {
	steps  []step
	errors []error // how calls end, one after another; then all is well
	looks  bool
}

type step struct {
	draft bool // of the post, before it is put
	post  chat.Post
	key   chat.Key
	kill  int // commits until the process dies, 0: it lives
	pass  time.Duration
}

// restless reports whether a part may arrive without a clear answer.
func (s story) restless() bool {
	return slices.Contains(s.errors, errArrived) || slices.ContainsFunc(s.steps, func(s step) bool { return s.kill > 0 })
}

func drawStory(rt *rapid.T, ambiguous bool) story {
	s := story{looks: rapid.Bool().Draw(rt, "looks")}
	ends := []error{nil, nil, nil, chat.RetryAfter(3 * time.Second)}
	if ambiguous {
		ends = append(ends, errArrived, errLost)
	}
	s.errors = rapid.SliceOfN(rapid.SampledFrom(ends), 0, 20).Draw(rt, "errors")
	for i := range rapid.IntRange(1, 12).Draw(rt, "posts") {
		s.steps = append(s.steps, drawStep(rt, i, ambiguous))
		s.drawReplaces(rt)
	}
	return s
}

// drawReplaces lets the last post replace an earlier one of its chat, or none.
func (s story) drawReplaces(rt *rapid.T) {
	last := &s.steps[len(s.steps)-1]
	if rapid.IntRange(0, 2).Draw(rt, "replaces") > 0 {
		return
	}
	old := s.steps[rapid.IntRange(0, len(s.steps)-1).Draw(rt, "old")]
	if old.key == last.key && old.post.ID != last.post.ID && !s.replaced(old.post.ID) {
		last.post.Replaces = old.post.ID
	}
}

func (s story) replaced(id string) bool {
	return slices.ContainsFunc(s.steps, func(s step) bool { return s.post.Replaces == id })
}

func drawStep(rt *rapid.T, i int, ambiguous bool) step {
	id := fmt.Sprintf("p%02d", i)
	texts := make([]string, rapid.IntRange(1, 3).Draw(rt, "parts"))
	for n := range texts {
		texts[n] = fmt.Sprintf("%s.%d", id, n)
	}
	s := step{
		key: rapid.SampledFrom([]chat.Key{room, other}).Draw(rt, "chat"),
		post: chat.Post{
			ID: id, Text: strings.Join(texts, "|"), Turn: "t",
			Kind:   rapid.SampledFrom([]chat.Kind{chat.Answer, chat.Answer, chat.Notice}).Draw(rt, "kind"),
			Ticket: rapid.SampledFrom([]string{"", "", "", "ticket"}).Draw(rt, "ticket"),
		},
		draft: rapid.IntRange(0, 3).Draw(rt, "draft") == 0,
		pass:  rapid.SampledFrom([]time.Duration{0, 0, time.Second, 10 * time.Second}).Draw(rt, "pass"),
	}
	if ambiguous && rapid.IntRange(0, 3).Draw(rt, "kill") == 0 {
		s.kill = rapid.IntRange(1, 6).Draw(rt, "commits")
	}
	return s
}

// tell plays a story to its end.
func (s story) tell(w *world) {
	w.looks = s.looks
	next := 0
	w.set(func(context.Context, call) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if next == len(s.errors) {
			return nil
		}
		next++
		return s.errors[next-1]
	})
	for _, step := range s.steps {
		if step.draft {
			w.box.Draft(step.key, step.post.ID, step.post.Text)
			w.pass(step.pass)
		}
		w.show(step.key, step.post)
		if step.kill > 0 {
			w.shelf.dieAfter(step.kill)
		}
		w.pass(step.pass)
		if step.kill > 0 {
			w.kill()
		}
	}
	w.pass(10 * time.Minute)
}

// judge says what is wrong at the end of a story.
func (s story) judge(w *world) error {
	calls := w.log()
	var wrong []error
	for _, step := range s.steps {
		for i, text := range strings.Split(step.post.Text, "|") {
			times := 0
			for _, m := range w.screen[step.key] {
				if m.text == text {
					times++
				}
			}
			want := 1
			if s.replaced(step.post.ID) {
				want = 0
			}
			once := s.looks || !s.restless()
			if times < want || once && times > want {
				wrong = append(wrong, fmt.Errorf("%s#%d stands %d times", step.post.ID, i, times))
			}
		}
	}
	wrong = append(wrong, repeated(calls)...)
	wrong = append(wrong, s.disordered(calls)...)
	if n, err := w.box.Waiting(w.t.Context()); n != 0 || err != nil {
		wrong = append(wrong, fmt.Errorf("%d wait, %v", n, err))
	}
	if w.overlap {
		wrong = append(wrong, errors.New("two calls for one chat at once"))
	}
	if len(wrong) == 0 {
		return nil
	}
	for _, c := range calls {
		wrong = append(wrong, fmt.Errorf("%s: %s %s (arrived: %t)", c.at, c.key.Chat, c, c.arrived))
	}
	return errors.Join(wrong...)
}

// repeated finds deliveries that repeat one that arrived without saying so.
func repeated(calls []call) (wrong []error) {
	arrived := make(map[string]bool)
	for _, c := range calls {
		if c.verb != "deliver" {
			continue
		}
		if arrived[c.part.ID] && !c.part.Unsure {
			wrong = append(wrong, fmt.Errorf("%s is repeated as if it were new", c.part.ID))
		}
		arrived[c.part.ID] = arrived[c.part.ID] || c.arrived
	}
	return wrong
}

// disordered finds parts that arrived before an earlier one of their lane.
func (s story) disordered(calls []call) (wrong []error) {
	lane := make(map[string]string)
	for _, step := range s.steps {
		lane[step.post.ID] = fmt.Sprint(step.key, step.post.Kind, step.post.Ticket)
		if step.draft || step.post.Replaces != "" {
			lane[step.post.ID] = step.post.ID // it takes a place that came before its turn
		}
	}
	last := make(map[string]string)
	seen := make(map[string]bool)
	for _, c := range calls {
		preview := strings.HasSuffix(c.part.ID, "#preview")
		if c.verb != "deliver" || !c.arrived || preview || seen[c.part.ID] {
			continue
		}
		seen[c.part.ID] = true
		in := lane[c.part.Post]
		if last[in] > c.part.ID {
			wrong = append(wrong, fmt.Errorf("%s arrived after %s", c.part.ID, last[in]))
		}
		last[in] = c.part.ID
	}
	return wrong
}

func TestAnyStoryEndsWell(t *testing.T) {
	for name, ambiguous := range map[string]bool{"clear": false, "ambiguous": true} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				s := drawStory(rt, ambiguous)
				var err error
				synctest.Test(t, func(t *testing.T) {
					w := &world{fake: newFake(), t: t, shelf: newShelf()}
					w.traits.PreviewEvery = time.Second
					w.opts.Patience = time.Hour
					w.start()
					s.tell(w)
					err = s.judge(w)
					w.stop()
				})
				if err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}
