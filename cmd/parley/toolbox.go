package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"parley/cmd/parley/config"
	"parley/core/access"
	"parley/core/ask"
	"parley/core/chat"
	"parley/core/policy"
	"parley/core/session"
	"parley/storage"
	"parley/tools"
	"parley/tools/fs"
	"parley/tools/shell"
)

// Tables of the toolbox.
const (
	knownTools storage.Typed[tools.Known] = "known_tools" // by name: what was ever offered
	children   storage.Typed[shell.Child] = "children"    // by id: what runs outside
)

// workshop is what the agent acts with, and what stands in its way.
type workshop struct {
	denied    []string // where no tool may go, resolved
	registry  *tools.Registry
	shell     *shell.Tool
	discovery *tools.Discovery
	catalog   *tools.Catalog
	policy    *policy.Policy
	asks      *ask.Asks
}

// equip makes the workshop. It makes the workspace if there is none.
func (a *app) equip(ctx context.Context) error {
	c := a.setup.Config
	workspace, err := makeWorkspace(c.Workspace)
	if err != nil {
		return err
	}
	data, err := filepath.EvalSymlinks(c.DataDir)
	if err != nil {
		return fmt.Errorf("resolving data_dir: %w", err)
	}
	mode, err := shell.ParseMode(c.Sandbox)
	if err != nil {
		return err
	}
	w := &workshop{
		denied: []string{data},
		shell:  shell.New(shell.Options{Sandbox: mode, Env: c.Shell.Env, Record: recorder{a.store}}),
		asks:   ask.New(a.store, ask.Options{}),
	}
	w.registry = tools.NewRegistry(append(fs.Tools(fs.Options{}), w.shell)...)
	w.discovery = tools.NewDiscovery(knownMemory{a.store}, func(err error) {
		a.setup.Log.Warn().Err(err).Msg("remembering tools")
	})
	w.catalog = tools.NewCatalog(w.discovery, w.registry, session.CoreTools())
	w.policy, err = policy.New(a.store, policy.Config{
		Workspace: workspace, Denied: w.denied, Rules: rulesOf(c.Rules), Contexts: contextsOf(c.Contexts),
		Users: a.usersOf,
	})
	if err != nil {
		return err
	}
	a.tools = w
	return a.plantRules(ctx)
}

// makeWorkspace makes the directory that the agent works in, and resolves it.
func makeWorkspace(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", &failure{fmt.Sprintf("workspace %q cannot be made: %v", dir, err), "make it, or set another workspace"}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("resolving workspace: %w", err)
	}
	return real, nil
}

// plantRules plants the rules that come with parley, each once.
func (a *app) plantRules(ctx context.Context) error {
	const tries = 5
	for range tries {
		ops, err := a.tools.policy.Seed(ctx)
		if err != nil {
			return err
		}
		if err = a.store.Apply(ctx, ops...); !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("planting rules: %w after %d tries", storage.ErrConflict, tries)
}

// usersOf names who is in a permission group: each role is in the group of its
// name.
func (a *app) usersOf(_ context.Context, group string) []string {
	for _, role := range []access.Role{access.Owner, access.Admin, access.Member, access.Guest} {
		if access.Group(role) == group {
			return []string{"role " + string(role)}
		}
	}
	return nil
}

// toolbox is the workshop as conversations use it.
func (a *app) toolbox() session.Toolbox {
	w := a.tools
	return session.Toolbox{
		Sources: []tools.Source{w.registry}, Discovery: w.discovery, Policy: w.policy, Asks: w.asks,
		Role: func(ctx context.Context, u chat.UserID) (string, error) {
			role, err := a.access.RoleOf(ctx, u)
			return string(role), err
		},
		Traits: func(k chat.Key) chat.Traits {
			if adapter := a.adapters[k.Adapter]; adapter != nil {
				return adapter.Traits(k)
			}
			return chat.Traits{}
		},
		Denied: w.denied,
		Redact: a.setup.Redact.String,
	}
}

// sweepChildren ends what a killed parley left running, before any turn goes
// on.
func (a *app) sweepChildren(ctx context.Context) error {
	rows, err := children.All(ctx, a.store, "")
	if err != nil {
		return err
	}
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	left := make([]shell.Child, 0, len(rows))
	for _, c := range rows {
		left = append(left, c)
	}
	stays := make(map[string]bool)
	for _, r := range shell.Sweep(ctx, left) {
		a.setup.Log.Warn().Int("pid", r.PID).Str("command", a.setup.Redact.String(r.Command)).Bool("left", r.Left).
			Msg("a command of the last run was still running")
		stays[r.ID] = stays[r.ID] || r.Left
	}
	var ops []storage.Op
	for id := range rows {
		if !stays[id] {
			ops = append(ops, children.Remove(id))
		}
	}
	return a.store.Apply(ctx, ops...)
}

// recorder keeps what runs in a table.
type recorder struct{ store storage.Applier }

// Started implements [shell.Recorder].
func (r recorder) Started(ctx context.Context, c shell.Child) error {
	return r.store.Apply(ctx, children.Set(c.ID, c))
}

// Ended implements [shell.Recorder].
func (r recorder) Ended(ctx context.Context, id string) error {
	return r.store.Apply(ctx, children.Remove(id))
}

// knownMemory keeps known tools in a table.
type knownMemory struct{ store storage.Store }

// Load implements [tools.Memory].
func (m knownMemory) Load(ctx context.Context) ([]tools.Known, error) {
	rows, err := knownTools.All(ctx, m.store, "")
	list := make([]tools.Known, 0, len(rows))
	for _, k := range rows {
		list = append(list, k)
	}
	return list, err
}

// Save implements [tools.Memory].
func (m knownMemory) Save(ctx context.Context, known ...tools.Known) error {
	ops := make([]storage.Op, 0, len(known))
	for _, k := range known {
		ops = append(ops, knownTools.Set(k.Name, k))
	}
	return m.store.Apply(ctx, ops...)
}

func rulesOf(list []config.Rule) []policy.Rule {
	rules := make([]policy.Rule, 0, len(list))
	for _, r := range list {
		rules = append(rules, policy.Rule{
			Group: r.Group, Agent: r.Agent, Source: r.Source, Tool: r.Tool, Path: r.Path,
			Action: policy.Action(r.Action), Priority: r.Priority, Note: r.Note,
		})
	}
	return rules
}

func contextsOf(list []config.RunContext) []policy.Setting {
	settings := make([]policy.Setting, 0, len(list))
	for _, s := range list {
		settings = append(settings, policy.Setting{
			For: s.For, Group: s.Group, Prompt: s.Prompt, Reads: s.Reads, Writes: s.Writes, Dir: s.Dir,
		})
	}
	return settings
}
