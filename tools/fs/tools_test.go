package fs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"parley/tools"
	filetools "parley/tools/fs"
)

// everyTool gives each tool arguments that would work on a file of ten lines
// or, for those that want one, on a directory.
func everyTool(path string) map[string]args {
	return map[string]args{
		tools.ListFiles:     {"path": path, "depth": 9},
		tools.ReadFile:      {"path": path},
		tools.SearchFile:    {"path": path, "pattern": ".", "context": 3},
		tools.GrepFiles:     {"path": path, "pattern": ".", "context": 3},
		tools.GetASTOutline: {"path": path},
		tools.WriteFile:     {"path": path, "content": "BROKEN"},
		tools.EditFile:      {"path": path, "old_text": "text", "new_text": "BROKEN", "replace_all": true},
		tools.InsertAtLine:  {"path": path, "line": 1, "text": "BROKEN"},
		tools.ReplaceLines:  {"path": path, "start_line": 1, "end_line": 1, "text": "BROKEN"},
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	writers := []string{tools.WriteFile, tools.EditFile, tools.InsertAtLine, tools.ReplaceLines}
	all := filetools.Tools(filetools.Options{})
	calls := everyTool("notes/plan.md")
	if len(all) != len(calls) {
		t.Fatalf("%d tools, %d are tested", len(all), len(calls))
	}
	for _, tool := range all {
		s := tool.Spec()
		writes := slices.Contains(writers, s.Name)
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Type != "object" || schema.Properties["path"].Type != "string" {
			t.Errorf("%s: schema %s: %v", s.Name, s.Schema, err)
		}
		for name := range calls[s.Name] {
			if schema.Properties[name].Type == "" {
				t.Errorf("%s knows no %s", s.Name, name)
			}
		}
		if s.Category != tools.Filesystem || s.Source != tools.Core || s.Group != "" || len(s.Description) < 100 || s.Plumbing {
			t.Errorf("%s: %+v", s.Name, s)
		}
		want := tools.ReadOnly
		switch {
		case s.Name == tools.WriteFile:
			want = tools.Repeatable
		case writes:
			want = tools.Once
		}
		if s.Effect != want {
			t.Errorf("%s: effect %q, want %q", s.Name, s.Effect, want)
		}
		data, _ := json.Marshal(calls[s.Name])
		path, write := tool.(tools.Targeter).Target(data)
		if path != "notes/plan.md" || write != writes {
			t.Errorf("%s: target %q, write %v", s.Name, path, write)
		}
		if _, ok := tool.(tools.Previewer); ok != writes {
			t.Errorf("%s: previews %v", s.Name, ok)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{tools.ListFiles, args{}, "list ."},
		{tools.ListFiles, args{"path": "notes", "glob": "*.md"}, "list notes (*.md)"},
		{tools.ReadFile, args{"path": "notes/plan.md"}, "read notes/plan.md"},
		{tools.ReadFile, args{"path": "notes/plan.md", "start_line": 10, "end_line": 40}, "read notes/plan.md lines 10–40"},
		{tools.ReadFile, args{"path": "a", "start_line": 10}, "read a from line 10"},
		{tools.ReadFile, args{"path": "a", "start_line": -10}, "read a, last 10 lines"},
		{tools.WriteFile, args{"path": "a\nb", "content": "x"}, "write a b"},
		{tools.EditFile, args{"path": "a"}, "edit a"},
		{tools.InsertAtLine, args{"path": "a", "line": 3.0}, "insert into a at line 3"},
		{tools.ReplaceLines, args{"path": "a", "start_line": 3, "end_line": 3}, "replace line 3 of a"},
		{tools.SearchFile, args{"path": "a", "pattern": "x"}, "search a for x"},
		{tools.GrepFiles, args{"pattern": "x", "glob": "*.go"}, "search . (*.go) for x"},
		{tools.GetASTOutline, args{"path": "a.go"}, "outline a.go"},
		{tools.GetASTOutline, args{"path": 7}, tools.GetASTOutline},
	} {
		w := newWorld(t, nil)
		data, _ := json.Marshal(c.args)
		got := w.tools[c.tool].(tools.Describer).Describe(data, tools.Full)
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, data, got, c.want)
		}
	}
}

// Arguments that the schema would not let through are an error too.
func TestArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"ws/a": "x\n"})
	w.fails(tools.ReadFile, args{"path": 7}, "arguments")
	w.fails(tools.ReadFile, args{"path": "a", "start_line": 1.5}, "1.5")
	w.fails(tools.ReadFile, args{"path": "a", "start_line": 1e300}, "whole number")
	w.fails(tools.ReadFile, args{}, "empty")
	if got := w.done(tools.ReadFile, args{"path": "a", "start_line": 1.0}); !strings.Contains(got, "1\tx") {
		t.Errorf("%q", got)
	}
}
