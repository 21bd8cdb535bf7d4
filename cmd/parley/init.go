package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"parley/cmd/parley/config"
	"parley/cmd/parley/redact"
	"parley/core/chat"
)

// question is one thing that init asks and the line of the shipped file that
// the answer goes into.
type question struct {
	text   string
	key    string
	value  string // as the shipped file has it; an empty answer keeps it
	hidden bool
}

// questions are asked in order. A later subject adds its own.
func questions() []question {
	return []question{
		{"Address of the model's server [https://api.openai.com/v1]", "base_url", "${OPENAI_BASE_URL:-https://api.openai.com/v1}", false},
		{"API key [taken from OPENAI_API_KEY when parley starts]", "api_key", "${OPENAI_API_KEY}", true},
		{"Name of the model [gpt-5-mini]", "model", "${OPENAI_MODEL:-gpt-5-mini}", false},
	}
}

// Run asks, tries and writes the configuration.
func (initCommand) Run(ctx context.Context, p *program) error {
	path := p.configFile
	if path == "" {
		path = config.DefaultFile
	}
	// Before anybody answers questions for nothing.
	if err := probeFolder(path); err != nil {
		return err
	}
	p.redactor = redact.New()
	d := newDialogue(ctx, p)
	defer d.stop()
	if _, err := os.Lstat(path); err == nil && !d.yes(path+" exists. Write a new one in its place?", false) {
		return &failure{fmt.Sprintf("%q was left as it is", path), "name another file with --config"}
	}
	text, err := p.compose(ctx, d, path)
	if err != nil {
		return err
	}
	if err := writeConfig(path, text); err != nil {
		return err
	}
	p.say("Wrote %s. It explains every key; `parley check` judges it, `parley` starts.", path)
	return nil
}

// compose asks until the answers make a configuration that is in order and
// whose model answers, or the person wants it anyway.
func (p *program) compose(ctx context.Context, d *dialogue, path string) (string, error) {
	for {
		text := d.fill(config.Shipped)
		if err := d.left(); err != nil {
			return "", err
		}
		c, err := config.Parse(path, text, filepath.Dir(path), p.env)
		if err != nil {
			if d.ended {
				return "", err
			}
			p.say("%v", err)
			continue
		}
		p.redactor.Add(c.Secrets()...)
		if p.tried(ctx, c) || !d.yes("Answer once more?", true) {
			return text, d.left()
		}
	}
}

// tried reports whether the models of a configuration answer, and tells.
func (p *program) tried(ctx context.Context, c *config.Config) bool {
	const wait = 30 * time.Second
	good := true
	for _, m := range c.Models {
		if why := m.Off(); why != "" {
			p.say("The model is off: %s. Without a model parley shows itself with a built-in demo.", why)
			continue
		}
		limited, cancel := context.WithTimeout(ctx, wait)
		f := p.parts.try(limited, m)
		cancel()
		p.print([]chat.Finding{f})
		good = good && f.Level != chat.Fail
	}
	return good
}

// probeFolder makes sure that the file can be written.
func probeFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &failure{fmt.Sprintf("%q is a folder", path), "name a file with --config"}
	}
	temp, err := tempConfig(path)
	if err != nil {
		return unwritable(path, err)
	}
	return errors.Join(temp.Close(), os.Remove(temp.Name()))
}

// tempConfig makes a file beside the one that is to be written, for this user
// alone.
func tempConfig(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), ".parley-*.yaml") // mode 0600
}

// writeConfig writes the file for this user alone, whole or not at all.
func writeConfig(path, text string) error {
	temp, err := tempConfig(path)
	if err == nil {
		_, err = temp.WriteString(text)
		err = errors.Join(err, temp.Sync(), temp.Close())
		if err == nil {
			err = os.Rename(temp.Name(), path)
		}
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}
	if err != nil {
		return unwritable(path, err)
	}
	return nil
}

// unwritable says why the file cannot be written.
func unwritable(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &failure{fmt.Sprintf("%q may not be written by this user", path), "name a file in a folder of yours with --config"}
	case errors.Is(err, fs.ErrNotExist):
		return &failure{fmt.Sprintf("the folder of %q does not exist", path), "make it first"}
	}
	return fmt.Errorf("writing %q: %w", path, err)
}

// dialogue asks on the terminal or reads answers from a pipe, one a line.
type dialogue struct {
	p     *program
	in    *bufio.Reader
	tty   bool
	ended bool // no answer will come any more
	stop  func() bool
}

// newDialogue begins a dialogue. A signal while it waits for an answer puts
// the terminal back, which may be hiding a key, and ends the process.
func newDialogue(ctx context.Context, p *program) *dialogue {
	fd := int(p.in.Fd())
	d := &dialogue{p: p, in: bufio.NewReader(p.in), tty: term.IsTerminal(fd)}
	before, err := term.GetState(fd)
	d.stop = context.AfterFunc(ctx, func() {
		if err == nil {
			_ = term.Restore(fd, before)
		}
		p.exit(exitFail)
	})
	return d
}

// fill asks all questions and puts the answers into the shipped file.
func (d *dialogue) fill(text string) string {
	for _, q := range questions() {
		answer := d.ask(q.text, q.hidden)
		if answer == "" {
			continue
		}
		before := q.key + ": " + q.value
		after := q.key + ": " + strconv.Quote(config.Escape(answer))
		if strings.Count(text, before) != 1 {
			panic("init: the shipped file does not hold one " + before)
		}
		text = strings.Replace(text, before, after, 1)
	}
	return text
}

// ask returns the answer to one question, "" at the end of the input.
func (d *dialogue) ask(text string, hidden bool) string {
	if d.ended {
		return ""
	}
	_, _ = fmt.Fprint(d.p.out, text+": ")
	if hidden && d.tty {
		answer, err := term.ReadPassword(int(d.p.in.Fd()))
		_, _ = fmt.Fprintln(d.p.out)
		d.ended = err != nil
		return strings.TrimSpace(string(answer))
	}
	line, err := d.in.ReadString('\n')
	if !d.tty {
		_, _ = fmt.Fprintln(d.p.out)
	}
	d.ended = err != nil
	return strings.TrimSpace(line)
}

// left tells that the person at the terminal wants no more questions, which
// they say with Ctrl-D. Input from elsewhere may end early: what it leaves open
// stays as shipped.
func (d *dialogue) left() error {
	if !d.tty || !d.ended {
		return nil
	}
	return &failure{"the questions were not answered to the end, and nothing was written", "`parley init` asks them again"}
}

// yes asks for a decision; at the end of the input the answer is no.
func (d *dialogue) yes(text string, byDefault bool) bool {
	choice := "[y/N]"
	if byDefault {
		choice = "[Y/n]"
	}
	answer := strings.ToLower(d.ask(text+" "+choice, false))
	if answer == "" {
		return byDefault && !d.ended
	}
	return answer == "y" || answer == "yes"
}
