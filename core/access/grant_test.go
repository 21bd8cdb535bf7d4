package access_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/core/access"
	"parley/core/chat"
)

// granted is the plainest account of who was let in: what the changes that
// were not refused say, and nothing else.
type granted struct {
	person map[chat.UserID]int
	role   map[int]access.Role
	next   int
}

func (g *granted) of(u chat.UserID) access.Role { return g.role[g.person[u]] }

func (g *granted) give(u chat.UserID, r access.Role) {
	if g.person[u] == 0 {
		g.next++
		g.person[u] = g.next
	}
	g.role[g.person[u]] = r
}

// join makes u's person, whole, the maker's.
func (g *granted) join(u, maker chat.UserID) {
	if g.person[maker] == 0 {
		g.give(maker, access.None)
	}
	old := g.person[u]
	for other, p := range g.person {
		if p == old && old != 0 {
			g.person[other] = g.person[maker]
		}
	}
	g.person[u] = g.person[maker]
}

// TestNobodyIsAdmittedWithoutAGrant plays hostile and honest people at random
// and holds each account's role against the plain account after every step.
func TestNobodyIsAdmittedWithoutAGrant(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		door := rapid.SampledFrom([]access.Door{access.Pairing, access.Allowlist}).Draw(rt, "door")
		p := play{T: rt, world: newWorld(t, access.Config{DM: door, Chats: []string{group.String()}})}
		p.granted = granted{make(map[chat.UserID]int), make(map[int]access.Role), 0}
		for n := range 6 {
			p.cast = append(p.cast, chat.User{ID: chat.UserID(fmt.Sprintf("telegram:%d", n+1)), Name: "Ada"})
		}
		p.start()
		rt.Repeat(map[string]func(*rapid.T){
			"start": func(*rapid.T) { p.start() },
			"wait":  func(*rapid.T) { p.pass(time.Duration(rapid.IntRange(1, 90).Draw(p.T, "minutes")) * time.Minute) },
			"talk":  func(*rapid.T) { p.talk() },
			"claim": func(*rapid.T) { p.claim() },
			"pair":  func(*rapid.T) { p.pair() },
			"role":  func(*rapid.T) { p.setRole() },
			"link":  func(*rapid.T) { p.link() },
			"tidy":  func(*rapid.T) { p.apply(must(p.Tidy(ctx))) },
			"":      func(*rapid.T) { p.check() },
		})
	})
}

// play is one run: the cast, the codes that were said, who made which.
type play struct {
	*rapid.T
	*world
	granted
	cast  []chat.User
	codes []string
	asked map[string]chat.UserID
	made  map[string]chat.UserID
	valid string // the claim code
	owned bool
}

func (p *play) anybody(as string) chat.User { return rapid.SampledFrom(p.cast).Draw(p.T, as) }

// anyCode is one that was said somewhere, whoever it was meant for, or a wrong
// one.
func (p *play) anyCode() string {
	return rapid.SampledFrom(append([]string{"0000-0000", "x"}, p.codes...)).Draw(p.T, "code")
}

func (p *play) start() {
	code, ops, needed, err := p.ClaimCode(ctx)
	if err != nil {
		p.T.Fatal(err)
	}
	p.apply(ops)
	if p.valid = ""; needed {
		p.valid, p.codes = code, append(p.codes, code)
	}
}

func (p *play) talk() {
	who := p.anybody("who")
	v := p.says(who, "hello")
	if v.Admit && p.of(who.ID) == access.None {
		p.T.Fatalf("%s is admitted", who.ID)
	}
	for _, r := range must(p.Pairings(ctx)) {
		if p.asked == nil {
			p.asked = make(map[string]chat.UserID)
		}
		if _, known := p.asked[r.Code]; !known {
			p.asked[r.Code], p.codes = r.User.ID, append(p.codes, r.Code)
		}
	}
}

func (p *play) claim() {
	who, code, private := p.anybody("who"), p.anyCode(), rapid.Bool().Draw(p.T, "private")
	c, err := p.Claim(ctx, who, home(who), private, code)
	if err != nil {
		p.T.Fatal(err)
	}
	p.apply(c.Ops)
	if !c.Refused {
		if code != p.valid || !private {
			p.T.Fatalf("%s claims with %s, the code is %q", who.ID, code, p.valid)
		}
		p.give(who.ID, access.Owner)
	}
	if code == p.valid && (!private || !c.Refused) {
		p.valid = ""
	}
}

func (p *play) pair() {
	by, code := p.anybody("by"), p.anyCode()
	c, err := p.Pair(ctx, by, code)
	if err != nil {
		p.T.Fatal(err)
	}
	p.apply(c.Ops)
	if c.Refused {
		return
	}
	who, known := p.asked[code]
	if p.of(by.ID) != access.Owner && p.of(by.ID) != access.Admin || !known {
		if len(c.Ops) > 0 {
			p.T.Fatalf("%s, %q, pairs %q", by.ID, p.of(by.ID), code)
		}
		return
	}
	p.give(who, access.Member)
}

func (p *play) setRole() {
	by, user := p.anybody("by"), p.anybody("user")
	role := rapid.SampledFrom([]string{"owner", "admin", "member", "guest", "none"}).Draw(p.T, "role")
	c, err := p.SetRole(ctx, by, string(user.ID), role)
	if err != nil {
		p.T.Fatal(err)
	}
	p.apply(c.Ops)
	if c.Refused {
		return
	}
	to, _ := access.ParseRole(role)
	switch from := p.of(user.ID); p.of(by.ID) {
	case access.Owner:
	case access.Admin:
		if from == access.Admin || from == access.Owner || to == access.Admin || to == access.Owner {
			p.T.Fatalf("admin %s makes %s of %s", by.ID, role, from)
		}
	default:
		p.T.Fatalf("%s, %q, makes somebody %s", by.ID, p.of(by.ID), role)
	}
	p.give(user.ID, to)
}

func (p *play) link() {
	who, code := p.anybody("who"), ""
	if rapid.Bool().Draw(p.T, "with a code") {
		code = p.anyCode()
	}
	private := rapid.Bool().Draw(p.T, "private")
	c, err := p.Link(ctx, who, home(who), private, code)
	if err != nil {
		p.T.Fatal(err)
	}
	p.apply(c.Ops)
	if c.Refused {
		return
	}
	if code == "" {
		if p.of(who.ID) == access.None {
			p.T.Fatalf("%s, who is nobody, gets a link code", who.ID)
		}
		if p.made == nil {
			p.made = make(map[string]chat.UserID)
		}
		made := codeIn(p.T, c.Reply)
		p.made[made], p.codes = who.ID, append(p.codes, made)
		return
	}
	maker, known := p.made[code]
	if !known || !private {
		p.T.Fatalf("%s is linked with %q", who.ID, code)
	}
	p.join(who.ID, maker)
}

func (p *play) check() {
	owners := 0
	for _, who := range p.cast {
		if got, want := must(p.RoleOf(ctx, who.ID)), p.of(who.ID); got != want {
			p.T.Fatalf("%s is %q, was granted %q", who.ID, got, want)
		}
		if p.of(who.ID) == access.Owner {
			owners++
		}
		v := must(p.Judge(ctx, inGroup(who, group, "hello", true)))
		if v.Admit != (p.of(who.ID) != access.None) || v.Role != p.of(who.ID) && v.Admit {
			p.T.Fatalf("%s, %q: %+v", who.ID, p.of(who.ID), v)
		}
		if v = must(p.Judge(ctx, inGroup(who, closed, "hello", true))); v.Admit {
			p.T.Fatalf("%s is admitted in a closed chat", who.ID)
		}
	}
	if p.owned && owners == 0 {
		p.T.Fatal("parley lost its last owner")
	}
	p.owned = owners > 0
}
