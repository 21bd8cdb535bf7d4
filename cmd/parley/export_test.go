package main

import (
	"context"
	"io"
	"os"

	"parley/cmd/parley/config"
	"parley/core/chat"
)

// Main runs the shell over a stand-in for the assembly.
func Main(args []string, open func(context.Context, Setup) (App, error), try func(context.Context, config.Model) chat.Finding) int {
	p := &program{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.LookupEnv, exit: os.Exit}
	p.parts = parts{open: open, try: try}
	return p.main(args)
}

// RealMain runs the program as main does.
func RealMain(args []string) int { return Main(args, assemble, tryModel) }

// OpenLogFile is openLogFile.
func OpenLogFile(path string, most int64) (io.WriteCloser, error) { return openLogFile(path, most) }

// CrashChild runs the child of a crash test, if this process is one.
func CrashChild() (is bool, err error) {
	if os.Getenv(crashDir) == "" {
		return false, nil
	}
	return true, crashChild()
}
