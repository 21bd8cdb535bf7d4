package main_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	program "parley/cmd/parley"
	"parley/cmd/parley/config"
	"parley/core/api"
	"parley/core/chat"
	"parley/storage/bolt"
)

// fake is the smallest assembly: a lock on data_dir, the socket, one pairing
// code and an echo for a chat. Variables of the environment make it misbehave:
//
//	FAKE_DEAF   serves, but without the socket
//	FAKE_STUCK  does not stop
//	FAKE_AGENT  runs `parley pair approve`, as an agent's command would
type fake struct {
	setup program.Setup
	lock  *os.File
	began time.Time
}

func openFake(_ context.Context, s program.Setup) (program.App, error) {
	f := &fake{setup: s, began: time.Now()}
	if err := os.MkdirAll(s.Config.DataDir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(s.Config.DataDir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening store: %w; hand it over with chown", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("opening store: %w", bolt.ErrLocked)
	}
	f.lock = lock
	return f, nil
}

func (f *fake) Serve(ctx context.Context, terminal bool) error {
	if terminal {
		return f.chat()
	}
	done := make(chan error, 1)
	if os.Getenv("FAKE_DEAF") != "" {
		close(done)
	} else {
		socket, err := api.Listen(f.setup.Config.DataDir)
		if err != nil {
			return err
		}
		go func() { done <- socket.Serve(ctx, f.API(), nil) }()
	}
	f.setup.Log.Info().Str("key", f.setup.Config.Models[0].APIKey.Reveal()).Msg("serving")
	f.agent()
	<-ctx.Done()
	f.setup.Log.Info().Msg("stopping")
	if os.Getenv("FAKE_STUCK") != "" {
		select {}
	}
	return <-done
}

// agent asks the API from a process below this one.
func (f *fake) agent() {
	if os.Getenv("FAKE_AGENT") == "" {
		return
	}
	cmd := exec.Command(os.Args[0], "pair", "approve", "CODE2345", "--config", f.setup.Config.File)
	out, err := cmd.CombinedOutput()
	f.setup.Log.Info().Bytes("output", out).Err(err).Msg("agent")
}

func (f *fake) chat() error {
	lines := bufio.NewScanner(f.setup.In)
	for lines.Scan() {
		_, _ = fmt.Fprintf(f.setup.Out, "You said %s.\n\n", lines.Text())
	}
	return lines.Err()
}

func (f *fake) API() api.Host {
	report := func(says string) func(context.Context) ([]chat.Finding, error) {
		return func(context.Context) ([]chat.Finding, error) {
			level := chat.Good
			if os.Getenv("FAKE_BROKEN") != "" {
				level = chat.Fail
			}
			return []chat.Finding{{Part: "store", Level: level, Says: says}}, nil
		}
	}
	user := chat.User{ID: "telegram:5", Name: "Ada"}
	return api.Host{
		Version: f.setup.Version,
		Check:   report("Opened."),
		Doctor:  report("Written and read."),
		Status: func(context.Context) (api.Status, error) {
			return api.Status{Version: "7", PID: os.Getpid(), Started: f.began, Config: f.setup.Config.File, Counts: []api.Count{{Name: "sessions in memory", Value: 3}}}, nil
		},
		Pairings: func(context.Context) ([]api.Pairing, error) { return []api.Pairing{{User: user}}, nil },
		Approve: func(_ context.Context, code string) (chat.User, error) {
			if code != "CODE2345" {
				return chat.User{}, &api.Error{Says: "no pairing has this code", Remedy: "ask for a new one"}
			}
			return user, nil
		},
		Remove: func(_ context.Context, id chat.UserID) (chat.User, error) { return chat.User{ID: id}, nil },
		Redact: f.setup.Redact.String,
	}
}

func (f *fake) Close() error {
	if err := f.lock.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// tryFake finds every model good but the one called bad.
func tryFake(_ context.Context, m config.Model) chat.Finding {
	if m.Model == "bad" {
		return chat.Finding{Part: "model " + m.Name, Level: chat.Fail, Says: "Refused the key " + m.APIKey.Reveal() + ".", Remedy: "Check the key."}
	}
	return chat.Finding{Part: "model " + m.Name, Level: chat.Good, Says: "Answers."}
}
