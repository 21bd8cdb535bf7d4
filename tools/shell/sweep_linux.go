package shell

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Sweep ends what is left of children that an earlier run of parley recorded
// as started and never as ended, and returns the processes that it found. It
// is called at a start, before anything else runs. When ctx has ended it does
// nothing.
//
// A recorded process counts only if it began when the record says and carries
// the marker; a pid that was used again does neither. Besides, every process
// counts that carries a marker of a run that is in the records, and what
// descends from any of them.
func Sweep(ctx context.Context, left []Child) []Report {
	if ctx.Err() != nil {
		return nil
	}
	var all []Report
	t := tree{known: map[int]uint64{}}
	t.found = func(p proc, id string) {
		all = append(all, Report{ID: id, PID: p.pid, Command: command(p.pid)})
	}
	runs := map[string]bool{}
	for _, c := range left {
		run, ok := runOf(c.ID)
		if !ok {
			continue // not one of ours: it would match too much
		}
		runs[run] = true
		removeTemp(c.ID)
		if p, ok := readProc(c.PID); ok && c.Start != 0 && p.start == c.Start && carries(c.PID, c.ID) {
			t.known[c.PID] = c.Start
			t.found(p, c.ID)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	t.marks = func(m string) bool {
		run, ok := runOf(m)
		return ok && runs[run]
	}
	remains := t.end()
	for i, r := range all {
		all[i].Left = slices.ContainsFunc(remains, func(p proc) bool { return p.pid == r.PID })
	}
	slices.SortFunc(all, func(a, b Report) int { return cmp.Compare(a.PID, b.PID) })
	return all
}

// carries reports whether a process carries the marker, or is a keeper that
// shields what it carries.
func carries(pid int, id string) bool {
	if _, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ"); err != nil {
		return command(pid) == keeperName+" "+launchWord
	}
	return marker(pid) == id
}

// removeTemp removes the temporary directory of a call that was cut off.
func removeTemp(id string) {
	if !strings.ContainsAny(id, `/\`) {
		_ = os.RemoveAll(filepath.Join(os.TempDir(), tempPrefix+id)) // it is in nobody's way
	}
}
