package fs

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
)

// goOutline collects the declarations of a Go file.
type goOutline struct {
	set *token.FileSet
	all []symbol
}

// outlineGo parses a Go file. What stands before a mistake is outlined all the
// same: a file is broken when one works on it.
func outlineGo(_ context.Context, name string, data []byte) ([]symbol, string, error) {
	o := &goOutline{set: token.NewFileSet()}
	file, err := parser.ParseFile(o.set, name, data, parser.SkipObjectResolution)
	if file == nil {
		return nil, "", err
	}
	note := ""
	if err != nil {
		note = "it does not parse, so this may not be all: " + err.Error()
	}
	if file.Name != nil && file.Name.Name != "" && file.Name.Name != "_" {
		o.add(file.Name, 0, "package "+file.Name.Name)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			o.add(d, 0, o.signature(d))
		case *ast.GenDecl:
			o.group(d)
		}
	}
	return o.all, note, nil
}

func (o *goOutline) add(n ast.Node, deep int, text string) {
	o.all = append(o.all, symbol{o.set.Position(n.Pos()).Line, o.set.Position(n.End()).Line, deep, text})
}

// signature prints a function without its body.
func (o *goOutline) signature(f *ast.FuncDecl) string {
	return o.print(&ast.FuncDecl{Recv: f.Recv, Name: f.Name, Type: f.Type})
}

// print writes a type or a signature as Go does, on as many lines as it takes.
func (o *goOutline) print(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return "?"
	}
	return b.String()
}

// group lists what a const, var or type declaration declares.
func (o *goOutline) group(d *ast.GenDecl) {
	for _, s := range d.Specs {
		var at ast.Node = s
		if !d.Lparen.IsValid() {
			at = d
		}
		switch s := s.(type) {
		case *ast.TypeSpec:
			o.typed(at, s)
		case *ast.ValueSpec:
			o.add(at, 0, d.Tok.String()+" "+o.values(s))
		}
	}
}

func (o *goOutline) values(s *ast.ValueSpec) string {
	var names []string
	for _, n := range s.Names {
		names = append(names, n.Name)
	}
	text := strings.Join(names, ", ")
	if s.Type != nil {
		text += " " + o.print(s.Type)
	}
	return text
}

// typed lists a type and, of an interface, what it asks for.
func (o *goOutline) typed(at ast.Node, s *ast.TypeSpec) {
	head := "type " + s.Name.Name
	if s.TypeParams != nil {
		var params []string
		for _, f := range s.TypeParams.List {
			params = append(params, o.field(f))
		}
		head += "[" + strings.Join(params, ", ") + "]"
	}
	if s.Assign.IsValid() {
		head += " ="
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		o.add(at, 0, fmt.Sprintf("%s struct (%s)", head, count(t.Fields.NumFields(), "field")))
	case *ast.InterfaceType:
		o.add(at, 0, head+" interface")
		for _, m := range t.Methods.List {
			o.add(m, 1, o.field(m))
		}
	default:
		o.add(at, 0, head+" "+o.print(s.Type))
	}
}

// field prints a method of an interface, or a type parameter.
func (o *goOutline) field(f *ast.Field) string {
	var names []string
	for _, n := range f.Names {
		names = append(names, n.Name)
	}
	text := o.print(f.Type)
	if _, method := f.Type.(*ast.FuncType); method && len(names) == 1 {
		return names[0] + strings.TrimPrefix(text, "func")
	}
	return strings.TrimSpace(strings.Join(names, ", ") + " " + text)
}
