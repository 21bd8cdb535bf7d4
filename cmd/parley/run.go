package main

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"time"

	"parley/core/api"
	"parley/core/chat"
	"parley/core/llm"
	"parley/core/session"
)

// stage is one long-lived part of a running parley.
type stage struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
}

// begin runs a part until its stop. Its error is told on failed, which has room
// for all stages, whether it ended by itself or was stopped.
func begin(ctx context.Context, failed chan<- error, run func(context.Context) error) *stage {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &stage{cancel, make(chan struct{})}
	go func() {
		defer close(s.done)
		if err := run(ctx); err != nil {
			failed <- err
		}
	}()
	return s
}

// stop ends the part and waits for it.
func (s *stage) stop() {
	s.cancel()
	<-s.done
}

// Serve runs parley until ctx ends or the person at the terminal leaves. It
// stops in order: first nothing new comes in, then turns reach a safe point,
// then what is ready is shown, and the rest waits on disk for the next start.
func (a *app) Serve(ctx context.Context, terminal bool) error {
	socket, err := api.Listen(a.setup.Config.DataDir)
	if err != nil {
		return err
	}
	if err := a.sweepChildren(ctx); err != nil {
		return errors.Join(err, socket.Close())
	}
	models, err := a.models(ctx)
	if err != nil {
		return errors.Join(err, socket.Close())
	}
	listener, err := a.listen(terminal)
	if err != nil {
		return errors.Join(err, socket.Close())
	}
	host := a.newHost(models, terminal)
	a.host.Store(host)
	a.offerClaim(ctx)

	const stages = 7
	failed := make(chan error, stages)
	box := begin(ctx, failed, a.box.Run)
	hosting := begin(ctx, failed, host.Run)
	intake := begin(ctx, failed, a.connect)
	web := begin(ctx, failed, func(ctx context.Context) error { return a.serveHTTP(ctx, listener) })
	command := begin(ctx, failed, func(ctx context.Context) error { return socket.Serve(ctx, a.API(), a.refused) })
	keeping := begin(ctx, failed, a.keepHouse)
	watching := begin(ctx, failed, a.tools.discovery.Run)
	a.announce()

	select {
	case <-ctx.Done():
		a.setup.Log.Info().Msg("stopping")
	case <-a.left:
	case err = <-failed:
	}
	keeping.stop()
	web.stop()
	intake.stop()
	hosting.stop()
	watching.stop()
	if err == nil || !terminal { // else nobody is there to be shown anything
		a.flush()
	}
	box.stop()
	command.stop()
	close(failed)
	for more := range failed {
		err = errors.Join(err, more)
	}
	return err
}

// newHost makes the conversations. Those of adapters that this run does not
// have are left alone.
func (a *app) newHost(models []llm.Model, terminal bool) *session.Host {
	c := a.sessionConfig()
	if terminal {
		c.Grace = time.Second // somebody waits for the prompt of their shell
	}
	log := a.setup.Log.With().Str("part", "session").Logger()
	pool := llm.NewPool(models, llm.Options{Failed: func(e *llm.Error) {
		a.setup.Log.Warn().Err(e).Str("part", "model").Msg("asking a model")
	}})
	return session.New(session.Parts{
		Store: a.store, Outbox: a.box, Models: pool, Front: a.gateway, Config: c, Log: log, Toolbox: a.toolbox(),
		Here: func(k chat.Key) bool { return a.adapters[k.Adapter] != nil },
	})
}

// sessionConfig starts from session's defaults, which hold for what has no key,
// and for the prompt where no prompt_file is given.
func (a *app) sessionConfig() session.Config {
	from := a.setup.Config.Session
	c := session.Defaults()
	if from.Prompt != "" {
		c.Prompt = from.Prompt
	}
	c.MaxRounds, c.TurnTimeout = from.MaxRounds, from.TurnTimeout
	c.KeepRaw, c.CompactAt, c.SummaryBy = from.KeepMessages, from.CompactAt, from.SummaryBy
	c.Idle, c.Grace = from.Idle, from.Grace
	c.Zone = a.setup.Config.Location()
	c.Workdir = a.setup.Config.Workspace
	return c
}

// listen opens http.listen, which a chat at the terminal does without.
func (a *app) listen(terminal bool) (net.Listener, error) {
	if terminal {
		return nil, nil
	}
	return api.ListenHTTP(a.setup.Config.HTTP.Listen)
}

func (a *app) serveHTTP(ctx context.Context, l net.Listener) error {
	mux := api.Health(a.ready, a.setup.Redact.String)
	mux.Handle("/adapters/", a.gateway.Routes())
	return api.ServeHTTP(ctx, l, mux, a.setup.Log)
}

// announce says in the log what a server would otherwise do in silence.
func (a *app) announce() {
	if a.setup.Terminal {
		return
	}
	if len(a.adapters) == 0 {
		a.setup.Log.Warn().Msg("no platform is connected, so nobody can write to this parley; `parley chat` talks in the terminal instead")
	}
	a.setup.Log.Info().Str("data", a.setup.Config.DataDir).Str("http", a.setup.Config.HTTP.Listen).
		Strs("adapters", slices.Sorted(maps.Keys(a.adapters))).Msg("serving")
}

// offerClaim prints the code with which the first owner claims parley, if this
// run has an adapter for a platform and nobody owns parley yet.
func (a *app) offerClaim(ctx context.Context) {
	if len(a.adapters) == 0 || a.setup.Terminal {
		return
	}
	code, ops, needed, err := a.access.ClaimCode(ctx)
	if err == nil {
		err = a.store.Apply(ctx, ops...)
	}
	switch {
	case err != nil:
		a.setup.Log.Error().Err(err).Msg("making the claim code")
	case needed:
		a.setup.Log.Warn().Msg("nobody owns this parley yet: send the bot, in a private chat, the words /claim " + code)
	}
}

// flushTime is how long a stop waits for posts that are ready to be shown.
const flushTime = 2 * time.Second

// flush gives what is ready a moment to be shown. What is not shown by then
// waits on disk.
func (a *app) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		n, err := a.box.Waiting(ctx)
		if err != nil || n == 0 {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// keepHouse removes what has outlived its keeping, at the start and then every
// hour.
func (a *app) keepHouse(ctx context.Context) error {
	ticker := time.NewTicker(time.Hour)
	defer ticker.Stop()
	for first := true; ; first = false {
		if err := a.sweep(ctx, !first); err != nil && ctx.Err() == nil {
			a.setup.Log.Error().Err(err).Msg("sweeping the store")
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// sweep removes it. What became of requests to people is left alone at the
// start: a turn that slept for longer than that is kept must still find it, and
// it has been resumed by the next time.
func (a *app) sweep(ctx context.Context, resumed bool) error {
	ops, err := a.access.Tidy(ctx)
	if err != nil {
		return err
	}
	if err := a.store.Apply(ctx, ops...); err != nil {
		return err
	}
	if resumed {
		if err := a.tidyAsks(ctx); err != nil {
			return err
		}
	}
	if err := session.TrimAudit(ctx, a.store, time.Now()); err != nil {
		return err
	}
	return a.store.Sweep(ctx)
}
