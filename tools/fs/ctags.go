package fs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/core/chat"
)

const (
	tagTime  = 10 * time.Second
	tagBytes = 4 << 20 // of what ctags says
)

// tagger is the ctags that is to be used, "" for the one that is there.
type tagger string

// errNoTags means that no parser knows the file.
var errNoTags = errors.New("no outline, since parley itself reads only Go, Markdown, TOML, SQL and Kotlin, and universal-ctags is not installed")

// program finds the ctags to run. It is looked for in every call: one that was
// installed meanwhile is of use at once.
func (t tagger) program() (string, error) {
	if t != "" {
		return string(t), nil
	}
	for _, name := range []string{"universal-ctags", "ctags"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoTags
}

// tag is a line of what ctags says.
type tag struct {
	Type      string `json:"_type"`
	Name      string `json:"name"`
	Line      int    `json:"line"`
	End       int    `json:"end"`
	Kind      string `json:"kind"`
	Scope     string `json:"scope"`
	Signature string `json:"signature"`
}

// outline gives ctags a copy of the file, so that it reads what was checked
// and nothing else.
func (t tagger) outline(ctx context.Context, name string, data []byte) ([]symbol, string, error) {
	program, err := t.program()
	if err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "parley-outline-")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		return nil, "", err
	}
	out, cut, err := ctags(ctx, program, dir, name)
	if err != nil {
		return nil, "", err
	}
	all, err := tags(out)
	if err != nil {
		return nil, "", err
	}
	if len(all) == 0 {
		return nil, "", errors.New("no outline: ctags knows no such language, or found nothing")
	}
	note := ""
	if cut {
		note = "there was more than could be read"
	}
	return all, note, nil
}

// ctags runs the program. It reads no configuration, since that could name
// programs to run.
func ctags(ctx context.Context, program, dir, name string) (out []byte, cut bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, tagTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--options=NONE", "--quiet", "--output-format=json", "--fields=+neS", "--sort=no", "-f", "-", "."+string(filepath.Separator)+name)
	cmd.Dir = dir
	cmd.Env = []string{"LC_ALL=C", "TMPDIR=" + dir}
	cmd.WaitDelay = time.Second
	said, err := cmd.StdoutPipe()
	if err != nil {
		return nil, false, err
	}
	confine(cmd)
	if err := cmd.Start(); err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err // the path is of no use to a model
		}
		return nil, false, fmt.Errorf("no outline, since ctags does not start: %w", err)
	}
	limit(cmd.Process.Pid)
	out, err = io.ReadAll(io.LimitReader(said, tagBytes+1))
	if cut = len(out) > tagBytes; cut {
		cancel() // enough
		out = out[:bytes.LastIndexByte(out, '\n')+1]
	}
	ended := cmd.Wait()
	switch {
	case err != nil:
		return nil, false, err
	case ended != nil && !cut:
		return nil, false, fmt.Errorf("no outline, since ctags failed (%w); it must be universal-ctags with JSON", ended)
	}
	return out, cut, nil
}

// tags reads what ctags said.
func tags(out []byte) ([]symbol, error) {
	var all []symbol
	for row := range bytes.Lines(out) {
		var t tag
		if err := json.Unmarshal(row, &t); err != nil {
			return nil, errors.New("no outline, since this ctags gives no JSON: it must be universal-ctags")
		}
		if t.Type != "tag" || t.Line == 0 {
			continue
		}
		text, deep := t.Name, 0
		if t.Scope != "" {
			deep = 1 + strings.Count(strings.ReplaceAll(t.Scope, "::", "."), ".")
		}
		all = append(all, symbol{t.Line, t.End, deep, t.Kind + " " + text + t.Signature})
	}
	slices.SortStableFunc(all, func(a, b symbol) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.deep, b.deep)) })
	return all, nil
}

// Finding says whether outlines of all languages can be made, for check and
// doctor.
func Finding(ctx context.Context) chat.Finding {
	f := chat.Finding{Part: "ctags", Level: chat.Good}
	program, err := tagger("").program()
	if err != nil {
		f.Level, f.Says = chat.Off, "Not installed: outlines are made of Go, Markdown, TOML, SQL and Kotlin only."
		f.Remedy = "Install universal-ctags for other languages; nothing else needs it."
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, tagTime)
	defer cancel()
	said, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil || !bytes.Contains(said, []byte("Universal Ctags")) {
		f.Level, f.Says = chat.Off, fmt.Sprintf("%s is not universal-ctags: outlines are made of Go, Markdown, TOML, SQL and Kotlin only.", program)
		f.Remedy = "Install universal-ctags for other languages; nothing else needs it."
		return f
	}
	f.Says = fmt.Sprintf("%s makes outlines of source files.", program)
	return f
}
