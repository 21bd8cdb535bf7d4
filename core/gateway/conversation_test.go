package gateway_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"parley/core/chat"
	"parley/core/llm"
	"parley/tools"
)

var update = flag.Bool("update", false, "write down what the recorded conversations come to")

// TestConversations plays the recorded conversations. Each is a file:
//
//	Prose that says what it pins.
//	-- model --
//	calls execute_cmd {"command":"date"}
//	repeats
//	says fine
//	-- chat --
//	> Ada: what time is it?
//	< a: **May this run?** …
//	> Ada presses Approve
//
// The model does one line of its section for each request: it makes a call, it
// repeats the result of the last call, or it says something. What people do
// stands behind ">", what their chats show then behind "<": a new message or,
// behind "<~", one that has changed. Ada is the owner, Bob an admin and Eve a
// member, whose private chats are a, b and e; "Ada in group:" is said in the
// group. "> wait 1h" and "> kill" are done by nobody. The ids of requests are
// ID1, ID2 and so on.
func TestConversations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(string(archive.Comment)) == "" {
				t.Error("it does not say what it pins")
			}
			model, script := section(t, archive, "model"), section(t, archive, "chat")
			want := string(script.Data)
			got := converse(t, string(model.Data), want)
			if *update {
				script.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("it comes to\n%s\nand was recorded as\n%s\n(-update records it anew)", got, want)
			}
		})
	}
}

func section(t *testing.T, a *txtar.Archive, name string) *txtar.File {
	t.Helper()
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	t.Fatalf("it has no section %s", name)
	return nil
}

// converse plays a conversation and returns it with what it comes to.
func converse(t *testing.T, model, script string) string {
	t.Helper()
	var b strings.Builder
	arranged(t, actor(strings.Split(strings.TrimSpace(model), "\n")), func(s *stack) {
		s.tools = []tools.Tool{shell(t)}
	}, func(s *stack) {
		s.crew()
		p := &performance{stack: s, ids: make(map[string]string), seen: make(map[chat.MessageID]string)}
		p.news()
		for line := range strings.Lines(script) {
			if doing, ok := strings.CutPrefix(line, "> "); ok {
				b.WriteString(line)
				p.do(strings.TrimSpace(doing))
				b.WriteString(p.news())
			}
		}
		s.free()
		s.noCards()
	})
	return b.String()
}

// shell is execute_cmd as far as a conversation needs it: it takes the time
// that sleep asks for, and says what it was told to run.
func shell(t *testing.T) tools.Tool {
	g := &gadget{hand: hand{name: tools.ExecuteCmd}}
	command := func(raw json.RawMessage) (line string) {
		var args struct{ Text string }
		if err := json.Unmarshal(raw, &args); err != nil {
			t.Errorf("reading the arguments of a call: %v", err)
		}
		return args.Text
	}
	g.describe = command
	g.preview = func(_ context.Context, c tools.Call) (tools.Preview, error) {
		return tools.Preview{Kind: tools.PreviewCommand, Text: command(c.Args), Where: "/work"}, nil
	}
	g.do = func(ctx context.Context, c tools.Call) tools.Outcome {
		line := command(c.Args)
		if d, err := time.ParseDuration(strings.TrimPrefix(line, "sleep ") + "s"); err == nil {
			select {
			case <-time.After(d):
			case <-ctx.Done():
				return tools.Fault("killed")
			}
		}
		return tools.Done("ran " + line)
	}
	return g
}

// actor is a model that does one line for each request.
func actor(lines []string) answerFunc {
	var steps []answerFunc
	for i, line := range lines {
		verb, rest, _ := strings.Cut(line, " ")
		steps = append(steps, func(_ context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
			switch verb {
			case "calls":
				name, args, _ := strings.Cut(rest, " ")
				return llm.Reply{Calls: []llm.Call{{ID: fmt.Sprint("c", i), Name: name, Args: json.RawMessage(args)}}}, nil
			case "repeats":
				for _, m := range slices.Backward(req.Messages) {
					if m.Role == llm.Tool {
						return llm.Reply{Text: "I was told: " + bare(m.Text)}, nil
					}
				}
				return llm.Reply{Text: "I was told nothing."}, nil
			default:
				return llm.Reply{Text: strings.TrimPrefix(line, "says ")}, nil
			}
		})
	}
	return inTurn(steps...)
}

// performance is a conversation under way.
type performance struct {
	*stack
	ids  map[string]string // of requests: what they are called in the file
	seen map[chat.MessageID]string
}

var cast = map[string]struct {
	user chat.User
	home string
}{"Ada": {ada, "a"}, "Bob": {bob, "b"}, "Eve": {eve, "e"}}

var doing = regexp.MustCompile(`^(Ada|Bob|Eve)(?: in (\w+))?(?:: (.*)| presses ([^:]*)(?:: (.*))?)$`)

// do does what a line says.
func (p *performance) do(line string) {
	p.t.Helper()
	if span, ok := strings.CutPrefix(line, "wait "); ok {
		d, err := time.ParseDuration(span)
		if err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(d)
		return
	}
	if line == "kill" {
		p.crash()
		return
	}
	m := doing.FindStringSubmatch(line)
	if m == nil {
		p.t.Fatalf("nobody can do %q", line)
	}
	who := cast[m[1]]
	where := m[2]
	if where == "" {
		where = who.home
	}
	for id, called := range p.ids {
		m[3] = strings.ReplaceAll(m[3], called, id)
	}
	var body chat.Body = chat.Said{Text: m[3], Addressed: true, Private: where != "group"}
	if m[4] != "" {
		body = chat.Pressed{Line: strings.TrimSpace(p.button(where, m[4]) + " " + m[5]), Private: where != "group"}
	}
	p.acceptFrom(who.user, where, body)
}

// button is the command line of the newest button of that name in a chat.
func (p *performance) button(chatName, label string) string {
	p.t.Helper()
	for _, l := range slices.Backward(p.screen.in(chatName)) {
		for _, b := range slices.Concat(l.part.Buttons...) {
			if b.Label == label {
				return b.Line
			}
		}
	}
	p.t.Fatalf("chat %s has no button %q", chatName, label)
	return ""
}

// news is what has come to stand in the chats since it was last asked.
func (p *performance) news() string {
	synctest.Wait()
	for _, r := range p.requests() {
		if p.ids[r.ID] == "" {
			p.ids[r.ID] = fmt.Sprint("ID", len(p.ids)+1)
		}
	}
	p.screen.mu.Lock()
	lines := slices.Clone(p.screen.lines)
	p.screen.mu.Unlock()
	// Chats do not wait for each other.
	slices.SortStableFunc(lines, func(x, y line) int { return strings.Compare(x.key.Chat, y.key.Chat) })
	var b strings.Builder
	for _, l := range lines {
		text := p.written(l)
		before, known := p.seen[l.id]
		p.seen[l.id] = text
		switch {
		case !known:
			b.WriteString("< " + text)
		case before != text:
			b.WriteString("<~ " + text)
		}
	}
	return b.String()
}

// written is a message as the file has it.
func (p *performance) written(l line) string {
	text := l.key.Chat + ": " + l.part.Text
	for _, row := range l.part.Buttons {
		var labels []string
		for _, b := range row {
			labels = append(labels, "["+b.Label+"]")
		}
		text += "\n" + strings.Join(labels, " ")
	}
	for _, id := range slices.Sorted(maps.Keys(p.ids)) {
		text = strings.ReplaceAll(text, id, p.ids[id])
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n   "), "\n   \n", "\n\n") + "\n"
}
