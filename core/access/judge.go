package access

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"parley/core/chat"
	"parley/storage"
)

// Verdict is what comes of an event. The zero Verdict lets nothing in and says
// nothing.
type Verdict struct {
	// Admit lets the event go on as something that Person said or did.
	Admit bool
	// Command lets an event that is not admitted run as the command it is,
	// and no more: nothing of it may reach a session. It is set for the
	// commands that anybody may run ([Public]), and for those with which an
	// owner or admin opens a group chat.
	Command bool
	Role    Role
	Person  Person
	Reply   string       // a sentence for where it was said, Markdown; "" for silence
	Ops     []storage.Op // to be applied with the event, never conditional
	Why     string       // for the log
}

// act is what the rules need to know of a body.
type act struct {
	line      string // what was said or pressed
	private   bool
	addressed bool // it is meant for parley
	command   bool
	later     bool // it is about a message that was judged before
	mute      bool // no words are owed for it
}

// Judge decides what may come of an event:
//
//   - Said and Pressed follow the rules for people and chats: see docs/access.md.
//   - Edited follows them, too, but for the mention mode: it only changes a
//     message that was admitted before. A Located counts as not addressed.
//     Neither is answered with words.
//   - Deleted is admitted wherever parley answers, whoever did it, since
//     many platforms do not tell and it can only take back.
//   - Joined is admitted if a known person brought parley into an allowed
//     chat; an owner or admin is told how to allow another one.
//   - Moved is admitted from an allowed chat, for which the platform vouches.
//     The caller then applies [Access.Moved].
//   - Reported is never admitted: reports come from inside.
//
// Bots are refused without a word unless the configuration names them. A body
// of an unknown kind is an error.
func (a *Access) Judge(ctx context.Context, ev chat.Event) (Verdict, error) {
	v, err := a.judgeBody(ctx, ev)
	if err != nil {
		return Verdict{}, fmt.Errorf("judging event %q: %w", ev.ID, err)
	}
	return v, nil
}

// judgeBody tells each kind of body the rules that are its own.
func (a *Access) judgeBody(ctx context.Context, ev chat.Event) (Verdict, error) {
	if ev.Key.Adapter == "" || ev.Key.Chat == "" {
		return refused("event without a chat"), nil
	}
	switch body := ev.Body.(type) {
	case chat.Said:
		name, bare := command(body.Text)
		return a.judge(ctx, ev, act{line: body.Text, private: body.Private, addressed: body.Addressed || bare, command: name != ""})
	case chat.Pressed:
		return a.judge(ctx, ev, act{line: body.Line, private: body.Private, addressed: true, command: true})
	case chat.Edited:
		return a.judgeSilent(ctx, ev, act{later: true, mute: true})
	case chat.Located:
		return a.judgeSilent(ctx, ev, act{mute: true})
	case chat.Joined:
		return a.judgeJoined(ctx, ev)
	case chat.Deleted:
		return a.judgeDeleted(ctx, ev)
	case chat.Moved:
		return a.judgeRoom(ctx, ev.Key)
	case chat.Reported:
		return refused("a report from outside"), nil
	default:
		return Verdict{}, fmt.Errorf("unknown body %T", ev.Body)
	}
}

func refused(why string) Verdict { return Verdict{Why: why} }

// misfit says why an event's sender cannot be anybody, "" if it can.
func misfit(ev chat.Event) string {
	switch {
	case ev.From.ID == "":
		return "event without a sender"
	case idProblem(string(ev.From.ID)) != "":
		return "sender's id is malformed"
	case ev.From.ID.Adapter() != ev.Key.Adapter:
		return "sender is not of the adapter that brought the event"
	default:
		return ""
	}
}

// judge is for what a person says or does.
func (a *Access) judge(ctx context.Context, ev chat.Event, act act) (Verdict, error) {
	if why := misfit(ev); why != "" {
		return refused(why), nil
	}
	if ev.From.Bot && !a.bots[ev.From.ID] {
		return refused("a bot that is not listed in access.bots"), nil
	}
	s, err := a.standing(ctx, ev.From.ID)
	if err != nil {
		return Verdict{}, err
	}
	v, err := a.judgePlace(ctx, ev, act, s)
	if err != nil || !ev.From.Bot || !v.Admit {
		return v, err
	}
	return a.slowBot(ctx, ev, v)
}

func (a *Access) judgePlace(ctx context.Context, ev chat.Event, act act, s standing) (Verdict, error) {
	if act.private {
		return a.judgePrivate(ctx, ev, act, s)
	}
	return a.judgeGroup(ctx, ev, act, s)
}

// judgeSilent is judge for bodies that do not say whether their chat is
// private: it is if the sender was last heard there alone.
func (a *Access) judgeSilent(ctx context.Context, ev chat.Event, act act) (Verdict, error) {
	var err error
	if act.private, err = a.private(ctx, ev.From.ID, ev.Key); err != nil {
		return Verdict{}, err
	}
	return a.judge(ctx, ev, act)
}

// judgePrivate knows nothing of modes: what is said to parley alone is said to
// parley.
func (a *Access) judgePrivate(ctx context.Context, ev chat.Event, act act, s standing) (Verdict, error) {
	switch {
	case s.role != None:
		return a.admit(ctx, ev, s, ev.Key)
	case act.mute || ev.From.Bot:
		return refused("unknown sender"), nil
	case Public(act.line):
		return a.publicly(ctx, ev, s)
	case s.removed():
		return a.sayOnce(ctx, ev, day, "removed sender",
			fmt.Sprintf("Your access was taken away. An owner can give it back with %s.", mono("/role "+string(ev.From.ID)+" member")))
	case a.door == Allowlist:
		return a.sayOnce(ctx, ev, day, "sender is not on the list",
			fmt.Sprintf("I only talk to people who were let in. If you should be one of them, give an owner your id, %s.", mono(string(ev.From.ID))))
	default:
		return a.introduce(ctx, ev)
	}
}

// judgeGroup asks first for the chat, then for the mode, then for the person, so
// that nobody can make parley speak where it is not allowed or not listening.
func (a *Access) judgeGroup(ctx context.Context, ev chat.Event, act act, s standing) (Verdict, error) {
	allowed, mode, err := a.Room(ctx, ev.Key)
	switch {
	case err != nil:
		return Verdict{}, err
	case !allowed:
		return a.judgeClosed(ctx, ev, act, s)
	case !hears(mode, act):
		return refused("not addressed in a chat of mode " + string(mode)), nil
	case s.role != None:
		return a.admit(ctx, ev, s, chat.Key{})
	case act.mute || ev.From.Bot || !act.addressed:
		return refused("unknown sender"), nil
	case Public(act.line):
		return a.publicly(ctx, ev, s)
	default:
		return a.sayOnce(ctx, ev, day, "unknown sender in a group", a.groupRefusal(ev.From.ID))
	}
}

// groupRefusal sends people to a private chat only where that helps them.
func (a *Access) groupRefusal(who chat.UserID) string {
	if a.door == Pairing {
		return "I only answer people who were let in. Write to me in a private chat to ask for access."
	}
	return fmt.Sprintf("I only answer people who were let in. If you should be one of them, give an owner your id, %s.", mono(string(who)))
}

// hears reports whether a mode listens to an act.
func hears(m Mode, act act) bool {
	switch m {
	case Always:
		return true
	case Off:
		return act.later || act.addressed && act.command
	default:
		return act.later || act.addressed
	}
}

// judgeClosed is for group chats that are not allowed. Only owners and admins
// find parley at home there, and only to open them; and whoever says the claim
// code there, while there is one, so that it can be made void.
func (a *Access) judgeClosed(ctx context.Context, ev chat.Event, act act, s standing) (Verdict, error) {
	if !act.addressed || act.mute || ev.From.Bot {
		return refused("chat is not allowed"), nil
	}
	name, _ := command(act.line)
	if s.role.below(Admin) {
		return a.judgeClaim(ctx, ev, s, name)
	}
	if name == "mention" || name == "whoami" || name == "help" {
		v, err := a.admit(ctx, ev, s, chat.Key{})
		v.Admit, v.Command, v.Why = false, true, "command of an admin in a chat that is not allowed"
		return v, err
	}
	return a.sayOnce(ctx, ev, patient, "chat is not allowed", closedRoom(ev.Key))
}

// judgeClaim lets only the claim of an unclaimed parley through.
func (a *Access) judgeClaim(ctx context.Context, ev chat.Event, s standing, name string) (Verdict, error) {
	if name != "claim" {
		return refused("chat is not allowed"), nil
	}
	code, _, err := codes.Get(ctx, a.store, claimKey)
	if err != nil || len(code.Hash) == 0 {
		return refused("chat is not allowed"), err
	}
	return a.publicly(ctx, ev, s)
}

// judgeJoined has nothing to say to strangers: anybody can take a bot anywhere.
func (a *Access) judgeJoined(ctx context.Context, ev chat.Event) (Verdict, error) {
	if why := misfit(ev); why != "" {
		return refused(why), nil
	}
	if ev.From.Bot {
		return refused("brought in by a bot"), nil
	}
	s, err := a.standing(ctx, ev.From.ID)
	if err != nil {
		return Verdict{}, err
	}
	allowed, _, err := a.Room(ctx, ev.Key)
	switch {
	case err != nil:
		return Verdict{}, err
	case !allowed:
		return a.judgeClosed(ctx, ev, act{addressed: true}, s)
	case s.role == None:
		return refused("brought in by an unknown person"), nil
	default:
		return a.admit(ctx, ev, s, chat.Key{})
	}
}

// judgeDeleted lets a moderator take back somebody else's message.
func (a *Access) judgeDeleted(ctx context.Context, ev chat.Event) (Verdict, error) {
	if ev.From.ID == "" {
		return Verdict{Admit: true, Why: "a deletion"}, nil
	}
	s, err := a.standing(ctx, ev.From.ID)
	if err != nil {
		return Verdict{}, err
	}
	if s.role != None {
		return Verdict{Admit: true, Why: "a deletion"}, nil
	}
	return a.judgeRoom(ctx, ev.Key)
}

// judgeRoom admits what comes from an allowed group chat itself, as nobody's.
func (a *Access) judgeRoom(ctx context.Context, k chat.Key) (Verdict, error) {
	allowed, _, err := a.Room(ctx, k)
	if err != nil || !allowed {
		return refused("chat is not allowed"), err
	}
	return Verdict{Admit: true, Why: "the chat is allowed"}, nil
}

// admit lets in what somebody with a role did. private is the chat to be
// remembered as theirs, zero for none.
func (a *Access) admit(ctx context.Context, ev chat.Event, s standing, private chat.Key) (Verdict, error) {
	p, err := a.person(ctx, s)
	if err != nil {
		return Verdict{}, err
	}
	ops, err := a.remember(ctx, ev.From, private)
	if err != nil {
		return Verdict{}, err
	}
	if p.Name == s.id {
		p.Name = orElse(nameOf(ev.From), p.Name)
	}
	if !private.IsZero() {
		if _, earlier := p.Private[ev.Key.Adapter]; !earlier || len(p.Accounts) == 1 {
			p.Private[ev.Key.Adapter] = room(private)
		}
	}
	return Verdict{Admit: true, Role: s.role, Person: p, Ops: ops, Why: string(s.role)}, nil
}

// publicLimit is how many public commands an unknown person gets to run.
var publicLimit = limit{20, time.Hour}

// publicly lets an unknown person run a public command.
func (a *Access) publicly(ctx context.Context, ev chat.Event, s standing) (Verdict, error) {
	ok, ops, err := a.spend(ctx, "public/"+string(ev.From.ID), publicLimit)
	if err != nil || !ok {
		return refused("too many commands of an unknown sender"), err
	}
	p, err := a.person(ctx, s)
	if p.Name == s.id {
		p.Name = orElse(nameOf(ev.From), p.Name)
	}
	return Verdict{Command: true, Person: p, Ops: ops, Why: "public command of an unknown sender"}, err
}

// sayOnce refuses with a sentence, and without one when the sender was told in
// this chat within the given time.
func (a *Access) sayOnce(ctx context.Context, ev chat.Event, per time.Duration, why, sentence string) (Verdict, error) {
	ok, ops, err := a.spend(ctx, "told/"+room(ev.Key).String()+"/"+string(ev.From.ID), limit{1, per})
	if err != nil {
		return Verdict{}, err
	}
	v := refused(why)
	if ok {
		v.Reply, v.Ops = sentence, ops
	}
	return v, nil
}

// botLimit keeps two bots that answer each other from doing so for ever.
var botLimit = limit{20, time.Hour}

// slowBot counts per chat: an exchange of bots is one of two in one place.
func (a *Access) slowBot(ctx context.Context, ev chat.Event, v Verdict) (Verdict, error) {
	ok, ops, err := a.spend(ctx, "bot/"+room(ev.Key).String()+"/"+string(ev.From.ID), botLimit)
	if err != nil || !ok {
		return refused("too many messages of a bot"), err
	}
	v.Ops = append(v.Ops, ops...)
	return v, nil
}

// Public reports whether a command line is one that unknown people may run:
// /claim, /link, /whoami and /help.
func Public(line string) bool {
	switch name, _ := command(line); name {
	case "claim", "link", "whoami", "help":
		return true
	default:
		return false
	}
}

// command returns the lower-case name of the command that a line begins with,
// "" for none, and whether it is bare, that is, not said to a bot by name. It
// is stricter than the parser that runs commands: what it does not take for
// one merely gets no exception.
func command(line string) (name string, bare bool) {
	line = strings.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
	word, found := strings.CutPrefix(line, "/")
	if end := strings.IndexFunc(word, unicode.IsSpace); end >= 0 {
		word = word[:end]
	}
	word, _, named := strings.Cut(word, "@")
	if !found || word == "" || strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	}) {
		return "", false
	}
	return strings.ToLower(word), !named
}
