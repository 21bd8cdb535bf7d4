package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"parley/core/llm"
	"parley/core/session"
	"parley/tools"
)

// bad runs a test of a tool that misbehaves, beside a good one. Rules let both
// through unless the test needs the card.
func bad(t *testing.T, g *gadget, rule string, test func(s *stack)) {
	t.Helper()
	workshop(t, wants(g.name, `{"text":"x"}`), []tools.Tool{&hand{name: "good"}}, func(s *stack) {
		s.sources = []tools.Source{tools.SourceFunc(func(context.Context, tools.Scope) []tools.Tool { return []tools.Tool{g} })}
		s.restart()
		if rule != "" {
			s.rule(g.name, rule)
		}
		test(s)
	})
}

func TestToolsThatPanic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rule  string
		spoil func(g *gadget)
		state session.State
		says  string
	}{
		{"Run", "allow", func(g *gadget) {
			g.run = func(context.Context, tools.Call) tools.Execution { panic("boom") }
		}, session.Failed, "panic: boom"},
		{"the work", "allow", func(g *gadget) {
			g.do = func(context.Context, tools.Call) tools.Outcome { panic("boom") }
		}, session.Failed, "panic: boom"},
		{"no execution", "allow", func(g *gadget) {
			g.run = func(context.Context, tools.Call) tools.Execution { return nil }
		}, session.Failed, "started nothing"},
		{"Spec", "", func(g *gadget) { g.spec = func() tools.Spec { panic("boom") } }, session.Failed, "There is no tool"},
		{"Spec the second time", "allow", func(g *gadget) {
			var n atomic.Int32
			g.spec = func() tools.Spec {
				if n.Add(1)%2 == 0 {
					panic("boom")
				}
				return g.hand.Spec()
			}
		}, session.Failed, "panic: boom"},
		{"Describe", "allow", func(g *gadget) { g.describe = func(json.RawMessage) string { panic("boom") } }, session.Done, "did"},
		{"Target", "allow", func(g *gadget) { g.target = func(json.RawMessage) (string, bool) { panic("boom") } }, session.Failed, "panic: boom"},
		{"Preview", "require", func(g *gadget) {
			g.preview = func(context.Context, tools.Call) (tools.Preview, error) { panic("boom") }
		}, session.Failed, "cannot be shown: panic: boom"},
		{"a name that no provider takes", "", func(g *gadget) {
			g.spec = func() tools.Spec { s := g.hand.Spec(); s.Name = "bad name!"; return s }
		}, session.Failed, "There is no tool"},
		{"a schema that is no JSON", "", func(g *gadget) {
			g.spec = func() tools.Spec {
				s := g.hand.Spec()
				s.Source, s.Schema = "plugin/x", json.RawMessage(`{"type":`)
				return s
			}
		}, session.Failed, "There is no tool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := &gadget{hand: hand{name: "bad"}}
			c.spoil(g)
			bad(t, g, c.rule, func(s *stack) {
				first := s.say("a", "please")
				s.wantResult("a", "c1", c.state, c.says)
				s.wantEnds("a", session.Final)
				s.settled(first)
				s.noCards()
				s.free()
			})
		})
	}
}

// TestToolsThatDoNotComeBack: the turn goes on without them where it can, and
// /stop ends it in any case, at once.
func TestToolsThatDoNotComeBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rule  string
		spoil func(g *gadget, hang func())
		ends  bool // the turn ends by itself
	}{
		{"Run", "allow", func(g *gadget, hang func()) {
			g.run = func(context.Context, tools.Call) tools.Execution { hang(); return nil }
		}, false},
		{"the work", "allow", func(g *gadget, hang func()) {
			g.do = func(context.Context, tools.Call) tools.Outcome { hang(); return tools.Outcome{} }
		}, false},
		{"Spec", "", func(g *gadget, hang func()) { g.spec = func() tools.Spec { hang(); return g.hand.Spec() } }, true},
		{"Describe", "allow", func(g *gadget, hang func()) { g.describe = func(json.RawMessage) string { hang(); return "" } }, true},
		{"Target", "allow", func(g *gadget, hang func()) {
			g.target = func(json.RawMessage) (string, bool) { hang(); return "", false }
		}, true},
		{"Preview", "require", func(g *gadget, hang func()) {
			g.preview = func(context.Context, tools.Call) (tools.Preview, error) { hang(); return tools.Preview{}, nil }
		}, true},
	} {
		for _, stopped := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " stopped ", stopped), func(t *testing.T) {
				t.Parallel()
				g := &gadget{hand: hand{name: "bad"}}
				var armed atomic.Bool
				var free chan struct{}
				c.spoil(g, func() {
					if armed.Load() {
						<-free
					}
				})
				bad(t, g, c.rule, func(s *stack) {
					free = make(chan struct{})
					defer close(free)
					armed.Store(true)
					first := s.say("a", "please")
					if !stopped && c.ends {
						time.Sleep(time.Minute)
						s.wantEnds("a", session.Final)
						s.results("a")
						second := s.say("a", "/new")
						s.say("a", "please")
						s.say("a", "/stop")
						s.settled(first, second)
						return
					}
					began := time.Now()
					stop := s.accept("a", private("/stop"))
					for !s.shown("a", "Stopped.") && time.Since(began) < time.Minute {
						time.Sleep(100 * time.Millisecond)
						synctest.Wait()
					}
					if took := time.Since(began); took > 1100*time.Millisecond {
						t.Errorf("stopping took %s", took)
					}
					s.results("a")
					s.wantEnds("a", session.Stopped)
					s.settled(first, stop)
					s.noCards()
					s.free()
				})
			})
		}
	}
}

// TestSourcesThatFail cost their own tools and no others.
func TestSourcesThatFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		tools func(free chan struct{}) []tools.Tool
	}{
		{"panics", func(chan struct{}) []tools.Tool { panic("boom") }},
		{"never returns", func(free chan struct{}) []tools.Tool { <-free; return nil }},
		{"offers nothing but nil", func(chan struct{}) []tools.Tool { return []tools.Tool{nil, nil} }},
		{"offers another of the same name", func(chan struct{}) []tools.Tool {
			return []tools.Tool{&hand{name: "do", do: func(context.Context, tools.Call) tools.Outcome { panic("the wrong one") }}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			do := &hand{name: "do"}
			var asked atomic.Int32
			workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
				free := make(chan struct{})
				defer close(free)
				s.sources = []tools.Source{tools.SourceFunc(func(context.Context, tools.Scope) []tools.Tool {
					asked.Add(1)
					return c.tools(free)
				})}
				s.restart()
				s.rule("do", "allow")
				first := s.say("a", "please")
				time.Sleep(time.Minute)
				do.wantRan(t, 1)
				s.wantLast("a", "result: did {}")
				s.settled(first)
				s.free()
				if n := asked.Load(); c.name == "never returns" && n != 1 {
					t.Errorf("it was asked %d times while it did not come back", n)
				}
			})
		})
	}
}

func TestFiftyMegabytes(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("all work and no play\n", 50<<20/21)
	do := &hand{name: "do"}
	do.do = func(context.Context, tools.Call) tools.Outcome {
		return tools.Outcome{Text: huge + "the end\xff", Say: huge}
	}
	workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
		s.rule("do", "allow")
		first := s.say("a", "please")
		b := s.results("a")["c1"]
		if len(b.Result) > 100<<10 || !strings.Contains(b.Result, "the end") || !strings.Contains(b.Result, "the whole is in .parley/output/") {
			t.Errorf("the result has %d bytes and ends %q", len(b.Result), b.Result[max(0, len(b.Result)-200):])
		}
		for _, text := range s.screen.texts("a") {
			if len(text) > 200<<10 {
				t.Errorf("the chat shows %d bytes", len(text))
			}
		}
		found, _ := filepath.Glob(filepath.Join(s.dir, ".parley", "output", "*"))
		if len(found) != 1 {
			t.Fatalf("kept are %v", found)
		}
		if kept, err := os.ReadFile(found[0]); err != nil || len(kept) != len(huge)+8 {
			t.Errorf("kept are %d bytes: %v", len(kept), err)
		}
		s.settled(first)
		s.free()
	})
}

// TestWhereALongResultIsKept: no link that the agent made leads the file out of
// the working directory or into another file.
func TestWhereALongResultIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		link func(t *testing.T, dir, outside string)
	}{
		{"directory", func(t *testing.T, dir, outside string) { link(t, outside, filepath.Join(dir, ".parley")) }},
		{"output", func(t *testing.T, dir, outside string) { link(t, outside, filepath.Join(dir, ".parley", "output")) }},
		{"inside", func(t *testing.T, dir, _ string) { link(t, "../data", filepath.Join(dir, ".parley", "output")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			outside := t.TempDir()
			do := &hand{name: "do"}
			do.do = func(context.Context, tools.Call) tools.Outcome { return tools.Done(strings.Repeat("x", 200<<10)) }
			workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
				if err := os.Mkdir(filepath.Join(s.dir, "data"), 0o700); err != nil {
					t.Fatal(err)
				}
				c.link(t, s.dir, outside)
				s.rule("do", "allow")
				s.say("a", "please")
				for _, dir := range []string{outside, filepath.Join(s.dir, "data")} {
					if found, _ := os.ReadDir(dir); len(found) > 0 {
						t.Errorf("written were %v in %s", found, dir)
					}
				}
				s.wantResult("a", "c1", session.Done, "the rest was not kept")
				s.free()
			})
		})
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNotText(t *testing.T) {
	t.Parallel()
	do := &gadget{hand: hand{name: "do"}}
	do.describe = func(json.RawMessage) string { return "a \xff label\nof two lines" }
	do.preview = func(context.Context, tools.Call) (tools.Preview, error) {
		return tools.Preview{Kind: tools.PreviewDiff, Text: "+\xff\u202e", Where: "\xff", Note: "\xff"}, nil
	}
	do.do = func(context.Context, tools.Call) tools.Outcome {
		return tools.Outcome{Text: "a \xff\xfe result", Say: "say \xff"}
	}
	workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
		first := s.say("a", "please")
		id, _ := s.card()
		s.presses(ada, "a", "/approve "+id)
		before := s.results("a")["c1"]
		for _, text := range append(s.screen.texts("a"), before.Result, before.Label) {
			if !utf8.ValidString(text) {
				t.Errorf("%q is no text", text)
			}
		}
		for _, req := range s.main().requests() {
			for _, row := range req.Messages {
				if !utf8.ValidString(row.Text) {
					t.Errorf("the model reads %q", row.Text)
				}
			}
		}
		s.settled(first)
		s.noCards()
		s.free()
	})
}

func TestArgumentsThatBreakTheSchema(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, broken, says string }{
		{`{"text":1}`, "", `"text" must be a string`},
		{`{"txt":"x"}`, "", `there is no argument "txt"`},
		{`[]`, "", "must be one JSON object"},
		{`{}`, "cut off in the middle", "could not be read, and nothing was run: cut off in the middle"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			do := &hand{name: "do"}
			call := llm.Call{ID: "c1", Name: "do", Args: json.RawMessage(c.args), Broken: c.broken}
			if c.args == "[]" {
				return // the model contract promises an object; see core/llm
			}
			workshop(t, round(call), []tools.Tool{do}, func(s *stack) {
				first := s.say("a", "please")
				s.wantResult("a", "c1", session.Failed, c.says)
				do.wantRan(t, 0)
				s.settled(first)
				s.noCards()
				s.free()
			})
		})
	}
}

func TestThirtyCallsAtOnce(t *testing.T) {
	t.Parallel()
	do := &hand{name: "do"}
	workshop(t, round(a2z("do", 30)...), []tools.Tool{do}, func(s *stack) {
		first := s.say("a", "please")
		for range 3 {
			id, _ := s.card()
			s.presses(ada, "a", "/approve "+id)
		}
		s.crash()
		id, _ := s.card()
		s.presses(ada, "a", "/approve "+id+" session")
		do.wantRan(t, 30)
		if n := len(s.results("a")); n != 30 {
			t.Errorf("%d results", n)
		}
		s.settled(first)
		s.noCards()
		s.free()
	})
}

// TestIdsOfCalls: whatever ids a provider gives, each call has one result and
// what it shows is shown, and nothing takes its place.
func TestIdsOfCalls(t *testing.T) {
	t.Parallel()
	for name, ids := range map[string][2]string{
		"twice the same": {"c", "c"}, "none": {"", ""}, "numbers": {"1", "2"}, "the end": {"end", "x"},
		"very long": {strings.Repeat("x", 5000), strings.Repeat("x", 5000) + "y"}, "no text": {"\xff", "\xfe"}, "odd": {"a/b\x00", "../../c"},
	} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " crash ", crash), func(t *testing.T) {
				t.Parallel()
				do := &hand{name: "do"}
				do.do = func(_ context.Context, c tools.Call) tools.Outcome {
					return tools.Outcome{Text: "did " + string(c.Args), Say: "look: " + string(c.Args)}
				}
				call := func(i int) llm.Call {
					return llm.Call{ID: ids[i], Name: "do", Args: json.RawMessage(fmt.Sprintf(`{"text":"%d"}`, i))}
				}
				model := inTurn(
					replies(llm.Reply{Text: "first", Calls: []llm.Call{call(0), call(1)}}),
					replies(llm.Reply{Text: "second", Calls: []llm.Call{call(0)}}), says("fine"))
				workshop(t, model, []tools.Tool{do}, func(s *stack) {
					first := s.say("a", "please")
					for range 3 {
						if crash {
							s.crash()
						}
						id, _ := s.card()
						s.presses(ada, "a", "/approve "+id)
					}
					do.wantRan(t, 3)
					shows := 0
					for _, text := range s.screen.texts("a") {
						if strings.HasPrefix(text, "look: ") {
							shows++
						}
					}
					if shows != 3 {
						t.Errorf("%d of 3 things are shown:\n%s", shows, list(s.screen.texts("a")))
					}
					for _, text := range []string{"first", "second", "fine"} {
						if !s.shown("a", text) {
							t.Errorf("%q is not shown:\n%s", text, list(s.screen.texts("a")))
						}
					}
					s.settled(first)
					s.noCards()
					s.free()
				})
			})
		}
	}
}

func TestUnknownAndVanishedTools(t *testing.T) {
	t.Parallel()
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		workshop(t, wants(strings.Repeat("no_such", 100), `{}`), []tools.Tool{&hand{name: "do"}}, func(s *stack) {
			first := s.say("a", "please")
			s.wantResult("a", "c1", session.Failed, "There is no tool named")
			s.settled(first)
			s.free()
		})
	})
	t.Run("gone from the source while people decide", func(t *testing.T) {
		t.Parallel()
		do := &hand{name: "do"}
		var gone atomic.Bool
		workshop(t, wants("do", `{}`), []tools.Tool{}, func(s *stack) {
			s.sources = []tools.Source{tools.SourceFunc(func(context.Context, tools.Scope) []tools.Tool {
				if gone.Load() {
					return nil
				}
				return []tools.Tool{do}
			})}
			s.restart()
			first := s.say("a", "please")
			id, _ := s.card()
			gone.Store(true)
			s.presses(ada, "a", "/approve "+id) // the round's array is frozen
			do.wantRan(t, 1)
			s.settled(first)
			s.free()
		})
	})
	for _, end := range []string{"kill", "shutdown"} {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprint("gone behind a ", end, " running ", running), func(t *testing.T) {
				t.Parallel()
				do := prompt("do")
				workshop(t, wants("do", `{}`), []tools.Tool{do}, func(s *stack) {
					first := s.say("a", "please")
					id, _ := s.card()
					if running {
						s.presses(ada, "a", "/approve "+id)
						do.wantRan(t, 1)
					}
					s.tools = []tools.Tool{}
					if end == "kill" {
						s.crash()
					} else {
						s.restart()
					}
					s.results("a")
					says := "There is no tool named"
					if running {
						says = "there is no tool named \"do\" any more"
					}
					s.wantResult("a", "c1", session.Failed, says)
					if !running {
						s.presses(ada, "a", "/approve "+id)
						s.wantIn("a", "is not asked any more")
					}
					s.settled(first)
					s.noCards()
					s.free()
				})
			})
		}
	}
}
