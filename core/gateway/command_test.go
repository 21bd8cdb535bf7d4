package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/core/chat"
	"parley/core/gateway"
	"parley/core/llm"
	"parley/core/session"
)

// TestCommandReplies is what each command says to an owner in a private chat,
// in a conversation of one turn. The texts are beginnings.
func TestCommandReplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, says string }{
		{"/help", "Write to me as you would to a person. These commands I know:\n\n- `/stop`: end what I am doing and drop what waits\n"},
		{"/stop", "Nothing is running here."},
		{"/status", "parley test, up for 1 minute.\n\n- Here: nothing is running\n- Model: main\n"},
		{"/models", "The models, in the order in which I ask them:\n\n1. **main** (main-1): strength high, 100,000 tokens\n2. **other** (other-1): strength low, sees pictures\n\n`/model N`"},
		{"/model", "Which one? `/model N`, `/model NAME` or `/model auto`. /models lists them."},
		{"/model 2", "**other** answers first from now on, in this conversation."},
		{"/model OTHER", "**other** answers first from now on, in this conversation."},
		{"/model auto", "Back to the configured order of models."},
		{"/model 3", "I know no model \"3\". /models lists those there are."},
		{"/model nope", "I know no model \"nope\". /models lists those there are."},
		{"/context", "The next prompt has about "},
		{"/cost", "What this conversation has cost so far:\n\n- **main**: 1 request, "},
		{"/whoami", ""},
		{"/new", "A new conversation. I remember nothing of the one before."},
		{"/clear", "Forgotten. The settings of this conversation stay."},
		{"/compact", "Summed up: about "},
		{"/mention", "/mention works in groups only; here I always answer."},
		{"/pair", "Nobody is waiting to be let in."},
		{"/pair AAAA", "Nobody is waiting with the code"},
		{"/role", "Say whom and what: `/role USER owner|admin|member|guest|none`."},
		{"/role fake:9", "Say whom and what:"},
		{"/role fake:9 king", "`king` is no role."},
		{"/role fake:9 member", ""},
		{"/claim x", "This parley has an owner already. Ask them to let you in."},
		{"/link", ""},
		{"/unlink", ""},
		{"/sethome", ""},
		{"/nothing", "There is no command /nothing. /help lists them all."},
		{"/stpo", "There is no command /stpo. Did you mean /stop? /help lists them all."},
		{"/HELP", "Write to me"},
		{"👉 /help", "Write to me"},
		{"/help@parley_bot", "Write to me"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			arranged(t, echo, func(s *stack) {
				other := script("other", echo)
				other.info.Context, other.info.Strength, other.info.Vision = 0, "low", true
				s.models = append(s.models, other)
			}, func(s *stack) {
				s.say("a", "hello")
				time.Sleep(time.Minute)
				asked := len(s.main().requests()) - len(s.main().summaries())
				ev := s.event(ada, "a", private(c.line))
				ev.Ticket = "t1"
				s.deliver(ev)
				synctest.Wait()
				got := s.screen.texts("a")
				if len(got) != 2 || !strings.HasPrefix(got[1], c.says) || got[1] == "" {
					s.t.Fatalf("the chat shows\n%s\nwant %q", list(got), c.says)
				}
				s.settled(ev.ID)
				if n := s.tickets("t1"); n != 1 {
					t.Errorf("the ticket got %d posts, want 1", n)
				}
				if n := len(s.main().requests()) - len(s.main().summaries()); n != asked {
					t.Error("the command reached the model")
				}
				s.say("a", "and now?")
				if got := s.screen.texts("a"); !strings.HasPrefix(got[len(got)-1], "re: ") {
					t.Errorf("the next message is answered with %q", got[len(got)-1])
				}
				s.free()
			})
		})
	}
}

// TestCommandsBesideATurn: what only reads is answered at once; what changes
// the conversation waits for its turn.
func TestCommandsBesideATurn(t *testing.T) {
	t.Parallel()
	bubble(t, slowly(time.Hour, echo), func(s *stack) {
		s.say("a", "hello")
		time.Sleep(time.Minute)
		s.say("a", "waits")
		s.say("a", "/clear")
		s.say("a", "/status")
		s.wantLast("a", "parley test, up for 1 minute.\n\n- Here: at work for 1 minute, 2 messages waiting\n- Model: main\n")
		time.Sleep(3 * time.Hour)
		got := s.screen.texts("a")
		if len(got) != 4 || got[3] != "Forgotten. The settings of this conversation stay." {
			t.Errorf("the chat shows\n%s", list(got))
		}
		s.free()
	})
}

// TestOnlyReplies are shown to the one who asked, in groups.
func TestOnlyReplies(t *testing.T) {
	t.Parallel()
	arranged(t, echo, func(s *stack) { s.screen.traits.Ephemeral = true }, func(s *stack) {
		s.say("a", "hello")
		for _, line := range []string{"/status", "/cost", "/whoami", "/link", "/help", "/models"} {
			s.accept("group", called(line))
			s.say("a", line)
			in := s.screen.in("group")
			part := in[len(in)-1].part
			want := line != "/help" && line != "/models"
			if part.Only != want || part.For.ID != ada.ID {
				t.Errorf("%s in a group: Only %v for %q, want %v", line, part.Only, part.For.ID, want)
			}
			in = s.screen.in("a")
			if in[len(in)-1].part.Only {
				t.Errorf("%s in a private chat is Only", line)
			}
		}
	})
}

func TestOnlyRepliesWithoutEphemeralMessages(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.say("a", "hello") // the private chat gets known
		s.accept("group", called("/cost"))
		synctest.Wait()
		if n := len(s.screen.texts("group")); n != 0 {
			t.Errorf("the group reads\n%s", list(s.screen.texts("group")))
		}
		s.wantLast("a", "This conversation has cost nothing yet.")
	})
}

func TestRolesAreEnforced(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.say("a", "/role fake:2 guest")
		s.say("a", "/role fake:3 member")
		try := func(who chat.User, line string) string {
			s.acceptFrom(who, "x"+string(who.ID[5:]), private(line))
			synctest.Wait()
			got := s.screen.texts("x" + string(who.ID[5:]))
			return got[len(got)-1]
		}
		for _, line := range []string{"/model main", "/compact", "/pair", "/role fake:3 none"} {
			if got := try(bob, line); !strings.Contains(got, "you have guest. An owner can change that with /role.") {
				t.Errorf("%s of a guest: %q", line, got)
			}
		}
		for _, line := range []string{"/pair", "/role fake:2 owner"} {
			if got := try(eve, line); !strings.Contains(got, "is for people with the role admin or above; you have member.") {
				t.Errorf("%s of a member: %q", line, got)
			}
		}
		if got := try(eve, "/model main"); !strings.HasPrefix(got, "**main** answers first") {
			t.Errorf("/model of a member: %q", got)
		}
		if got := try(bob, "/help"); strings.Contains(got, "/compact") || !strings.Contains(got, "/stop") {
			t.Errorf("/help of a guest: %q", got)
		}
	})
}

// TestPresses are commands; a line that is none is told.
func TestPresses(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		for i, c := range []struct{ line, says string }{
			{"/stop", "Nothing is running here."},
			{"/nothing", "There is no command /nothing. /help lists them all."},
			{"no command", "I cannot read that button. It may be from another version of parley."},
			{"", "I cannot read that button. It may be from another version of parley."},
			{"/revoke fake:1", "There is no command /revoke. Did you mean /role? /help lists them all."},
			{"/sweep fake:1", "There is no command /sweep. /help lists them all."},
		} {
			press := s.event(ada, "a", chat.Pressed{Line: c.line, Private: true})
			press.Ticket = fmt.Sprint("t", i)
			s.deliver(press)
			synctest.Wait()
			got := s.screen.texts("a")
			if got[len(got)-1] != c.says && !strings.HasPrefix(got[len(got)-1], "There is no command /revoke.") {
				t.Errorf("%q: %q, want %q", c.line, got[len(got)-1], c.says)
			}
			s.settled(press.ID)
			if n := s.tickets(press.Ticket); n != 1 {
				t.Errorf("%q: the ticket got %d posts", c.line, n)
			}
		}
		s.free()
	})
}

func TestContextNumbers(t *testing.T) {
	t.Parallel()
	talk := replies(llm.Reply{Text: "ok", Usage: llm.Usage{Input: 5000, Output: 1}})
	bubble(t, summing(says("short"), talk), func(s *stack) {
		s.say("a", "hello")
		s.say("a", "/context")
		got := s.screen.texts("a")
		if !strings.Contains(got[1], ", 5 % of the 100,000 that **main** takes. It holds 2 entries. /compact") {
			t.Errorf("/context: %q", got[1])
		}
		s.say("a", "/compact")
		s.say("a", "/context")
		s.restart()
		s.say("a", "/context")
		got = s.screen.texts("a")
		if got[3] != got[4] || !strings.Contains(got[3], "It holds 1 entry and a summary of what was before.") {
			t.Errorf("/context behind /compact: %q, behind a restart %q", got[3], got[4])
		}
	})
}

// TestStatusTellsAdminsMore about the parts of the program.
func TestStatusTellsAdminsMore(t *testing.T) {
	t.Parallel()
	bubble(t, echo, func(s *stack) {
		s.gateway = gateway.New(gateway.Parts{Store: s.store, Outbox: s.box, Version: "x", Findings: func(context.Context) []chat.Finding {
			return []chat.Finding{{Part: "store", Level: chat.Good, Says: "1 MB"}, {Part: "discord", Level: chat.Off, Says: "no token"}}
		}, Access: s.who})
		e, err := s.gateway.Run(s.t.Context(), s.event(ada, "a", private("/status")), session.Scene{})
		if err != nil || !strings.Contains(e.Posts[0].Post.Text, "- store (ok): 1 MB\n") || strings.Contains(e.Posts[0].Post.Text, "discord") {
			t.Errorf("%+v, %v", e, err)
		}
	})
}
