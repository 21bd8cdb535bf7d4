package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/tools"
)

// set is a registry with tools of every kind.
func set() *tools.Registry {
	list, root, sub, conf := tool("list"), tool("root"), tool("sub"), tool("conf")
	list.spec.Category = tools.Filesystem
	root.spec.Audience = tools.RootOnly
	sub.spec.Audience = tools.SubAgentsOnly
	conf.spec.Audience, conf.spec.Group, conf.spec.Category = tools.RootOnly, tools.ConfigGroup, tools.Config
	return tools.NewRegistry(sub, list, conf, root)
}

func namesOf(specs []tools.Spec) (names []string) {
	for _, s := range specs {
		names = append(names, s.Name)
	}
	return names
}

func TestRegistryListings(t *testing.T) {
	r := set()
	for what, c := range map[string]struct{ got, want []string }{
		"all":            {namesOf(r.Definitions()), []string{"conf", "list", "root", "sub"}},
		"root":           {namesOf(r.Definitions(tools.AtDepth(0))), []string{"conf", "list", "root"}},
		"sub-agents":     {namesOf(r.Definitions(tools.AtDepth(1))), []string{"list", "sub"}},
		"without config": {namesOf(r.Definitions(tools.AtDepth(0), tools.NotInGroup(tools.ConfigGroup))), []string{"list", "root"}},
		"only config":    {namesOf(r.Definitions(tools.InGroup(tools.ConfigGroup))), []string{"conf"}},
		"root only":      {r.RootOnly(), []string{"conf", "root"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", what, c.got, c.want)
		}
	}
	list := r.List()
	if len(list) != 4 || list[0].Name != "conf" || list[1].Description != "It does list." || !list[0].Present {
		t.Errorf("listed %+v", list)
	}
	if r.Category("list") != tools.Filesystem || r.Category("root") != tools.NoCategory || r.Category("other") != tools.NoCategory {
		t.Error("categories are wrong")
	}
	if n := len(new(tools.Registry).Tools(t.Context(), tools.Scope{})); n != 0 {
		t.Errorf("an empty registry has %d tools", n)
	}
}

func TestRegistryRefuses(t *testing.T) {
	r := set()
	for why, spoil := range map[string]func(s *tools.Spec){
		"the name is taken": func(s *tools.Spec) { s.Name = "list" },
		"does not match":    func(s *tools.Spec) { s.Name = "List-Files" },
		"no description":    func(s *tools.Spec) { s.Description = " " },
		"its source":        func(s *tools.Spec) { s.Source = "" },
		"unknown category":  func(s *tools.Spec) { s.Category = "other" },
		"unknown audience":  func(s *tools.Spec) { s.Audience = "both" },
		"unknown effect":    func(s *tools.Spec) { s.Effect = "maybe" },
		"plumbing has":      func(s *tools.Spec) { s.Plumbing, s.Category = true, tools.Shell },
		"not JSON":          func(s *tools.Spec) { s.Schema = json.RawMessage(`{"type":`) },
	} {
		f := tool("other")
		spoil(&f.spec)
		expectPanic(t, why, func() { r.Register(f) })
	}
	expectPanic(t, "nil tool", func() { r.Register(nil) })
	if n := len(r.Definitions()); n != 4 {
		t.Errorf("%d tools after all", n)
	}
}

func TestRegistryVerifiesSchemas(t *testing.T) {
	if err := set().Verify(); err != nil {
		t.Errorf("good schemas: %v", err)
	}
	for why, schema := range map[string]string{
		`the schema of "other": reading`:        `{"type":"string"}`,
		`the schema of "other" is not complete`: `{"type":"object"}`,
	} {
		f := tool("other")
		f.spec.Schema = json.RawMessage(schema)
		if err := tools.NewRegistry(f).Verify(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("schema %s: %v, want %q", schema, err, why)
		}
	}
}

func expectPanic(t *testing.T, why string, f func()) {
	t.Helper()
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, why) {
			t.Errorf("panicked with %q, want %q", text, why)
		}
	}()
	f()
}

func TestRegistryRuns(t *testing.T) {
	r := set()
	good := tools.Call{Name: "list", Args: json.RawMessage(`{"path":"a"}`)}
	if o, err := r.Dispatch(t.Context(), good); err != nil || o.State != tools.Completed || o.Text != "did list" {
		t.Errorf("%v %+v", err, o)
	}
	bad := tools.Call{Name: "list", Args: json.RawMessage(`{}`)}
	if o, err := r.Dispatch(t.Context(), bad); err != nil || o.State != tools.Failed || o.Text != `the argument "path" is missing: it must be a string` {
		t.Errorf("%v %+v", err, o)
	}
	if _, err := r.Dispatch(t.Context(), tools.Call{Name: "gone"}); !errors.Is(err, tools.ErrUnknown) {
		t.Errorf("an unknown tool: %v", err)
	}
	if e, ok := r.Run(t.Context(), tools.Call{Name: "gone"}); ok || e != nil {
		t.Error("an unknown tool runs")
	}
}

func TestRegistryDescribesAndTargets(t *testing.T) {
	f := able{tool("able")}
	f.describe = func(args json.RawMessage, length tools.Length) string {
		if string(args) == "panic" {
			panic("oh")
		}
		return strings.Repeat("very\nlong ", 20) + string(args)
	}
	f.target = func(args json.RawMessage) (string, bool) {
		if string(args) == "panic" {
			panic("oh")
		}
		return "a/b", true
	}
	mute := f
	mute.spec.Name = "mute"
	mute.describe = func(json.RawMessage, tools.Length) string { return " \n" }
	r := tools.NewRegistry(f, mute, tool("plain"))
	for _, c := range []struct{ name, args, want string }{
		{"able", "{}", "very long very long very long very long very long very long…"},
		{"able", "panic", "able"}, {"mute", "{}", "mute"}, {"plain", "{}", "plain"}, {"gone\n", "{}", "gone"},
	} {
		if got := r.Describe(c.name, json.RawMessage(c.args), tools.Short); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if n := len([]rune(r.Describe("able", nil, tools.Full))); n > int(tools.Full) || n < 100 {
		t.Errorf("the full label has %d characters", n)
	}
	if path, write, err := r.Target("able", nil); path != "a/b" || !write || err != nil {
		t.Errorf("%q %v %v", path, write, err)
	}
	if _, _, err := r.Target("able", json.RawMessage("panic")); err == nil {
		t.Error("a target that nobody can tell is no error")
	}
	for _, name := range []string{"plain", "gone"} {
		if path, write, err := r.Target(name, nil); path != "" || write || err != nil {
			t.Errorf("%s: %q %v %v", name, path, write, err)
		}
	}
}

func TestRegistryAtOnce(t *testing.T) {
	r := tools.NewRegistry()
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { r.Register(tool("t" + string(rune('a'+i)))) })
		wg.Go(func() {
			offered := r.Tools(context.Background(), tools.Scope{})
			_ = append(offered, tool("mine"))
			r.Find("ta")
		})
	}
	wg.Wait()
	if n := len(r.Definitions()); n != 20 {
		t.Errorf("%d tools", n)
	}
}
