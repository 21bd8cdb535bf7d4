package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// DefaultFile is the file that is read when none is named.
const DefaultFile = "config.yaml"

// maxFile is how large a configuration may be. The parser takes a multiple of
// it in memory, and nobody writes such a file by hand.
const maxFile = 256 << 10

// sentence makes an error that is shown to people as it stands.
func sentence(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Load reads the configuration from path, or from [DefaultFile] for an empty
// path; if that does not exist, the result is [Default] with paths seen from
// the working directory. It blocks for the reading of small files. Errors are
// sentences for people: an *[Error] for a file that was read and is wrong, any
// other for one that could not be read.
func Load(path string, env Env) (*Config, error) {
	file := path
	if file == "" {
		file = DefaultFile
	}
	text, err := readUpTo(file, maxFile+1)
	if errors.Is(err, fs.ErrNotExist) && path == "" {
		return builtIn(env)
	}
	if err != nil {
		return nil, unreadable(file, err)
	}
	full, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("finding config file %q: %w", file, err)
	}
	c, err := Parse(file, string(text), filepath.Dir(full), env)
	if err != nil {
		return nil, err
	}
	c.File = full
	return c, nil
}

func unreadable(file string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sentence("config file %q does not exist; correct the path, or run `parley init --config %s` to write it", file, file)
	case errors.Is(err, fs.ErrPermission):
		return sentence("config file %q may not be read by this user; give it the right (chown, chmod), or run parley as the user it belongs to", file)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return sentence("config file %q cannot be read (%v); name a file with --config", file, err)
}

func builtIn(env Env) (*Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the working directory: %w", err)
	}
	c := Default(dir, env)
	d := &decoder{dir: dir, env: env}
	d.check(c)
	if err := errorOf(d.problems); err != nil {
		return nil, err
	}
	return c, nil
}

// Parse decodes and checks a configuration. name is what messages call the
// file, dir what its relative paths are seen from. It reads only the files
// that the configuration names (secrets, the prompt). A problem is an *[Error].
func Parse(name, text, dir string, env Env) (*Config, error) {
	d := &decoder{file: name, dir: dir, env: env, at: map[string]place{}}
	c := Default(dir, env)
	text = strings.TrimPrefix(text, "\ufeff") // editors on Windows put it there
	if body, ok := d.parse(text); ok {
		if body != nil {
			d.block(body, spot{at: place{1, 1}}, reflect.ValueOf(c).Elem())
		}
		d.check(c)
	}
	if err := errorOf(d.problems); err != nil {
		return nil, err
	}
	c.open = d.open
	return c, nil
}

// parse turns the text into a tree; ok is false after a problem.
func (d *decoder) parse(text string) (body ast.Node, ok bool) {
	top := spot{at: place{1, 1}}
	if len(text) > maxFile {
		d.problem(top, "is larger than %s, which no configuration is", Size(maxFile))
		return nil, false
	}
	file, err := parseYAML(text)
	if err != nil {
		d.syntax(err, text)
		return nil, false
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			top.at = placeOf(doc.Body)
			d.problem(top, "a second document begins; keep one")
			return nil, false
		}
		body = doc.Body
	}
	if body != nil && body.Type() == ast.NullType || isComment(body) {
		return nil, true
	}
	return body, true
}

func isComment(n ast.Node) bool {
	_, ok := n.(*ast.CommentGroupNode)
	return ok
}

// parseYAML keeps a panic of the parser, should a broken file find one, from
// ending the program.
func parseYAML(text string) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, errors.New("cannot be read as YAML")
		}
	}()
	return parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
}

// syntax tells a parser's complaint without the piece of the file that it
// quotes, which may hold a secret.
func (d *decoder) syntax(err error, text string) {
	s, says := spot{at: place{1, 1}}, "cannot be read as YAML"
	var detail yaml.Error
	if errors.As(err, &detail) {
		says = detail.GetMessage()
		if t := detail.GetToken(); t != nil && t.Position != nil {
			s.at = place{t.Position.Line, t.Position.Column}
		}
	}
	lines := strings.Split(text, "\n")
	if n := s.at.line - 1; n >= 0 && n < len(lines) && strings.Contains(lines[n], "${") && strings.ContainsAny(lines[n], "[{") {
		says += "; inside { } and [ ] put a value with ${…} in quotes"
	}
	d.problem(s, "%s", says)
}
