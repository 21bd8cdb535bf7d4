package gateway

import (
	"context"
	"fmt"
	"strings"

	"parley/core/access"
	"parley/core/chat"
	"parley/core/session"
	"parley/tools"
)

// command is a row of the command table.
type command struct {
	chat.Command
	least access.Role // who may say it; None: everybody who can write to the bot
	// only shows the reply to the person alone, outside private chats.
	only bool
	run  func(ctx context.Context, c call) (session.Effect, error)
}

// call is one command as it was said.
type call struct {
	ev    chat.Event
	line  Line
	role  access.Role
	scene session.Scene
}

// private reports whether nobody else reads the chat.
func (c call) private() bool {
	switch b := c.ev.Body.(type) {
	case chat.Said:
		return b.Private
	case chat.Pressed:
		return b.Private
	default:
		return false
	}
}

// list is the command table: what there is, in the order of /help. The parser,
// /help and the menus of the platforms are all made from it.
func (g *Gateway) list() []command {
	return []command{
		g.row("stop", "", "end what I am doing and drop what waits", true, access.Guest, g.stop).urgent(),
		g.row("new", "", "begin a new conversation", false, access.Guest, act(session.Renew{})),
		g.row("clear", "", "forget what was said here, keep the settings", false, access.Guest, act(session.Clear{})),
		g.row("help", "", "list the commands", true, access.None, g.help),
		g.row("status", "", "what I am doing and how parley is", true, access.Guest, g.status).alone(),
		g.row("approve", "ID [once|15m|session] [tool|category|server|all]", "let a call run, or calls like it for a while", true, access.None, g.approve).urgent(),
		g.row("reject", "ID [reason]", "do not let a call run", true, access.None, g.reject).urgent(),
		g.row(answerCommand, "ID TEXT|#N", "answer a question", true, access.None, g.answer).urgent(),
		g.row("inbox", "[ID]", "what waits for your answer", true, access.None, g.inbox).alone(),
		g.row("models", "", "list the models", true, access.Guest, g.models),
		g.row("model", "N|name|auto", "choose the model that answers first", false, access.Member, g.pick),
		g.row("context", "", "how full the model's context is", true, access.Guest, g.context),
		g.row("cost", "", "what this conversation has cost", true, access.Guest, g.cost).alone(),
		g.row("tools", "[reset]", "what the agent can use here", true, access.Guest, g.tools),
		g.row("rules", "[TOOL [PATH]|list|add|change|delete|move|copy|rename|drop|context …]", "what the agent may do here, and why", true, access.Member, g.rules).alone(),
		g.row("compact", "", "sum up the older part of the conversation", false, access.Member, act(session.Compact{})),
		g.row("whoami", "", "who you are to me", true, access.None, g.whoami).alone(),
		g.row("link", "[CODE]", "join your accounts on two platforms", true, access.None, g.link).alone(),
		g.row("unlink", "ACCOUNT", "take an account out of your linked ones", true, access.Guest, g.unlink).alone(),
		g.row("sethome", "", "make this chat the one where I reach you", true, access.Guest, g.sethome),
		g.row("mention", "mention|always|off", "when I answer in this group", true, access.Admin, g.mention).in(chat.GroupsOnly),
		g.row("pair", "[CODE]", "let the person in who was given this code, or list who waits", true, access.Admin, g.pair),
		g.row("role", "USER owner|admin|member|guest|none", "change what a person may do", true, access.Admin, g.role),
		g.row("claim", "CODE", "become the owner, with the code that parley printed", true, access.None, g.claim),
	}
}

// answerCommand is what a typed answer to a question becomes.
const answerCommand = "answer"

func (g *Gateway) row(name, args, summary string, control bool, least access.Role,
	run func(context.Context, call) (session.Effect, error)) command {
	return command{
		Command: chat.Command{Name: name, Args: args, Summary: summary, Control: control},
		least:   least, run: run,
	}
}

func (c command) urgent() command { c.Urgent = true; return c }

func (c command) alone() command { c.only = true; return c }

func (c command) in(w chat.Where) command { c.Where = w; return c }

// act is a command that only asks something of its conversation.
func act(a session.Act) func(context.Context, call) (session.Effect, error) {
	return func(context.Context, call) (session.Effect, error) { return session.Effect{Act: a}, nil }
}

// Table returns the chat commands, for the menus and manifests of adapters.
func (g *Gateway) Table() []chat.Command {
	list := make([]chat.Command, 0, len(g.table))
	for _, c := range g.table {
		list = append(list, c.Command)
	}
	return list
}

// Command reports whether the event is a chat command.
func (g *Gateway) Command(ev chat.Event) bool {
	if _, pressed := ev.Body.(chat.Pressed); pressed {
		return true
	}
	_, ok := g.line(ev)
	return ok
}

// Run runs a command; see [session.Front].
func (g *Gateway) Run(ctx context.Context, ev chat.Event, s session.Scene) (session.Effect, error) {
	line, ok := g.line(ev)
	if ev.From.ID == system {
		return g.internal(ctx, ev, line)
	}
	if !ok {
		return g.say(ev, "I cannot read that button. It may be from another version of parley."), nil
	}
	c, known := g.commands[line.Name]
	if !known {
		return g.say(ev, g.unknown(line.Name)), nil
	}
	role, err := g.access.RoleOf(ctx, ev.From.ID)
	if err != nil {
		return session.Effect{}, err
	}
	if refusal := forbidden(c, ev, role); refusal != "" {
		return g.say(ev, refusal), nil
	}
	said := call{ev, line, role, s}
	e, err := c.run(ctx, said)
	if c.only && err == nil && !said.private() {
		for i := range e.Posts {
			e.Posts[i].Post.Only = e.Posts[i].Key == ev.Key
		}
	}
	return e, err
}

// forbidden says why a person may not say a command here, "" if they may.
func forbidden(c command, ev chat.Event, role access.Role) string {
	private := call{ev: ev}.private()
	switch {
	case c.Where == chat.PrivateOnly && !private:
		return fmt.Sprintf("/%s works in a private chat with me only.", c.Name)
	case c.Where == chat.GroupsOnly && private:
		return fmt.Sprintf("/%s works in groups only; here I always answer.", c.Name)
	case role.Reaches(c.least):
		return ""
	default:
		return fmt.Sprintf("/%s is for people with the role %s or above; you have %s. An owner can change that with /role.",
			c.Name, c.least, roleName(role))
	}
}

func roleName(r access.Role) string {
	if r == access.None {
		return "none"
	}
	return string(r)
}

// unknown is the hint to a command that does not exist.
func (g *Gateway) unknown(name string) string {
	best, least := "", 3
	for _, c := range g.table {
		if d := tools.Distance(name, c.Name); d < least {
			best, least = c.Name, d
		}
	}
	if best != "" {
		return fmt.Sprintf("There is no command /%s. Did you mean /%s? /help lists them all.", name, best)
	}
	return fmt.Sprintf("There is no command /%s. /help lists them all.", name)
}

// say is the effect of a command that only replies. A ticket gets a post even
// when there is nothing to say.
func (g *Gateway) say(ev chat.Event, text string) session.Effect {
	switch {
	case text == "" && ev.Ticket == "":
		return session.Effect{}
	case text == "":
		text = "✓"
	}
	return session.Effect{Posts: []session.Addressed{{Key: ev.Key, Post: chat.Post{
		ID: "event/" + ev.ID, Kind: chat.Notice, Text: text,
		Ticket: ev.Ticket, For: ev.From, Answers: []string{ev.ID},
	}}}}
}

// Admits reports whether the sender of an event may still talk.
func (g *Gateway) Admits(ctx context.Context, ev chat.Event) (bool, error) {
	if ev.From.ID == system {
		return true, nil
	}
	role, err := g.access.RoleOf(ctx, ev.From.ID)
	return role != access.None, err
}

func (g *Gateway) help(_ context.Context, c call) (session.Effect, error) {
	var b strings.Builder
	b.WriteString("Write to me as you would to a person. These commands I know:\n\n")
	for _, row := range g.table {
		if !c.role.Reaches(row.least) {
			continue
		}
		fmt.Fprintf(&b, "- `%s`: %s\n", usage(row.Command), row.Summary)
	}
	return g.say(c.ev, b.String()), nil
}

func usage(c chat.Command) string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }

// Commands returns the chat commands without a gateway: what the adapters are
// made with, before there is one.
func Commands() []chat.Command { return New(Parts{}).Table() }
