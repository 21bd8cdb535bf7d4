package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"parley/adapters"
	"parley/adapters/terminal"
	"parley/cmd/parley/config"
	"parley/core/access"
	"parley/core/chat"
	"parley/core/gateway"
	"parley/core/outbox"
	"parley/core/session"
	"parley/storage/bolt"
)

// terminalName is the adapter of a chat at the terminal.
const terminalName = "terminal"

// sitter is whoever sits at this machine's terminal: an owner.
const sitter = chat.UserID("terminal:local")

// app is a parley with its data open. Everything but the conversations is made
// by assemble; they need the models, which only Serve looks for.
type app struct {
	setup    Setup
	began    time.Time
	store    *bolt.DB
	access   *access.Access
	adapters map[string]chat.Adapter
	links    map[string]*link // how each adapter is, by name
	box      *outbox.Outbox
	tools    *workshop
	gateway  *gateway.Gateway
	refusals refusals
	host     atomic.Pointer[session.Host] // nil before Serve
	left     chan struct{}                // closed when the person at the terminal leaves
}

// assemble makes an App for a command.
func assemble(ctx context.Context, s Setup) (App, error) { return assembleWith(ctx, s, nil) }

// assembleWith makes an App that has more adapters than its configuration
// says.
func assembleWith(ctx context.Context, s Setup, more map[string]chat.Adapter) (App, error) {
	dir := s.Config.DataDir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &failure{fmt.Sprintf("data_dir %q cannot be made: %v", dir, err), "make it, or set another data_dir"}
	}
	store, err := bolt.Open(filepath.Join(dir, "parley.db"), bolt.Options{Log: s.Log})
	if err != nil {
		return nil, err
	}
	a := &app{setup: s, began: time.Now(), store: store, left: make(chan struct{})}
	if err := a.build(ctx, more); err != nil {
		_ = store.Close()
		return nil, err
	}
	return a, nil
}

// build makes the parts, each from those before it.
func (a *app) build(ctx context.Context, more map[string]chat.Adapter) error {
	var err error
	if a.access, err = access.New(a.store, accessConfig(a.setup.Config.Access)); err != nil {
		return err
	}
	a.adapters = adapters.New(a.adapterConfig())
	maps.Copy(a.adapters, more)
	a.links = make(map[string]*link)
	for name, adapter := range a.adapters {
		a.adapters[name] = redacting{adapter, a.setup.Redact}
		a.links[name] = newLink(name)
	}
	a.box = outbox.New(a.store, a.adapters, outbox.Options{
		Log: a.setup.Log.With().Str("part", "outbox").Logger(), PrivateChat: a.privateChat,
	})
	if err := a.equip(ctx); err != nil {
		return err
	}
	a.gateway = gateway.New(gateway.Parts{
		Store: a.store, Access: a.access, Outbox: a.box, Asks: a.tools.asks, Policy: a.tools.policy, Catalog: a.tools.catalog,
		Wake: a.wake, Findings: a.ready,
		Log: a.setup.Log.With().Str("part", "gateway").Logger(), Version: a.setup.Version,
	})
	return nil
}

// wake tells conversations that their inbox has something; without any, it is
// found when they begin.
func (a *app) wake(keys ...chat.Key) {
	if host := a.host.Load(); host != nil {
		host.Wake(keys...)
	}
}

// privateChat finds where a person can be written to alone: on the adapter of
// the account.
func (a *app) privateChat(ctx context.Context, u chat.UserID) (chat.Key, bool) {
	key, known, err := a.access.PrivateChat(ctx, u, u.Adapter())
	if err != nil {
		a.setup.Log.Warn().Err(err).Str("user", string(u)).Msg("looking for a private chat")
	}
	return key, known && err == nil
}

func accessConfig(c config.Access) access.Config {
	a := access.Config{
		Owners: c.Owners, Members: c.Members,
		DM: access.Door(c.DM), Groups: access.Mode(c.Groups),
		Approvers: c.Approvers, Bots: c.Bots,
		Local: []chat.UserID{sitter},
	}
	for _, key := range c.Chats {
		a.Chats = append(a.Chats, key.String())
	}
	return a
}

// adapterConfig says which adapters this run has. A chat at the terminal is
// for itself: it connects to no platform.
func (a *app) adapterConfig() adapters.Config {
	var all adapters.Config
	if a.setup.Terminal {
		all.Terminal = a.terminal()
	}
	return all
}

func (a *app) terminal() *terminal.Config {
	c := a.setup.Config.Adapters.Terminal
	t := &terminal.Config{
		In: a.setup.In, Out: a.setup.Out, Errs: a.setup.Redact.Writer(os.Stderr),
		User:     chat.User{ID: sitter, Name: cmp.Or(os.Getenv("USER"), "you")},
		Commands: gateway.Commands(),
		Greeting: "parley. /help lists the commands, Ctrl-C stops what runs, Ctrl-D leaves.",
		NoColor:  c.Color == "never" || c.Color == "auto" && os.Getenv("NO_COLOR") != "",
		Plain:    os.Getenv("TERM") == "dumb",
		OnLeave:  func() { close(a.left) },
	}
	if c.History {
		t.HistoryFile = filepath.Join(a.setup.Config.DataDir, "history")
	}
	return t
}

// Close releases the data. Twice is fine.
func (a *app) Close() error { return a.store.Close() }

var _ App = (*app)(nil)
