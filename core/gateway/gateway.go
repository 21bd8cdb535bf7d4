package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"parley/core/access"
	"parley/core/ask"
	"parley/core/chat"
	"parley/core/outbox"
	"parley/core/policy"
	"parley/core/session"
	"parley/storage"
	"parley/tools"
)

// Gateway is the door and the voice. Its methods are safe for concurrent use.
type Gateway struct {
	store    storage.Store
	access   *access.Access
	outbox   *outbox.Outbox
	asks     *ask.Asks
	policy   *policy.Policy
	catalog  *tools.Catalog
	wake     func(...chat.Key)
	findings func(context.Context) []chat.Finding
	log      zerolog.Logger
	now      func() time.Time
	version  string
	born     time.Time
	commands map[string]command
	table    []command
	routes   *http.ServeMux

	doors doors

	mu   sync.Mutex      // guards full
	full map[string]bool // lanes whose senders were told that they are full
}

// Parts is what a Gateway is made of.
type Parts struct {
	Store    storage.Store
	Access   *access.Access
	Outbox   *outbox.Outbox
	Asks     *ask.Asks                            // nil: nobody is ever asked
	Policy   *policy.Policy                       // nil: there are no rules
	Catalog  *tools.Catalog                       // of what the agent can use; nil: of nothing
	Wake     func(...chat.Key)                    // tells conversations that their inbox has something
	Findings func(context.Context) []chat.Finding // for /status; nil: none
	Log      zerolog.Logger
	Now      func() time.Time // nil: time.Now
	Version  string
}

// New returns a gateway.
func New(p Parts) *Gateway {
	g := &Gateway{
		store: p.Store, access: p.Access, outbox: p.Outbox, wake: p.Wake, findings: p.Findings,
		log: p.Log, now: p.Now, version: p.Version, asks: p.Asks, policy: p.Policy, catalog: p.Catalog,
		routes: http.NewServeMux(),
		full:   make(map[string]bool),
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.born = g.now()
	g.table = g.list()
	g.commands = make(map[string]command, len(g.table))
	for _, c := range g.table {
		g.commands[c.Name] = c
	}
	return g
}

// cursors are how far adapters have read.
const cursors = storage.Typed[string]("cursors")

// Cursors lists the stored cursors whose name begins with prefix.
func (g *Gateway) Cursors(ctx context.Context, prefix string) ([]chat.Cursor, error) {
	rows, err := cursors.All(ctx, g.store, prefix)
	if err != nil {
		return nil, err
	}
	list := make([]chat.Cursor, 0, len(rows))
	for name, value := range rows {
		list = append(list, chat.Cursor{Name: name, Value: value})
	}
	return list, nil
}

// Handle mounts an adapter's handler under "/adapters/" + path.
func (g *Gateway) Handle(path string, h http.Handler) {
	g.routes.Handle("/adapters/"+strings.TrimPrefix(path, "/"), h)
}

// Routes serves what adapters have mounted.
func (g *Gateway) Routes() http.Handler { return g.routes }

// lane says where an event waits: commands that must not wait for a turn are
// control, everything else keeps its place among the messages.
func (g *Gateway) lane(ev chat.Event) string {
	if line, ok := g.line(ev); ok {
		if c, known := g.commands[line.Name]; !known || c.Control {
			return session.Control
		}
	}
	return session.Messages
}

// line returns the command that an event is.
func (g *Gateway) line(ev chat.Event) (Line, bool) {
	switch b := ev.Body.(type) {
	case chat.Pressed:
		return Parse(b.Line)
	case chat.Said:
		line, ok := Parse(b.Text)
		if strayed(line, b) {
			return Line{}, false
		}
		return line, ok
	case chat.Edited, chat.Deleted, chat.Located, chat.Joined, chat.Moved, chat.Reported:
		return Line{}, false
	default:
		panic(fmt.Sprintf("gateway: unknown event body %T", b))
	}
}

// strayed reports whether a command was said to another bot by name.
func strayed(line Line, said chat.Said) bool {
	return line.Bot != "" && !said.Addressed && !said.Private
}

var _ chat.Inbound = (*Gateway)(nil)
