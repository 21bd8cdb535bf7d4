package main

import (
	"context"
	"os"

	"github.com/rs/zerolog"

	"parley/cmd/parley/config"
	"parley/cmd/parley/redact"
	"parley/core/api"
	"parley/core/chat"
)

// App is a parley with its data open and nothing connected: what the shell asks
// of the assembly.
type App interface {
	// Serve connects and works until ctx ends or, with terminal, until the
	// person at the terminal leaves; it then stops in order. It blocks; nil
	// after a clean stop. terminal adds the chat on Setup.In and Setup.Out.
	// The socket of core/api is served in both cases, http.listen and the
	// platforms only without terminal. It is called once at most.
	Serve(ctx context.Context, terminal bool) error
	// API answers the command line, over the socket or directly. It may be
	// called before, during and without Serve. Its Check and Doctor leave out
	// what Config.Findings says: the shell prints that in front of theirs.
	API() api.Host
	// Close releases the data. Twice is fine.
	Close() error
}

// Setup is what an App is made of.
type Setup struct {
	Config   *config.Config
	Log      zerolog.Logger
	Redact   *redact.Redactor // knows the secrets of Config
	Version  string
	Terminal bool     // Serve will be called with terminal
	In, Out  *os.File // of the terminal chat
}

// parts is what the shell takes from the assembly.
type parts struct {
	// open makes an App and opens its data, but connects nothing. An error
	// that is bolt.ErrLocked says that another process holds the data; any
	// other is shown as it is.
	open func(ctx context.Context, s Setup) (App, error)
	// try asks a model for a word, for `parley init`. It ends with ctx.
	try func(ctx context.Context, m config.Model) chat.Finding
}

// builtAdapters names the platforms that this build has an adapter for. A
// platform enters it together with its adapter.
func builtAdapters() []string { return nil }
