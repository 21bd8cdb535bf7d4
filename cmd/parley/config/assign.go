package config

import (
	"encoding"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// scalar decodes a single value into v and judges it by the tags. It reports
// whether v was set.
func (d *decoder) scalar(n ast.Node, s spot, v reflect.Value) bool {
	if _, ok := scalarOf(n); !ok {
		d.problem(s, "%s, %s", foundNode(n), wanted(v.Type(), s.tag))
		return false
	}
	text, ok := d.resolve(n, s)
	if !ok || text.void() {
		return false
	}
	if v.Type() == secretType {
		d.open = d.open || text.text != "" && text.text == text.raw
		v.Set(reflect.ValueOf(NewSecret(text.text)))
		return true
	}
	fresh := reflect.New(v.Type()).Elem()
	if !d.assign(text, s, fresh) || !d.within(text, s, fresh) {
		return false
	}
	v.Set(fresh)
	return true
}

// assign converts the text to v's type.
func (d *decoder) assign(text scalar, s spot, v reflect.Value) bool {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text.text)); err != nil {
			d.problem(s, "%s is no chat; want ADAPTER:CHAT, such as telegram:-100123", text.shown())
			return false
		}
		return true
	}
	ok := false
	switch {
	case v.Type() == durationType:
		var x time.Duration
		x, ok = text.duration()
		v.SetInt(int64(x))
	case v.Type() == sizeType:
		var x Size
		x, ok = text.size()
		v.SetInt(int64(x))
	case v.Kind() == reflect.Int:
		var x int64
		x, ok = text.int()
		v.SetInt(x)
	case v.Kind() == reflect.Float64:
		var x float64
		x, ok = text.float()
		v.SetFloat(x)
	case v.Kind() == reflect.Bool:
		var x bool
		x, ok = text.bool()
		v.SetBool(x)
	case v.Kind() == reflect.String:
		ok = text.kind != boolean
		v.SetString(d.text(text.text, s.tag))
	}
	if !ok {
		d.problem(s, "%s, %s", text.found(), wanted(v.Type(), s.tag))
	}
	return ok
}

func (d *decoder) text(text string, tag reflect.StructTag) string {
	if tag.Get("as") == "path" && text != "" {
		return resolvePath(d.dir, text)
	}
	return text
}

// wanted says what a key takes.
func wanted(t reflect.Type, tag reflect.StructTag) string {
	if allowed := tag.Get("oneof"); allowed != "" {
		return "want one of " + strings.ReplaceAll(allowed, " ", ", ")
	}
	switch {
	case t == durationType:
		return wantDuration
	case t == sizeType:
		return wantSize
	case t.Kind() == reflect.Int:
		return wantInt
	case t.Kind() == reflect.Float64:
		return wantFloat
	case t.Kind() == reflect.Bool:
		return wantBool
	}
	return wantText
}

// within judges a value by its tags oneof, min and max.
func (d *decoder) within(text scalar, s spot, v reflect.Value) bool {
	if allowed := s.tag.Get("oneof"); allowed != "" {
		for word := range strings.FieldsSeq(allowed) {
			if word == v.String() {
				return true
			}
		}
		d.problem(s, "%s is not allowed; want one of %s", text.shown(), strings.ReplaceAll(allowed, " ", ", "))
		return false
	}
	if least := s.tag.Get("min"); least != "" && magnitude(v) < bound(least, v.Type()) {
		d.problem(s, "%s is too small; want at least %s", text.text, least)
		return false
	}
	if most := s.tag.Get("max"); most != "" && magnitude(v) > bound(most, v.Type()) {
		d.problem(s, "%s is too large; want at most %s", text.text, most)
		return false
	}
	return true
}

func magnitude(v reflect.Value) float64 {
	if v.Kind() == reflect.Float64 {
		return v.Float()
	}
	return float64(v.Int())
}

// bound reads a tag min or max in the unit of the type. A tag that cannot be
// read is a mistake in this package.
func bound(text string, t reflect.Type) float64 {
	switch t {
	case durationType:
		d, err := time.ParseDuration(text)
		if err != nil {
			panic(err)
		}
		return float64(d)
	case sizeType:
		n, ok := parseSize(text)
		if !ok {
			panic("config: no size: " + text)
		}
		return float64(n)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return f
}

// headers decodes HTTP headers, each a secret with its twin.
func (d *decoder) headers(n ast.Node, s spot, v reflect.Value) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.problem(s, "%s, want a block of header names and values", notBlock(n))
		return
	}
	all := Headers{}
	v.Set(reflect.ValueOf(all))
	d.entries(m, s, func(key string, value ast.Node, at place) {
		var text Secret
		in := s.child(key, at, "")
		name, isTwin := strings.CutSuffix(key, fileSuffix)
		if !isTwin {
			d.value(value, in, reflect.ValueOf(&text).Elem())
		} else if path := ""; d.scalar(value, in, reflect.ValueOf(&path).Elem()) && path != "" {
			text = all[name]
			d.fromFile(twin{in, path}, reflect.ValueOf(&text).Elem())
		}
		if text.IsSet() {
			all[name] = text
		}
	})
}

// fileSuffix makes the key of a secret the key of the file that holds it.
const fileSuffix = "_file"

// twin is a _file key that was given.
type twin struct {
	spot spot
	path string
}

// maxSecret is how large a file with a secret may be: a key, a certificate.
const maxSecret = 64 << 10

// fromFile reads a secret from the file that its twin names.
func (d *decoder) fromFile(t twin, v reflect.Value) {
	key := strings.TrimSuffix(t.spot.key, fileSuffix)
	if v.Interface().(Secret).IsSet() {
		d.problem(t.spot, "%s is set as well; keep one of the two", key)
		return
	}
	text, err := readSmall(resolvePath(d.dir, t.path), maxSecret)
	if err != nil {
		d.problem(t.spot, "%v", err)
		return
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if text == "" {
		d.problem(t.spot, "%s is empty; write the secret into it", quote(t.path))
		return
	}
	v.Set(reflect.ValueOf(NewSecret(text)))
	d.at[key] = t.spot.at
}

// readSmall reads a file of bounded size; its error is a sentence that names
// path and remedy.
func readSmall(path string, limit int64) (string, error) {
	info, _ := os.Stat(path)
	text, err := readUpTo(path, limit+1)
	switch {
	case int64(len(text)) > limit:
		return "", sentence("%q is larger than %s; give a smaller file", path, Size(limit))
	case err == nil:
		return string(text), nil
	case errors.Is(err, fs.ErrNotExist):
		return "", sentence("%q does not exist; create it or correct the path", path)
	case errors.Is(err, fs.ErrPermission):
		return "", sentence("%q may not be read by this user; give it the right (chown, chmod) or name another file", path)
	case info != nil && info.IsDir():
		return "", sentence("%q is a folder; name a file", path)
	}
	return "", sentence("%q cannot be read (%v); correct the path", path, errors.Unwrap(err))
}

// readUpTo reads the beginning of a file: one such as /dev/zero has no end.
func readUpTo(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, most))
}

// resolvePath makes a path absolute, seen from dir; ~/ is the home folder.
func resolvePath(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
