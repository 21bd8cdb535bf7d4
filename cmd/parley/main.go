// Command parley puts one tool-using LLM agent into every chat.
//
// This package is the program's shell and its assembly, and the only one that
// sees all others:
//
//	main.go       the process: arguments, standard files, exit code
//	cli.go        the command line, one struct a command
//	program.go    what commands share: configuration, log, the running parley
//	app.go        the seam: what the shell asks of the assembly
//	assemble.go   the assembly
//
// A command that asks or changes something goes through an api.Client, which
// talks to the running parley or, when there is none, to an App opened for the
// purpose: no command knows which.
//
// Exit codes: 0 done, 1 failed, 2 the command line was wrong. What goes wrong
// is told on standard error in one sentence, cause and remedy; every secret
// of the configuration is taken out of all that is written.
package main

import (
	"os"
	_ "time/tzdata" // zones by name on machines that have none, 450 kB

	"parley/tools/shell"
)

func main() {
	if shell.Launcher(os.Args[1:]) {
		return
	}
	p := &program{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.LookupEnv, exit: os.Exit}
	p.parts = parts{open: assemble, try: tryModel}
	os.Exit(p.main(os.Args[1:]))
}
