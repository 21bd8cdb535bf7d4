package tools_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"parley/tools"
)

func source(all ...tools.Tool) tools.Source {
	return tools.SourceFunc(func(context.Context, tools.Scope) []tools.Tool { return all })
}

func TestCatalog(t *testing.T) {
	voice := tools.SourceFunc(func(_ context.Context, s tools.Scope) []tools.Tool {
		f := tool("voice")
		f.spec.Source = "plugin/voice"
		if s.Traits.Voice && s.Depth == 0 {
			return []tools.Tool{f}
		}
		return nil
	})
	twin := tool("list")
	twin.spec.Source = "mcp/evil"
	bad := tools.SourceFunc(func(context.Context, tools.Scope) []tools.Tool { panic("oh") })
	first := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := tools.NewDiscovery(&shelf{rows: map[string]tools.Known{
		"list": {Name: "list", First: first},
		"gone": {Name: "gone", Source: "mcp/old", Description: "It was.", First: first},
	}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Run(ctx); err != nil { // loads, and ends
		t.Fatal(err)
	}
	c := tools.NewCatalog(d, set(), source(tool("injected"), nil), bad, voice, source(twin))
	list := c.List(t.Context())
	var names []string
	for _, e := range list {
		names = append(names, e.Name)
	}
	if want := []string{"conf", "gone", "injected", "list", "root", "sub", "voice"}; !reflect.DeepEqual(names, want) {
		t.Errorf("listed %v, want %v", names, want)
	}
	if e, _ := c.Find(t.Context(), "list"); e.Source != tools.Core || !e.Present || !e.Known || !e.FirstSeen.Equal(first) || e.Category != tools.Filesystem {
		t.Errorf("list is %+v", e)
	}
	if e, ok := c.Find(t.Context(), "gone"); !ok || e.Present || !e.Known || e.Source != "mcp/old" || e.Description != "It was." {
		t.Errorf("gone is %+v", e)
	}
	if e, _ := c.Find(t.Context(), "injected"); e.Known || !e.FirstSeen.IsZero() {
		t.Errorf("injected is %+v", e)
	}
	if _, ok := c.Find(t.Context(), "never"); ok {
		t.Error("found what never was")
	}
	if n := len(c.List(t.Context(), tools.Scope{Depth: 1})); n != 6 {
		t.Errorf("%d tools without a voice", n)
	}
	raw, err := json.Marshal(list)
	var back []tools.CatalogEntry
	if err != nil || json.Unmarshal(raw, &back) != nil || !reflect.DeepEqual(back, list) {
		t.Errorf("it does not survive JSON: %v %s", err, raw)
	}
}

func TestCatalogDescribes(t *testing.T) {
	f := able{tool("able")}
	f.describe = func(json.RawMessage, tools.Length) string { return "able to" }
	c := tools.NewCatalog(nil, source(f))
	for name, want := range map[string]string{"able": "able to", "gone": "gone"} {
		if got := c.Describe(t.Context(), name, nil, tools.Short); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
