package main

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"parley/cmd/parley/config"
	"parley/cmd/parley/redact"
	"parley/core/chat"
	"parley/core/llm/llmtest"
	"parley/core/session"
	"parley/storage"
	"parley/storage/bolt"

	"github.com/rs/zerolog"
)

// The crash tests run parley as a child process and kill it, again and again,
// at random points. They take a minute, so they run when PARLEY_SLOW is set;
// .ci/run sets it.

// Environment of the child.
const (
	crashDir      = "PARLEY_TEST_CRASH_DIR"
	crashPlatform = "PARLEY_TEST_CRASH_PLATFORM"
	crashModel    = "PARLEY_TEST_CRASH_MODEL"
)

// crashChild is parley between the platform and the model of a crash test.
func crashChild() error {
	ctx, stop := untilSignal(context.Background(), func() { os.Exit(exitFail) })
	defer stop()
	c, err := config.Load("", func(string) (string, bool) { return "", false })
	if err != nil {
		return err
	}
	c.DataDir = os.Getenv(crashDir)
	c.HTTP.Listen = config.Off
	c.Models = []config.Model{{Name: "fake", Model: "fake", BaseURL: os.Getenv(crashModel), Strength: "low"}}
	c.Access.Owners = []chat.UserID{"wire:1"}
	app, err := assembleWith(ctx, Setup{Config: c, Log: zerolog.New(os.Stderr).Level(zerolog.ErrorLevel), Redact: redact.New()},
		map[string]chat.Adapter{"wire": wire{os.Getenv(crashPlatform)}})
	if err != nil {
		return err
	}
	return errors.Join(app.Serve(ctx, false), app.Close())
}

// crash is one run of the test: the outside world, and a parley that dies.
type crash struct {
	t        *testing.T
	dir      string
	platform *platform
	model    *llmtest.Server
	dice     *rand.Rand
	resumed  int // turns that were taken up again
	given    int // turns that three attempts could not end
}

func newCrash(t *testing.T, events []chat.Event) *crash {
	t.Helper()
	if os.Getenv("PARLEY_SLOW") == "" {
		t.Skip("slow; PARLEY_SLOW=1 runs it, and so does .ci/run")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := &crash{t: t, dir: t.TempDir(), platform: newPlatform(t, events), dice: rand.New(rand.NewPCG(seed, 0))}
	c.model = llmtest.NewServer(func(r llmtest.Request) llmtest.Script {
		wait := time.Duration(rand.IntN(60)) * time.Millisecond
		return llmtest.Script{llmtest.Wait(wait), llmtest.Text("so you "), llmtest.Wait(wait / 4), llmtest.Text("say")}
	})
	t.Cleanup(c.model.Close)
	return c
}

// life starts a parley and waits until it has polled once.
func (c *crash) life() *exec.Cmd {
	c.t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDir+"="+c.dir,
		crashPlatform+"="+c.platform.server.URL, crashModel+"="+c.model.URL())
	child.Stderr = c.t.Output()
	select {
	case <-c.platform.polled:
	default:
	}
	if err := child.Start(); err != nil {
		c.t.Fatal(err)
	}
	select {
	case <-c.platform.polled:
	case <-time.After(time.Minute):
		c.t.Fatal("parley did not poll within a minute")
	}
	return child
}

// kill ends many lives at random points while the story goes on.
func (c *crash) kill(times int) {
	c.t.Helper()
	each := len(c.platform.events)/times + 1
	for range times {
		child := c.life()
		c.platform.release(each)
		time.Sleep(time.Duration(c.dice.IntN(120)) * time.Millisecond)
		if err := child.Process.Kill(); err != nil {
			c.t.Fatal(err)
		}
		_ = child.Wait()
	}
}

// finish lets a last parley answer what is open, and stops it in good order.
func (c *crash) finish() {
	c.t.Helper()
	child := c.life()
	c.platform.release(len(c.platform.events))
	deadline := time.Now().Add(2 * time.Minute)
	for len(c.platform.open()) > 0 {
		if time.Now().After(deadline) {
			c.t.Fatalf("unanswered: %v", c.platform.open())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := child.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		c.t.Errorf("stopping in good order: %v", err)
	}
}

// settlement is one post of the outbox's record that settles events.
type settlement struct {
	seq     uint64
	post    string
	answers []string
}

// settlements reads the outbox's record, by chat and in order.
func (c *crash) settlements(store storage.Store) map[chat.Key][]settlement {
	c.t.Helper()
	all := make(map[chat.Key][]settlement)
	for _, state := range []storage.State{storage.StateDone, storage.StateWaiting, storage.StateDead} {
		items, err := store.Items(c.t.Context(), "outbox", storage.Filter{State: state}, 0, 100_000)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, item := range items {
			key, err := chat.ParseKey(item.Key)
			if err != nil {
				c.t.Fatal(err)
			}
			if answers := c.answers(item); len(answers) > 0 {
				all[key] = append(all[key], settlement{item.Seq, item.ID, answers})
			}
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b settlement) int { return int(a.seq) - int(b.seq) })
	}
	return all
}

// answers are the events that a post settles, as its receipt or itself says.
func (c *crash) answers(item storage.Item) []string {
	c.t.Helper()
	var record struct {
		Post  struct{ Answers []string }
		Parts []struct{ Answers []string }
	}
	data := item.Data
	if item.State == storage.StateDone {
		data = item.Result
	}
	if len(data) == 0 {
		return nil // dropped unshown
	}
	if err := json.Unmarshal(data, &record); err != nil {
		c.t.Fatalf("torn record of post %s: %v", item.ID, err)
	}
	answers := record.Post.Answers
	for _, p := range record.Parts {
		answers = append(answers, p.Answers...)
	}
	return answers
}

// checkLog reads a conversation's log and holds it to its rules.
func (c *crash) checkLog(store storage.Store, key chat.Key) {
	c.t.Helper()
	entries, err := session.ReadLog(c.t.Context(), store, key)
	if err != nil {
		c.t.Fatalf("log of %s: %v", key, err)
	}
	open, seen := "", make(map[string]bool)
	for i, e := range entries {
		if e.Seq != uint64(i)+1 {
			c.t.Fatalf("log of %s: entry %d has number %d", key, i+1, e.Seq)
		}
		switch b := e.Body.(type) {
		case session.TurnStarted:
			if open != "" {
				c.t.Errorf("log of %s: turn %s begins inside %s", key, b.Turn, open)
			}
			open = b.Turn
		case session.Attempted:
			c.resumed++
		case session.TurnEnded:
			if b.Turn != open {
				c.t.Errorf("log of %s: turn %q ends while %q is open", key, b.Turn, open)
			}
			open = ""
			if b.How == session.Broken {
				c.given++
			}
		case session.AssistantSaid:
			if b.Turn != open {
				c.t.Errorf("log of %s: an answer of turn %q while %q is open", key, b.Turn, open)
			}
		case session.UserSaid:
			if seen[e.Origin] {
				c.t.Errorf("log of %s: event %s is taken twice", key, e.Origin)
			}
			seen[e.Origin] = true
		}
	}
	if open != "" {
		c.t.Errorf("log of %s: turn %s never ends", key, open)
	}
}

// TestCrash kills parley a hundred times during 200 messages over 20 chats:
// every message is answered by one post, in order, and every log is whole.
func TestCrash(t *testing.T) {
	t.Parallel()
	events := story(20, 200, 0)
	c := newCrash(t, events)
	c.kill(100)
	c.finish()
	store := openStore(t, c.dir)
	settled := c.settlements(store)
	for key, ids := range byChat(events) {
		var answered []string
		for _, s := range settled[key] {
			answered = append(answered, s.answers...)
		}
		if !slices.Equal(answered, ids) {
			t.Errorf("chat %s: answered %v, want %v", key, answered, ids)
		}
		c.checkLog(store, key)
	}
	t.Logf("%d times a turn was resumed, %d turns were given up", c.resumed, c.given)
}

// TestCrashWithStops does the same with a /stop among every five messages: each
// message is answered or counted in a stop's notice, and nothing goes on that a
// /stop ended: all that was said before it is settled when it is.
func TestCrashWithStops(t *testing.T) {
	t.Parallel()
	events := story(20, 200, 5)
	c := newCrash(t, events)
	c.kill(100)
	c.finish()
	store := openStore(t, c.dir)
	settled := c.settlements(store)
	for key, ids := range byChat(events) {
		when := make(map[string]uint64) // first settled by the post of this number
		for _, s := range settled[key] {
			for _, id := range s.answers {
				if when[id] == 0 {
					when[id] = s.seq
				}
			}
		}
		for i, id := range ids {
			if when[id] == 0 {
				t.Errorf("chat %s: event %s is settled by no post", key, id)
			}
			if !isStop(events[find(events, id)]) {
				continue
			}
			for _, earlier := range ids[:i] {
				if when[earlier] > when[id] {
					t.Errorf("chat %s: event %s is settled after the /stop %s behind it", key, earlier, id)
				}
			}
		}
		c.checkLog(store, key)
	}
	t.Logf("%d times a turn was resumed, %d turns were given up", c.resumed, c.given)
}

func openStore(t *testing.T, dir string) *bolt.DB {
	t.Helper()
	store, err := bolt.Open(filepath.Join(dir, "parley.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}
