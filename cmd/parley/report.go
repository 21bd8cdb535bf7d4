package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"parley/core/api"
	"parley/core/chat"
)

// Run judges everything short of connecting.
func (checkCommand) Run(ctx context.Context, p *program) error {
	return p.examine(ctx, (*api.Client).Check)
}

// Run connects to everything and tells how it went.
func (doctorCommand) Run(ctx context.Context, p *program) error {
	return p.examine(ctx, (*api.Client).Doctor)
}

// examine prints what the configuration and the parley say of themselves. It
// fails if anything of it does.
func (p *program) examine(ctx context.Context, ask func(*api.Client, context.Context) ([]chat.Finding, error)) error {
	if err := p.load(); err != nil {
		return err
	}
	findings := p.config.Findings(builtAdapters()...)
	client, err := p.client(ctx)
	if err == nil {
		findings = append(findings, p.running(ctx, client)...)
		var more []chat.Finding
		more, err = ask(client, ctx)
		findings = append(findings, more...)
	}
	if err != nil {
		says, remedy, _ := strings.Cut(err.Error(), "; ")
		findings = append(findings, chat.Finding{Part: "parley", Level: chat.Fail, Says: says, Remedy: remedy})
	}
	p.print(findings)
	for _, f := range findings {
		if f.Level == chat.Fail {
			return errShown
		}
	}
	return nil
}

// running says whether a parley runs, and whether with this configuration.
func (p *program) running(ctx context.Context, client *api.Client) []chat.Finding {
	if !client.Remote() {
		return nil
	}
	s, err := client.Status(ctx)
	if err != nil {
		return []chat.Finding{{Part: "parley", Level: chat.Warn, Says: "Runs, but does not say how: " + err.Error()}}
	}
	f := chat.Finding{Part: "parley", Level: chat.Good, Says: fmt.Sprintf("Runs as process %d; the lines below are its own.", s.PID)}
	info, err := os.Stat(p.config.File)
	switch {
	case s.Config != p.config.File:
		f.Level, f.Says = chat.Warn, fmt.Sprintf("Runs as process %d with another configuration (%s).", s.PID, named(s.Config))
		f.Remedy = "Name that file with --config, or restart parley with this one."
	case err == nil && info.ModTime().After(s.Started):
		f.Level, f.Says = chat.Warn, fmt.Sprintf("Runs as process %d, and %s was changed since it started.", s.PID, p.config.File)
		f.Remedy = "Restart parley to use it."
	}
	return []chat.Finding{f}
}

func named(file string) string {
	if file == "" {
		return "the built-in defaults"
	}
	return file
}

// print shows findings in columns, each remedy below its finding.
func (p *program) print(findings []chat.Finding) {
	wide := 0
	for _, f := range findings {
		wide = max(wide, len([]rune(f.Part)))
	}
	for _, f := range findings {
		p.say("%-4s  %-*s  %s", f.Level, wide, f.Part, f.Says)
		if f.Remedy != "" {
			p.say("%-4s  %-*s  → %s", "", wide, "", f.Remedy)
		}
	}
}

// Run tells how the running parley is; without one it fails.
func (statusCommand) Run(ctx context.Context, p *program) error {
	if err := p.load(); err != nil {
		return err
	}
	client, err := api.Dial(ctx, p.config.DataDir)
	if err == api.ErrNotServing {
		return &failure{fmt.Sprintf("no parley is running on the data in %q", p.config.DataDir), "`parley serve` starts one"}
	}
	if err != nil {
		return err
	}
	s, err := client.Status(ctx)
	if err != nil {
		return err
	}
	p.say("parley %s runs as process %d since %s, with %s", s.Version, s.PID, p.at(s.Started), named(s.Config))
	for _, c := range s.Counts {
		p.say("%8d  %s", c.Value, c.Name)
	}
	p.print(s.Findings)
	return nil
}

// at shows a time in the configured zone.
func (p *program) at(t time.Time) string {
	return t.In(p.config.Location()).Format("2006-01-02 15:04:05 MST")
}
