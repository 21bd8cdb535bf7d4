package fs

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"parley/tools"
)

// maxSymbols is how many symbols an outline has.
const maxSymbols = 500

type outlineArgs struct {
	Path string `json:"path"`
}

func outlineFile(ctags string) tools.Tool {
	return tool[outlineArgs]{
		spec: spec(tools.GetASTOutline, tools.ReadOnly, `
			"path": {"type": "string", "description": "the file"}`,
			"path"),
		path:  func(a outlineArgs) string { return a.Path },
		label: func(a outlineArgs) string { return "outline " + a.Path },
		do: func(ctx context.Context, call tools.Call, a outlineArgs) (string, error) {
			return a.outline(ctx, call.Reach, ctags)
		},
	}
}

// symbol is something that a file declares.
type symbol struct {
	first, last int // lines; last is 0 where the end is not known
	deep        int // how deep it is nested
	text        string
}

// outliner lists the symbols of a file. note is a sentence about what is
// missing.
type outliner func(ctx context.Context, name string, data []byte) (all []symbol, note string, err error)

// outlinerOf chooses by the ending of the name.
func outlinerOf(name, ctags string) outliner {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".go":
		return outlineGo
	case ".md", ".markdown":
		return outlineMarkdown
	case ".toml":
		return outlineTOML
	case ".sql":
		return outlineSQL
	case ".kt", ".kts":
		return outlineKotlin
	default:
		return tagger(ctags).outline
	}
}

// outline reads the file first and lets the outliners have its content alone:
// none of them opens a path.
func (a outlineArgs) outline(ctx context.Context, r tools.Reach, ctags string) (string, error) {
	p, err := find(r, a.Path, reading)
	if err != nil {
		return "", err
	}
	f, info, err := p.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	var data bytes.Buffer
	skip, err := slurp(f, info.Size(), maxOutline, &data)
	switch {
	case err != nil:
		return "", err
	case skip == tooLarge:
		return "", fmt.Errorf("%s is too large for an outline: %s, %s at most; %s finds declarations in it", shown(a.Path), amount(info.Size()), amount(maxOutline), tools.SearchFile)
	case skip != "":
		return "", notText(a.Path, skip, info.Size())
	}
	name := filepath.Base(p.path)
	all, note, err := outlinerOf(name, ctags)(ctx, name, data.Bytes())
	if err != nil {
		return "", fmt.Errorf("%s: %w; %s finds declarations in it", shown(a.Path), err, tools.SearchFile)
	}
	return outlined(shown(a.Path), all, note), nil
}

// outlined is an outline as the model reads it.
func outlined(path string, all []symbol, note string) string {
	got := page{room: maxSymbols}
	for _, s := range all {
		span := fmt.Sprint(s.first)
		if s.last > s.first {
			span = fmt.Sprintf("%d–%d", s.first, s.last)
		}
		text := strings.Join(strings.Fields(s.text), " ")
		if got.add(fmt.Sprintf("%s\t%s%s", span, strings.Repeat("  ", min(s.deep, 8)), line([]byte(text), maxHit, 0))) != nil {
			break
		}
	}
	var notes []string
	if got.more {
		got.more = false
		notes = append(notes, fmt.Sprintf("%s of %s; %s finds the others", count(got.shown, "symbol"), count(len(all), "symbol"), tools.SearchFile))
	}
	if note != "" {
		notes = append(notes, note)
	}
	return got.result(path+" declares nothing that an outline shows", "symbols", notes)
}
