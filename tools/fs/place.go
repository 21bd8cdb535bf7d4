package fs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"parley/tools"
)

// place is where the path of a call leads, and the way there.
type place struct {
	arg   string   // as the model wrote it
	path  string   // resolved
	base  string   // the directory that a root is opened at
	names []string // from base to path, none if path is base
	// strange: it lies outside of what the session was given, so only
	// somebody's word on this very call lets it in.
	strange bool
}

// purpose is what a path is wanted for.
type purpose int

const (
	reading purpose = iota
	writing
	asking // showing a person what a write would do, before they said a word
)

// errStrange comes from find for a path that nobody let this call touch.
var errStrange = errors.New("it is outside the working directory and was not allowed for this call")

// find works out where a path leads and whether the call may go there.
func find(r tools.Reach, arg string, want purpose) (place, error) {
	at, err := tools.Resolve(r.Dir, arg)
	if err != nil {
		return place{}, err
	}
	p := place{arg: arg, path: at}
	if why := r.Closed(at); why != "" {
		return place{}, fmt.Errorf("%s: %s", shown(arg), why)
	}
	if madeUp(at) {
		return place{}, fmt.Errorf("%s: what the system makes up as it is read is closed to every tool", shown(arg))
	}
	if r.Target != "" && r.Target != at {
		return place{}, fmt.Errorf("%s no longer leads to where it led when the call was allowed; look again before you repeat it", shown(arg))
	}
	p.base = given(r, at, want != reading)
	p.strange = p.base == ""
	if p.strange && r.Target == "" && want != asking {
		return place{}, fmt.Errorf("%s: %w", shown(arg), errStrange)
	}
	if p.strange {
		p.base = standing(filepath.Dir(at))
	}
	p.names = between(p.base, at)
	return p, nil
}

// given returns the directory of the session that a path lies in, the working
// directory before all others, "" if there is none.
func given(r tools.Reach, path string, write bool) string {
	roots := append([]string{r.Dir}, r.Writes...)
	if !write {
		roots = append(roots, r.Reads...)
	}
	for _, root := range roots {
		if root != "" && tools.Within(root, path) {
			return root
		}
	}
	return ""
}

// standing returns the directory nearest above that exists.
func standing(dir string) string {
	for {
		if _, err := os.Lstat(dir); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

// between returns the names that lead from dir down to path.
func between(dir, path string) []string {
	rest := strings.Trim(strings.TrimPrefix(path, dir), string(filepath.Separator))
	if rest == "" {
		return nil
	}
	return strings.Split(rest, string(filepath.Separator))
}

// madeUp reports whether a path lies where the kernel shows itself.
func madeUp(path string) bool {
	return tools.Within("/proc", path) || tools.Within("/sys", path)
}

// asksDirectory reports whether a path can only mean a directory.
func asksDirectory(arg string) bool {
	last := arg[strings.LastIndexAny(arg, `/`+string(filepath.Separator))+1:]
	return last == "" || last == "." || last == ".."
}

// shown makes a path fit for a message.
func shown(path string) string {
	const most = 200
	if len(path) > most {
		path = strings.ToValidUTF8(path[:most], "") + "…"
	}
	return clean(path)
}
