package main

import (
	"cmp"
	"context"

	"github.com/alecthomas/kong"

	"parley/core/chat"
)

const about = `One agent, every chat.

Without a command parley serves; with no platform configured and a terminal at
hand it opens a chat right here.

Exit codes: 0 done, 1 failed (a configuration that is wrong, too), 2 the command
line was wrong.`

// commands is the command line. Each field's Run is the command.
type commands struct {
	Config string `placeholder:"FILE" help:"Read this configuration. Default: ./config.yaml, without one the built-in defaults."`

	Default defaultCommand `cmd:"" default:"1" hidden:""`
	Serve   serveCommand   `cmd:"" help:"Connect and work until told to stop."`
	Chat    chatCommand    `cmd:"" help:"Talk to the agent here, on the terminal or through a pipe."`
	Check   checkCommand   `cmd:"" help:"Judge the configuration and everything else short of connecting."`
	Doctor  doctorCommand  `cmd:"" help:"Connect to everything that is configured and say how it went."`
	Init    initCommand    `cmd:"" help:"Ask a few questions and write the configuration."`
	Pair    pairCommands   `cmd:"" help:"Let people in and out."`
	Tools   toolsCommand   `cmd:"" help:"List the tools of the agent, and what the rules say of them."`
	Rules   rulesCommands  `cmd:"" help:"List, explain and change the rules about what the agent may do."`
	Audit   auditCommand   `cmd:"" help:"Show what was decided about calls, and by whom."`
	Status  statusCommand  `cmd:"" help:"Say how the running parley is."`
	Version versionCommand `cmd:"" help:"Say which parley this is."`
}

type pairCommands struct {
	List    pairListCommand    `cmd:"" help:"List who waits to be let in."`
	Approve pairApproveCommand `cmd:"" help:"Let in whoever got this code."`
	Remove  pairRemoveCommand  `cmd:"" help:"Take access back from somebody, at once."`
}

type (
	defaultCommand     struct{}
	serveCommand       struct{}
	chatCommand        struct{}
	checkCommand       struct{}
	doctorCommand      struct{}
	initCommand        struct{}
	statusCommand      struct{}
	versionCommand     struct{}
	pairListCommand    struct{}
	pairApproveCommand struct {
		Code string `arg:"" help:"The code that the person was shown."`
	}
	pairRemoveCommand struct {
		User chat.UserID `arg:"" help:"The account, as PLATFORM:ID."`
	}
)

// exited carries the exit code out of kong, which wants to end the process
// after --help.
type exited int

// main runs one command line and returns the exit code.
func (p *program) main(args []string) (code int) {
	defer func() {
		switch gone := recover().(type) {
		case nil:
		case exited:
			code = int(gone)
		default:
			panic(gone)
		}
	}()
	ctx, stop := untilSignal(context.Background(), func() { p.exit(exitFail) })
	defer stop()
	return report(p.redacted(p.err), p.run(ctx, args))
}

func (p *program) run(ctx context.Context, args []string) error {
	var c commands
	parser := kong.Must(&c, kong.Name("parley"), kong.Description(about),
		kong.Writers(output{p}, p.err), kong.Exit(func(code int) { panic(exited(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Bind(p), kong.BindTo(ctx, (*context.Context)(nil)))
	line, err := parser.Parse(args)
	if p.unsaid != nil {
		return p.unwritten()
	}
	if err != nil {
		return usage{err}
	}
	p.configFile = c.Config
	defer p.close()
	return cmp.Or(line.Run(), p.unwritten())
}
