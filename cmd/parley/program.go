package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"

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
	unsaid   error // why something could not be printed
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

// say prints one line of a command's answer. That it cannot be printed is told
// at the end.
func (p *program) say(format string, args ...any) {
	_, _ = fmt.Fprintln(p.redacted(output{p}), visible(fmt.Sprintf(format, args...)))
}

// output is standard output, which remembers that a Write failed.
type output struct{ p *program }

// Write passes b on.
func (o output) Write(b []byte) (int, error) {
	n, err := o.p.out.Write(b)
	if err != nil && o.p.unsaid == nil {
		o.p.unsaid = err
	}
	return n, err
}

// unwritten is the failure of a command whose answer could not be printed, nil
// if it was. A reader that went away has what it wanted.
func (p *program) unwritten() error {
	var path *fs.PathError
	switch {
	case p.unsaid == nil:
		return nil
	case errors.Is(p.unsaid, syscall.EPIPE):
		return errShown
	case errors.As(p.unsaid, &path):
		return &failure{fmt.Sprintf("standard output cannot be written (%v)", path.Err), "send it elsewhere"}
	}
	return p.unsaid
}

// visible keeps a text from another side (a person's name, an argument) from
// steering the terminal: it shows control characters as Go writes them. Line
// breaks stay.
func visible(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if steers(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// steers reports characters that do something to a terminal, or change the
// direction of what follows.
func steers(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Bidi_Control)
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
