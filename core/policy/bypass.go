package policy

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/tools"
)

// Bypass lets calls of one session through that would need approval. What is
// set must all match; at least one field must be.
type Bypass struct {
	Tool     string         // by name; set Server too for the tool of an MCP server
	Category tools.Category // never reaches tools without a category, nor MCP tools
	Server   string         // an MCP server by name, "github"
	All      bool           // every tool
	Until    time.Time      // zero: for as long as the session lasts
}

// aimless reports whether nothing is named that could be let through.
func (b Bypass) aimless() bool {
	return b.Tool == "" && b.Category == tools.NoCategory && b.Server == "" && !b.All
}

func (b Bypass) expired(now time.Time) bool { return !b.Until.IsZero() && !now.Before(b.Until) }

func (b Bypass) match(c *Call) bool {
	from := server(c.Tool)
	switch {
	case b.aimless():
		return false
	case b.Tool != "" && b.Tool != c.Tool.Name:
		return false
	case b.Server != "" && b.Server != from:
		return false
	case b.Category != tools.NoCategory && (b.Category != c.Tool.Category || from != ""):
		return false
	default:
		return true
	}
}

// what names the calls that are let through.
func (b Bypass) what() string {
	var parts []string
	if b.Tool != "" {
		parts = append(parts, mono(b.Tool))
	}
	if b.Category != tools.NoCategory {
		parts = append(parts, "the category "+mono(string(b.Category)))
	}
	if b.Server != "" {
		parts = append(parts, "the MCP server "+mono(b.Server))
	}
	if len(parts) == 0 {
		return "every tool"
	}
	return strings.Join(parts, " of ")
}

// span says for how long.
func (b Bypass) span() string {
	if b.Until.IsZero() {
		return "for this session"
	}
	return "until " + b.Until.Format("15:04 MST")
}

// String is the bypass in a line.
func (b Bypass) String() string { return b.what() + " " + b.span() }

// bypasses are those of all sessions.
type bypasses struct {
	mu sync.Mutex
	of map[string][]Bypass
}

// find returns a live bypass for a call.
func (x *bypasses) find(c *Call, now time.Time) (Bypass, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, b := range x.of[c.Session] {
		if !b.expired(now) && b.match(c) {
			return b, true
		}
	}
	return Bypass{}, false
}

// alive removes what expired from a session and returns the rest.
func (x *bypasses) alive(session string, now time.Time) []Bypass {
	list := slices.DeleteFunc(x.of[session], func(b Bypass) bool { return b.expired(now) })
	if len(list) == 0 {
		delete(x.of, session)
	} else {
		x.of[session] = list
	}
	return list
}

// maxBypasses is how many a session can hold; the oldest give way.
const maxBypasses = 100

// Grant lets calls of a session through from now on. One that lets the same
// through replaces the one before. An error is a bypass that names nothing, or
// no session.
func (p *Policy) Grant(session string, b Bypass) error {
	switch {
	case session == "":
		return errors.New("granting a bypass: no session is named")
	case b.aimless():
		return errors.New("granting a bypass: it names no tool, category or server")
	}
	x := &p.bypasses
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.of == nil {
		x.of = make(map[string][]Bypass)
	}
	list := slices.DeleteFunc(x.alive(session, p.now()), func(o Bypass) bool {
		o.Until = b.Until
		return o == b
	})
	list = append(list, b)
	x.of[session] = slices.Clone(list[max(0, len(list)-maxBypasses):])
	return nil
}

// Bypasses lists what is let through in a session at the moment.
func (p *Policy) Bypasses(session string) []Bypass {
	x := &p.bypasses
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.alive(session, p.now()))
}

// Forget ends all bypasses of a session.
func (p *Policy) Forget(session string) {
	x := &p.bypasses
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.of, session)
}
