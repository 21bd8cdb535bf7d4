package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"parley/core/access"
	"parley/core/api"
	"parley/core/chat"
	"parley/core/gateway"
	"parley/core/session"
	"parley/tools/fs"
)

// What the command line asks of the gate: tools, rules, and what was decided.

// gate adds its answers to those of the API.
func (a *app) gate(h api.Host) api.Host {
	h.Tools, h.Rules, h.Audit = a.listTools, a.listRules, a.listAudit
	h.AskRules = func(ctx context.Context, words []string) (string, error) {
		return toldOf(a.gateway.AskRules(ctx, words))
	}
	h.OrderRules = func(ctx context.Context, words []string) (string, error) {
		return toldOf(a.gateway.OrderRules(ctx, words))
	}
	return h
}

// toldOf is what is said of rules. A refusal is told as the sentence it is.
func toldOf(said string, err error) (string, error) {
	if errors.Is(err, gateway.ErrRefused) {
		return "", &api.Error{Says: strings.TrimSuffix(said, ".")}
	}
	return said, err
}

func (a *app) listTools(ctx context.Context, word string) ([]api.Tool, error) {
	role, known := access.ParseRole(word)
	if !known {
		return nil, &api.Error{Says: fmt.Sprintf("%q is no role", word), Remedy: "there are owner, admin, member and guest"}
	}
	if a.host.Load() == nil { // nobody has read yet what is known
		if err := a.tools.discovery.Load(ctx); err != nil {
			return nil, err
		}
	}
	listed, err := a.gateway.ToolsFor(ctx, role)
	list := make([]api.Tool, 0, len(listed))
	for _, t := range listed {
		list = append(list, api.Tool{
			Name: t.Name, Source: t.Source, Category: string(t.Category), Rule: t.Rule,
			Gone: !t.Present, Audience: string(t.Audience), FirstSeen: t.FirstSeen,
		})
	}
	return list, err
}

func (a *app) listRules(ctx context.Context, group string) ([]api.Rule, error) {
	rules, err := a.gateway.RulesOf(ctx, group)
	if errors.Is(err, gateway.ErrRefused) {
		_, says, _ := strings.Cut(err.Error(), ": ")
		return nil, &api.Error{Says: strings.TrimSuffix(says, ".")}
	}
	list := make([]api.Rule, 0, len(rules))
	for _, r := range rules {
		list = append(list, api.Rule{
			ID: r.ID, Group: r.Group, Action: string(r.Action), Tool: r.Tool, Path: r.Path,
			Agent: r.Agent, Source: r.Source, Priority: r.Priority, Note: r.Note, Shipped: gateway.Shipped(r),
		})
	}
	return list, err
}

func (a *app) listAudit(ctx context.Context, n int) ([]api.Audit, error) {
	lines, err := session.ReadAudit(ctx, a.store, n)
	list := make([]api.Audit, 0, len(lines))
	for _, l := range lines {
		line := api.Audit{At: l.At, Who: l.By.Label(), Tool: l.Tool, Decision: l.Decision, Label: l.Label, Why: l.Why}
		if !l.Key.IsZero() {
			line.Chat = l.Key.String()
		}
		list = append(list, line)
	}
	return list, err
}

// gateFindings say whether the gate stands: the rules, and what commands and
// file tools have to work with.
func (a *app) gateFindings(ctx context.Context) []chat.Finding {
	all := append(a.tools.policy.Findings(ctx), a.tools.shell.Findings()...)
	return append(all, fs.Finding(ctx))
}

// refusals bounds how much of the audit stream callers can fill who are turned
// away: an agent may try as often as it likes.
type refusals struct {
	mu    sync.Mutex
	since time.Time // when the count began
	count int
}

// Refused callers that are told of in the audit stream, at most. The log has
// them all.
const (
	refusalsEach   = time.Minute
	refusalsAtMost = 20
)

// admits reports whether one more may be told of.
func (r *refusals) admits(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.since) >= refusalsEach {
		r.since, r.count = now, 0
	}
	r.count++
	return r.count <= refusalsAtMost
}

// refused tells of a caller who was turned away, in the log and for the audit.
func (a *app) refused(r api.Refusal) {
	log := a.setup.Log.Warn().Int("pid", r.PID).Int("uid", r.UID).Str("why", r.Why)
	log.Msg("a caller on the socket was refused")
	now := time.Now()
	if !a.refusals.admits(now) {
		return
	}
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := a.store.Apply(ctx, session.Record(session.Audit{
		At: now, Label: "parley socket", Decision: "refused",
		Why: fmt.Sprintf("process %d of user %d: %s", r.PID, r.UID, r.Why),
	}))
	if err != nil {
		a.setup.Log.Error().Err(err).Msg("noting a refused caller in the audit stream")
	}
}

// tidyAsks forgets requests that were settled long ago.
func (a *app) tidyAsks(ctx context.Context) error {
	for {
		ops, err := a.tools.asks.Tidy(ctx)
		if err != nil || len(ops) == 0 {
			return err
		}
		if err := a.store.Apply(ctx, ops...); err != nil {
			return err
		}
	}
}
