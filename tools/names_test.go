package tools_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"parley/tools"
)

// spelled is what names.go declares: constant to value.
func spelled(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name != "ConfigGroup" {
			value, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names[v.Names[0].Name] = value
		}
		return true
	})
	return names
}

func TestNamesAreComplete(t *testing.T) {
	all := tools.Names()
	var declared []string
	for _, value := range spelled(t) {
		declared = append(declared, value)
	}
	slices.Sort(declared)
	if !slices.Equal(all, declared) {
		t.Errorf("Names gives\n%v\nbut names.go declares\n%v", all, declared)
	}
	form := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	for i, name := range all {
		if !form.MatchString(name) || i > 0 && all[i-1] == name {
			t.Errorf("%q is no good or there twice", name)
		}
	}
}

// walk calls f with each file of the module that is ours, by its path from the
// root.
func walk(t *testing.T, f func(path string)) {
	t.Helper()
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
			return fs.SkipDir
		}
		if !d.IsDir() {
			f(filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// No Go file but names.go spells a name in code. Tests may, and so may
// packages that only tests import.
func TestNamesAreSpelledOnce(t *testing.T) {
	all, files := tools.Names(), 0
	walk(t, func(path string) {
		test := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test")
		if filepath.Ext(path) != ".go" || test || path == "../tools/names.go" {
			return
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Logf("%s cannot be read now: %v", path, err)
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if value, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(all, value) {
					t.Errorf("%s spells %s: use the constant", set.Position(lit.Pos()), lit.Value)
				}
			}
			return true
		})
	})
	if files < 50 {
		t.Errorf("only %d files were looked at", files)
	}
}

// What a model reads mentions no tool that does not exist: a word with an
// underscore in backquotes is the name of a tool, or a word of the code beside
// it, an argument or one of its values.
func TestNamesInProseExist(t *testing.T) {
	all := tools.Names()
	quoted := regexp.MustCompile("`([a-z]+(?:_[a-z]+)+)`")
	walk(t, func(path string) {
		beside := strings.HasPrefix(path, "../tools/") || strings.HasPrefix(path, "../plugins/") || strings.HasPrefix(path, "../core/agents/") || path == "../docs/tools.md"
		if filepath.Ext(path) != ".md" || !beside {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var code string
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			if slices.Contains(all, m[1]) {
				continue
			}
			if code == "" {
				code = codeIn(t, filepath.Dir(path))
			}
			if !strings.Contains(code, `"`+m[1]+`"`) {
				t.Errorf("%s mentions `%s`, which is neither a tool nor an argument", path, m[1])
			}
		}
	})
}

// codeIn is the code of a folder without its tests.
func codeIn(t *testing.T, dir string) string {
	t.Helper()
	var code strings.Builder
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
	}
	return code.String() + " "
}

// The example of docs/tools.md is the compiled one.
func TestDocsShowTheExample(t *testing.T) {
	docs, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(docs), "```go\n")
	shown, _, closed := strings.Cut(shown, "```\n")
	if !closed || !strings.Contains(string(code), shown) {
		t.Error("the example in docs/tools.md is not the one in example_test.go")
	}
}
