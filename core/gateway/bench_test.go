package gateway_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/core/chat"
	"parley/core/llm"
)

// instantly is a model that takes no time.
func instantly(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
	return llm.Reply{Text: "An answer of a usual length, which is to say one sentence or two."}, nil
}

// bench is a stack in real time that tells when an event was answered.
type bench struct {
	*stack
	mu    sync.Mutex
	waits map[string]chan struct{}
}

func newBench(b *testing.B, arrange func(*stack)) *bench {
	w := &bench{stack: newStack(b, instantly), waits: make(map[string]chan struct{})}
	w.real, w.main().blind = true, true
	w.screen.shown = w.shown
	arrange(w.stack)
	w.start()
	b.Cleanup(w.stop)
	return w
}

func (w *bench) shown(p chat.Part) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ev := range p.Answers {
		close(w.waits[ev])
		delete(w.waits, ev)
	}
}

// await returns what is closed when an event has been answered.
func (w *bench) await(id string) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	done := make(chan struct{})
	w.waits[id] = done
	return done
}

// ask hands over one message and waits for its answer.
func (w *bench) ask(id, chatName string) time.Duration {
	ev := chat.Event{ID: id, Key: key(chatName), From: ada, At: time.Now(), Body: private("A question of a usual length?")}
	done := w.await(id)
	begin := time.Now()
	w.deliver(ev)
	<-done
	return time.Since(begin)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// percentile expects a sorted list.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

// BenchmarkTurn is the overhead of a turn: from Accept to the answer delivered,
// with a model and a platform that take no time.
func BenchmarkTurn(b *testing.B) {
	w := newBench(b, func(*stack) {})
	var took []time.Duration
	for b.Loop() {
		took = append(took, w.ask(fmt.Sprint("ev", len(took)), "a"))
	}
	slices.Sort(took)
	b.ReportMetric(milliseconds(percentile(took, 50)), "ms/p50")
	b.ReportMetric(milliseconds(percentile(took, 99)), "ms/p99")
}

// BenchmarkCrowd is 200 chats with 5 messages each, all at once.
func BenchmarkCrowd(b *testing.B) {
	const chats, each = 200, 5
	w := newBench(b, func(*stack) {})
	n := 0
	for b.Loop() {
		n++
		var all sync.WaitGroup
		for c := range chats {
			all.Go(func() {
				var answered []chan struct{}
				for m := range each {
					ev := chat.Event{ID: fmt.Sprintf("ev%d.%d.%d", n, c, m), Key: key(fmt.Sprint(c)), From: ada, Body: private("A question?")}
					answered = append(answered, w.await(ev.ID))
					w.deliver(ev)
				}
				for _, done := range answered {
					<-done
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(float64(n*chats*each)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkLongSession compares the last 20 of 500 turns with 20 turns of a
// conversation that begins then, in the same store: what the length of a
// conversation costs. The first 20 of the 500 tell what the growth of an empty
// store costs on top.
func BenchmarkLongSession(b *testing.B) {
	n := 0
	var first, last, fresh time.Duration
	for b.Loop() {
		n++
		w := newBench(b, func(s *stack) { s.main().info.Context = 0 })
		turns := func(chatName string, count int) []time.Duration {
			var took []time.Duration
			for turn := range count {
				took = append(took, w.ask(fmt.Sprintf("ev%s%d.%d", chatName, n, turn), chatName))
			}
			return took
		}
		long, short := turns("a", 500), turns("b", 20)
		first, last, fresh = median(long[:20]), median(long[480:]), median(short)
	}
	b.ReportMetric(milliseconds(first), "ms/first20")
	b.ReportMetric(milliseconds(last), "ms/last20")
	b.ReportMetric(milliseconds(fresh), "ms/fresh20")
	b.ReportMetric(float64(last)/float64(fresh), "last/fresh")
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return percentile(list, 50)
}

// BenchmarkThousandSessions is what 1,000 conversations of 5 turns take of the
// heap while they are in memory, and once they were idle.
func BenchmarkThousandSessions(b *testing.B) {
	const sessions, turns = 1000, 5
	var live, idle, goroutines float64
	for b.Loop() {
		w := newBench(b, func(s *stack) { s.config.Idle = 20 * time.Second })
		before, few := heap(), runtime.NumGoroutine()
		var all sync.WaitGroup
		for c := range sessions {
			all.Go(func() {
				for m := range turns {
					w.ask(fmt.Sprintf("ev%d.%d", c, m), fmt.Sprint(c))
				}
			})
		}
		all.Wait()
		if n := w.host.Live(); n != sessions {
			b.Errorf("%d conversations in memory, want %d", n, sessions)
		}
		live, goroutines = heap()-before, float64(runtime.NumGoroutine()-few)
		for w.host.Live() > 0 {
			time.Sleep(100 * time.Millisecond)
		}
		idle = heap() - before
	}
	b.ReportMetric(live/sessions, "B/live")
	b.ReportMetric(idle/sessions, "B/idle")
	b.ReportMetric(goroutines/sessions, "goroutines/live")
}

// heap returns the bytes in use.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
