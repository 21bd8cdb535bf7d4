package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"parley/core/chat"
	"parley/storage/bolt"
)

// Run serves, or chats where nothing is configured to serve and somebody sits
// at a terminal.
func (defaultCommand) Run(ctx context.Context, p *program) error {
	if err := p.load(); err != nil {
		return err
	}
	chat := len(p.config.Platforms()) == 0 && term.IsTerminal(int(p.in.Fd()))
	return p.serve(ctx, chat)
}

// Run serves until a signal.
func (serveCommand) Run(ctx context.Context, p *program) error {
	if err := p.load(); err != nil {
		return err
	}
	return p.serve(ctx, false)
}

// Run chats until the person leaves or the input ends.
func (chatCommand) Run(ctx context.Context, p *program) error {
	if err := p.load(); err != nil {
		return err
	}
	return p.serve(ctx, true)
}

// serve opens everything and blocks until the end. That another parley has the
// data is no fault of the store: everybody meets it, so it gets a sentence.
func (p *program) serve(ctx context.Context, terminal bool) error {
	logs := p.config.Log
	if terminal && logs.Level == "info" {
		logs.Level = "warn" // what a server says of its work is noise beside a chat
	}
	log, err := p.openLog(logs, terminal && term.IsTerminal(int(p.in.Fd())))
	if err != nil {
		return err
	}
	app, err := p.openApp(ctx, log, terminal)
	if errors.Is(err, bolt.ErrLocked) {
		return &failure{
			fmt.Sprintf("another parley is running on the data in %q", p.config.DataDir),
			"stop it first, or give this one a data_dir of its own",
		}
	}
	if err != nil {
		return err
	}
	p.logFindings(log)
	err = app.Serve(ctx, terminal)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // told to stop before it had begun: that is a stop, too
	}
	return cmp.Or(err, app.Close())
}

// logFindings says in the log what of the configuration somebody should know.
func (p *program) logFindings(log zerolog.Logger) {
	for _, f := range p.config.Findings(builtAdapters()...) {
		if f.Level == chat.Warn || f.Level == chat.Fail {
			log.Warn().Str("part", f.Part).Str("remedy", f.Remedy).Msg(f.Says)
		}
	}
}
