package main_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the name that imports of our own begin with.
const module = "parley"

// room says what a package may import of ours, and why nothing else. The first
// row that matches a package counts. A pattern is a path, a path with * for one
// element, or one that ends in /... for what lies below it.
type room struct {
	pkg string
	may []string
	why string
}

// rooms is design §2 as a table.
func rooms() []room {
	leaves := []string{"tools", "core/chat", "storage"}
	all := []room{
		{"cmd/parley/config", []string{"core/chat"}, "it reads a file; the assembly hands each room its part"},
		{"cmd/parley/redact", nil, "everything is written through it, so it stands below all"},
		{"cmd/...", []string{"..."}, "only cmd sees all"},
		{"core/chat", nil, "a leaf: the words that adapters and core share, so neither has to know the other"},
		{"storage", nil, "a leaf: a contract that knows nothing of what is stored"},
		{"storage/...", []string{"storage"}, "an engine or a suite knows the contract alone, or it could not be replaced"},
		{"tools", []string{"core/chat"}, "the contract of tools: a leaf that speaks of files and people in core/chat's words"},
		{"tools/...", []string{"tools", "core/chat", "storage"}, "a tool reaches the conversation through its Call only and never imports core/session; tools never meet each other"},
		{"plugins", leaves, "the contract of plugins: what they may know"},
		{"plugins/...", append([]string{"plugins"}, leaves...), "a plugin reaches the rest through its Host; plugins never meet each other"},
		{"adapters", []string{"adapters/*", "core/chat"}, "the list of adapters: kind to constructor"},
		{"adapters/markup", nil, "it turns Markdown into spans and knows no platform"},
		{"adapters/...", []string{"core/chat", "adapters/markup"}, "an adapter knows what a chat is, not what answers; adapters never meet each other"},
	}
	return append(all, coreRooms(leaves)...)
}

// coreRooms gives each room of the core those to its right.
func coreRooms(leaves []string) []room {
	order := [][]string{
		{"api"}, {"gateway"}, {"tasks"}, {"session"},
		{"ask", "policy", "secrets", "llm", "agents", "outbox", "access"},
	}
	var all []room
	right := leaves
	for _, rank := range slices.Backward(order) {
		var these []string
		for _, name := range rank {
			here := "core/" + name
			why := "arrows in the core point one way, from api to the leaves; rooms of one rank never meet, and nobody knows a platform or the program"
			all = append(all, room{here, right, why}, room{here + "/...", append([]string{here}, right...), "it belongs to " + here + " and sees what that sees"})
			these = append(these, here)
		}
		right = append(slices.Clone(right), these...)
	}
	return all
}

// guests are packages of others that one place alone may know.
var guests = []struct{ path, only, why string }{
	{"go.etcd.io/bbolt", "storage/bolt", "the engine can be replaced as long as nobody else knows it"},
	{"github.com/sashabaranov/go-openai", "core/llm", "the wire's quirks stop there"},
	{"github.com/go-telegram/bot", "adapters/telegram", "the core never names a platform"},
	{"github.com/bwmarrin/discordgo", "adapters/discord", "the core never names a platform"},
	{"github.com/slack-go/slack", "adapters/slack", "the core never names a platform"},
	{"github.com/alecthomas/kong", "cmd", "only the program has a command line"},
}

func matches(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	if above, deep := strings.CutSuffix(pattern, "/..."); deep {
		return strings.HasPrefix(pkg, above+"/")
	}
	ok, err := path.Match(pattern, pkg)
	return ok && err == nil
}

// source is one parsed file of the module.
type source struct {
	pkg  string // its folder below the module's root, "." for the root
	name string
	test bool
	file *ast.File
	set  *token.FileSet
}

func (s source) line(p token.Pos) int { return s.set.Position(p).Line }

func (s source) where(p token.Pos) string {
	return fmt.Sprintf("%s:%d", path.Join(s.pkg, s.name), s.line(p))
}

// sources parses every Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	const root = "../.."
	var all []source
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && name != ".." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(file) != ".go" {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, name := path.Split(filepath.ToSlash(rel))
		all = append(all, source{path.Clean(cmp.Or(dir, ".")), name, strings.HasSuffix(name, "_test.go"), parsed, set})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("only %d files found", len(all))
	}
	return all
}

// production leaves out tests and the packages that only tests import.
func production(t *testing.T) []source {
	t.Helper()
	return slices.DeleteFunc(sources(t), func(s source) bool { return s.test })
}

func imports(s source) map[string]token.Pos {
	all := map[string]token.Pos{}
	for _, spec := range s.file.Imports {
		if to, err := strconv.Unquote(spec.Path.Value); err == nil {
			all[to] = spec.Pos()
		}
	}
	return all
}

// ours returns the package below the module's root that an import means.
func ours(to string) (pkg string, ok bool) {
	if to == module {
		return ".", true
	}
	return strings.CutPrefix(to, module+"/")
}

// forbidden says why from must not import to, "" when it may.
func forbidden(table []room, from, to string) (why string) {
	i := slices.IndexFunc(table, func(r room) bool { return matches(r.pkg, from) })
	if i < 0 {
		return "it has no row in the table of rooms: say there what it may import, and why"
	}
	if strings.Count(from, "/") > 1 && to == path.Dir(from) {
		return "" // a part of adapters/telegram sees that
	}
	if slices.ContainsFunc(table[i].may, func(p string) bool { return matches(p, to) }) {
		return ""
	}
	return table[i].why
}

func TestLayoutImports(t *testing.T) {
	table := rooms()
	for _, s := range production(t) {
		for to, at := range imports(s) {
			pkg, own := ours(to)
			if !own {
				continue
			}
			if why := forbidden(table, s.pkg, pkg); why != "" {
				t.Errorf("%s: %s must not import %s: %s", s.where(at), s.pkg, pkg, why)
			}
		}
	}
}

// The table says what the design says.
func TestLayoutTable(t *testing.T) {
	table := rooms()
	for _, c := range []struct {
		from, to string
		may      bool
	}{
		{"adapters/telegram", "core/chat", true},
		{"adapters/telegram", "adapters/markup", true},
		{"adapters/telegram", "core/session", false},
		{"adapters/telegram", "adapters/slack", false},
		{"adapters/telegram/wire", "adapters/telegram", true},
		{"adapters/markup", "core/chat", false},
		{"adapters", "adapters/telegram", true},
		{"adapters", "core/outbox", false},
		{"tools/fs", "tools", true},
		{"tools/fs", "core/session", false},
		{"tools/fs", "tools/shell", false},
		{"tools", "core/chat", true},
		{"tools", "storage", false},
		{"plugins/mcp", "tools", true},
		{"plugins/mcp", "core/policy", false},
		{"plugins/mcp", "plugins/voice", false},
		{"core/chat", "storage", false},
		{"storage/bolt", "storage", true},
		{"storage/bolt", "core/chat", false},
		{"core/api", "core/gateway", true},
		{"core/api/pages", "core/api", true},
		{"core/api/pages", "core/session", true},
		{"core/gateway", "core/api", false},
		{"core/gateway", "core/access", true},
		{"core/session", "core/gateway", false},
		{"core/session", "core/tasks", false},
		{"core/session", "core/llm", true},
		{"core/outbox", "core/access", false},
		{"core/outbox", "storage", true},
		{"core/outbox", "storage/bolt", false},
		{"core/llm", "tools", true},
		{"core/llm", "cmd/parley/config", false},
		{"cmd/parley", "core/session", true},
		{"cmd/parley", ".", true},
		{"cmd/parley/redact", "cmd/parley/config", false},
		{"util", "core/chat", false},
	} {
		if why := forbidden(table, c.from, c.to); (why == "") != c.may {
			t.Errorf("%s -> %s: allowed %v, want %v", c.from, c.to, why == "", c.may)
		}
	}
}

func TestLayoutGuests(t *testing.T) {
	for _, s := range production(t) {
		for to, at := range imports(s) {
			for _, g := range guests {
				known := to == g.path || strings.HasPrefix(to, g.path+"/")
				if known && s.pkg != g.only && !strings.HasPrefix(s.pkg, g.only+"/") {
					t.Errorf("%s: %s must not import %s, only %s may: %s", s.where(at), s.pkg, to, g.only, g.why)
				}
			}
		}
	}
}

// Suites and fakes for tests are named so, and only tests import them.
func TestLayoutTestPackages(t *testing.T) {
	for _, s := range production(t) {
		for to, at := range imports(s) {
			pkg, own := ours(to)
			if own && strings.HasSuffix(pkg, "test") && !strings.HasSuffix(s.pkg, "test") {
				t.Errorf("%s: %s must not import %s: it is for tests, and would bring the testing package into the program", s.where(at), s.pkg, pkg)
			}
		}
	}
}

func TestLayoutSizes(t *testing.T) {
	const maxFunc, maxFile = 80, 500
	for _, s := range sources(t) {
		if n := s.line(s.file.FileEnd); n > maxFile {
			t.Errorf("%s has %d lines, more than %d: give one of its nouns a file of its own", path.Join(s.pkg, s.name), n, maxFile)
		}
		if s.test {
			continue // a table of cases may be long
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.line(f.End()) - s.line(f.Pos()) + 1; n > maxFunc {
				t.Errorf("%s: %s has %d lines, more than %d", s.where(f.Pos()), f.Name.Name, n, maxFunc)
			}
		}
	}
}

func TestLayoutDocs(t *testing.T) {
	docs, seen := map[string][]string{}, map[string]bool{}
	for _, s := range production(t) {
		seen[s.pkg] = true
		if s.file.Doc != nil {
			docs[s.pkg] = append(docs[s.pkg], s.name)
		}
		if s.file.Name.Name != "main" {
			for _, d := range s.file.Decls {
				undocumented(d, func(at token.Pos, name string) { t.Errorf("%s: %s has no comment", s.where(at), name) })
			}
		}
	}
	for pkg := range seen {
		if len(docs[pkg]) != 1 {
			t.Errorf("%s has %d package comments %v, want one", pkg, len(docs[pkg]), docs[pkg])
		}
	}
}

// undocumented calls tell for each exported name without a comment. One comment
// does for a group of values.
func undocumented(d ast.Decl, tell func(at token.Pos, name string)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d))) {
			tell(d.Pos(), d.Name.Name)
		}
	case *ast.GenDecl:
		for i, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && spec.Doc == nil && spec.Comment == nil && (d.Doc == nil || len(d.Specs) > 1) {
					tell(spec.Pos(), spec.Name.Name)
				}
			case *ast.ValueSpec:
				alone := spec.Doc == nil && spec.Comment == nil && d.Doc == nil
				if spec.Names[0].IsExported() && alone && !typedGroup(d, i) {
					tell(spec.Pos(), spec.Names[0].Name)
				}
			}
		}
	}
}

// typedGroup reports whether a value is one of an enumeration, which its type's
// comment explains.
func typedGroup(d *ast.GenDecl, i int) bool {
	spec, ok := d.Specs[i].(*ast.ValueSpec)
	return ok && d.Tok == token.CONST && len(d.Specs) > 1 && (spec.Type != nil || len(spec.Values) == 0)
}

func receiver(f *ast.FuncDecl) string {
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// A zerolog event that nobody sends is lost without a word.
func TestLayoutLogLines(t *testing.T) {
	levels := []string{"Trace", "Debug", "Info", "Warn", "Error", "Log", "WithLevel", "Err"}
	sends := []string{"Msg", "Msgf", "MsgFunc", "Send"}
	for _, s := range production(t) {
		if _, logs := imports(s)["github.com/rs/zerolog"]; !logs && !strings.HasPrefix(s.pkg, "cmd/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if line, ok := n.(*ast.ExprStmt); ok {
				if names := chain(line.X); len(names) > 0 && slices.Contains(levels, names[len(names)-1]) && !slices.Contains(sends, names[0]) {
					t.Errorf("%s: this log line is never sent: it needs a Msg", s.where(line.Pos()))
				}
			}
			return true
		})
	}
}

// chain names the methods of a.B().C().D(), the last one first, down to the
// first call that is made on no call.
func chain(e ast.Expr) []string {
	var names []string
	for {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return names
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return names
		}
		names = append(names, sel.Sel.Name)
		e = sel.X
	}
}
