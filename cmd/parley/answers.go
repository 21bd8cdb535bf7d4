package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"parley/core/access"
	"parley/core/api"
	"parley/core/chat"
	"parley/core/gateway"
)

// API answers the command line.
func (a *app) API() api.Host {
	return a.gate(api.Host{
		Version:  a.setup.Version,
		Status:   a.status,
		Check:    a.check,
		Doctor:   a.doctor,
		Pairings: a.pairings,
		Approve: func(ctx context.Context, code string) (chat.User, error) {
			if strings.TrimSpace(code) == "" { // which would list who waits
				return chat.User{}, &api.Error{Says: "no code was given", Remedy: "`parley pair list` says who waits; the code is what they were shown"}
			}
			return whom(a.gateway.Approve(ctx, code))
		},
		Remove: func(ctx context.Context, user chat.UserID) (chat.User, error) {
			return whom(a.gateway.Remove(ctx, user))
		},
		Redact: a.setup.Redact.String,
		Errors: a.setup.Log,
	})
}

// whom is the person that an order was about. One that was refused is told as
// the sentence it was refused with.
func whom(ch access.Change, err error) (chat.User, error) {
	if errors.Is(err, gateway.ErrRefused) {
		return chat.User{}, &api.Error{Says: strings.TrimSuffix(ch.Reply, ".")}
	}
	return ch.Whom, err
}

func (a *app) pairings(ctx context.Context) ([]api.Pairing, error) {
	requests, err := a.gateway.Pairings(ctx)
	if err != nil {
		return nil, err
	}
	var list []api.Pairing
	for _, r := range requests {
		list = append(list, api.Pairing{User: r.User, Asked: r.Expires.Add(-access.PairingLife), Expires: r.Expires})
	}
	return list, nil
}

// status may be asked of an app that only answers a command: then there is no
// host, and no conversations to count.
func (a *app) status(ctx context.Context) (api.Status, error) {
	s := api.Status{
		Version: a.setup.Version, PID: os.Getpid(), Started: a.began,
		Config: a.setup.Config.File, Findings: a.ready(ctx),
	}
	if host := a.host.Load(); host != nil {
		s.Counts = append(s.Counts, api.Count{Name: "conversations in memory", Value: int64(host.Live())})
	}
	waiting, err := a.box.Waiting(ctx)
	if err != nil {
		return s, err
	}
	dead, err := a.box.Dead(ctx)
	s.Counts = append(s.Counts,
		api.Count{Name: "posts to be shown", Value: int64(waiting)},
		api.Count{Name: "dead letters", Value: int64(len(dead))})
	return s, err
}

// ready says how every connection is, and whether the disk takes anything.
func (a *app) ready(ctx context.Context) []chat.Finding {
	var all []chat.Finding
	if err := a.store.Trouble(); err != nil {
		all = append(all, chat.Finding{
			Part: "store", Level: chat.Fail, Says: fmt.Sprintf("Nothing can be written to %s: %v.", a.setup.Config.DataDir, err),
			Remedy: "Make room on its disk, or see to it; what waits is written then.",
		})
	}
	for _, name := range slices.Sorted(maps.Keys(a.links)) {
		all = append(all, a.links[name].finding())
	}
	return append(all, a.box.Findings(ctx)...)
}

// check reports on everything short of connecting.
func (a *app) check(ctx context.Context) ([]chat.Finding, error) {
	all := []chat.Finding{{Part: "store", Level: chat.Good, Says: a.setup.Config.DataDir + " is in order and open."}}
	for _, c := range a.setup.Config.ActiveModels() {
		f := chat.Finding{Part: "model " + c.Name, Level: chat.Good, Says: "Set up; `parley doctor` tries it."}
		if _, err := newModel(c); err != nil {
			f.Level, f.Says = chat.Fail, err.Error()
		}
		all = append(all, f)
	}
	if len(a.setup.Config.ActiveModels()) == 0 {
		all = append(all, chat.Finding{
			Part: "model", Level: chat.Warn, Says: "None is configured: a server on this machine is used if one answers, else the built-in demo model.",
			Remedy: "Set OPENAI_API_KEY, or write a model into config.yaml; `parley init` helps.",
		})
	}
	all = append(all, a.gateFindings(ctx)...)
	return append(all, a.box.Findings(ctx)...), nil
}

// doctor reports on everything and connects for it.
func (a *app) doctor(ctx context.Context) ([]chat.Finding, error) {
	all := []chat.Finding{{Part: "store", Level: chat.Good, Says: a.setup.Config.DataDir + " is in order and open."}}
	models, err := a.models(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		all = append(all, try(ctx, m))
	}
	all = append(all, a.gateFindings(ctx)...)
	return append(all, a.ready(ctx)...), nil
}
