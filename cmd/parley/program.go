package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"parley/cmd/parley/config"
	"parley/cmd/parley/redact"
	"parley/core/api"
	"parley/storage/bolt"
)

// program is one run of the command line: what all commands share.
type program struct {
	parts      parts
	in         *os.File
	out, err   *os.File
	env        config.Env
	exit       func(code int)
	configFile string // as given with --config

	config   *config.Config
	redactor *redact.Redactor
	closers  []io.Closer
}

// redacted puts the redactor in front of w. Before the configuration is read no
// secret is known, and nothing is taken out.
func (p *program) redacted(w io.Writer) io.Writer { return late{p, w} }

// late looks the redactor up with each Write.
type late struct {
	p *program
	w io.Writer
}

// Write passes p on without secrets.
func (l late) Write(p []byte) (int, error) { return l.p.redactor.Writer(l.w).Write(p) }

// say prints one line of a command's answer.
func (p *program) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.redacted(p.out), format+"\n", args...)
}

// load reads the configuration.
func (p *program) load() error {
	c, err := config.Load(p.configFile, p.env)
	if err != nil {
		return err
	}
	p.config, p.redactor = c, redact.New(c.Secrets()...)
	return nil
}

// openApp makes the App for a command that works with the data itself.
func (p *program) openApp(ctx context.Context, log zerolog.Logger, terminal bool) (App, error) {
	app, err := p.parts.open(ctx, Setup{
		Config: p.config, Log: log, Redact: p.redactor, Version: version(),
		Terminal: terminal, In: p.in, Out: p.out,
	})
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, app)
	return app, nil
}

// openLog makes the log of a command. A chat on a terminal owns the screen:
// beside it lines go to a file.
func (p *program) openLog(c config.Log, ownsScreen bool) (zerolog.Logger, error) {
	onTerminal := term.IsTerminal(int(p.err.Fd()))
	to := logTo{config: c, zone: p.config.Location(), redact: p.redactor, screen: p.err, color: onTerminal}
	if ownsScreen && onTerminal {
		to.screen = nil
		if c.File == "" {
			to.config.File = filepath.Join(p.config.DataDir, "parley.log")
		}
	}
	log, closer, err := to.open()
	if err == nil {
		p.closers = append(p.closers, closer)
	}
	return log, err
}

// quietLog is the log of a command that answers and ends: what is worth a
// warning, on standard error.
func (p *program) quietLog() (zerolog.Logger, error) {
	return p.openLog(config.Log{Level: "warn", Format: "console"}, false)
}

// close closes what was opened, the last first.
func (p *program) close() {
	for i := len(p.closers) - 1; i >= 0; i-- {
		_ = p.closers[i].Close()
	}
	p.closers = nil
}

// client finds somebody to ask: the parley that runs or, when none does, an App
// of our own.
func (p *program) client(ctx context.Context) (*api.Client, error) {
	client, err := api.Dial(ctx, p.config.DataDir)
	if !errors.Is(err, api.ErrNotServing) {
		return client, err
	}
	log, err := p.quietLog()
	if err != nil {
		return nil, err
	}
	app, err := p.openApp(ctx, log, false)
	if errors.Is(err, bolt.ErrLocked) {
		// It may have begun to serve since.
		if client, err := api.Dial(ctx, p.config.DataDir); err == nil {
			return client, nil
		}
		return nil, &failure{
			fmt.Sprintf("a parley holds the data in %q but does not answer on its socket", p.config.DataDir),
			"give it a moment if it has just been started, else restart it",
		}
	}
	if err != nil {
		return nil, err
	}
	return api.Local(app.API()), nil
}
