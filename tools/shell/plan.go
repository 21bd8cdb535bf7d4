package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"parley/tools"
)

// tempPrefix begins the names of temporary directories of calls.
const tempPrefix = "parley-"

// plan is all that is needed to start a command.
type plan struct {
	id       string
	argv     []string
	dir      string
	env      []string
	restrict *restrict // for landlock
	tmp      string    // to be removed afterwards, "" for none
}

// plan decides how a call runs.
func (t *Tool) plan(call tools.Call, a args) (plan, error) {
	dir, err := workdir(call.Reach, a.Workdir)
	if err != nil {
		return plan{}, err
	}
	s, mode, err := t.sandbox()
	if err != nil {
		return plan{}, err
	}
	p := plan{id: newID(t.run), argv: []string{t.shell, "-c", a.Command}, dir: dir}
	pairs := map[string]string{markerName: p.id}
	if mode != None {
		if err := p.confine(s, mode, call.Reach, pairs, t.env["PATH"]); err != nil {
			return plan{}, err
		}
	}
	p.env = t.env.with(pairs)
	return p, nil
}

// confine puts the command into a sandbox.
func (p *plan) confine(s Status, mode Mode, r tools.Reach, pairs map[string]string, searchPath string) error {
	g := newGrants(r, p.dir)
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return fmt.Errorf("looking for the temporary directory: %w", err)
	}
	g.tmp = filepath.Join(temp, tempPrefix+p.id)
	if err := os.Mkdir(g.tmp, 0o700); err != nil {
		return fmt.Errorf("making a temporary directory: %w", err)
	}
	p.tmp = g.tmp
	pairs["TMPDIR"], pairs["HOME"] = g.tmp, g.tmp
	if mode == Bwrap {
		pairs["TMPDIR"], pairs["HOME"] = g.tmpPath(), g.tmpPath()
	}
	if home, err := own(r.Dir, homeDir); err == nil { // else what is kept there does not last
		pairs["HOME"] = filepath.Join(r.Dir, homeDir)
		_ = home.Close() // it was opened to be made
	}
	pairs["PATH"] = reachable(searchPath, slices.Concat(system, g.read, g.write))
	if mode == Bwrap {
		p.argv = bwrapArgs(s.bwrap, g, p.dir, p.argv)
		return nil
	}
	p.restrict = newRestrict(s, g)
	return nil
}

// remove removes what was made for the command alone.
func (p plan) remove() {
	if p.tmp != "" {
		_ = os.RemoveAll(p.tmp) // the next Sweep or the system does it
	}
}
