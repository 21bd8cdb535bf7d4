package shell

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// How long a tree of processes gets.
const (
	grace    = 400 * time.Millisecond // from SIGTERM to SIGKILL
	killTime = 3 * time.Second        // from SIGKILL to giving up
)

// proc is a process as /proc shows it.
type proc struct {
	pid, parent, group, session int
	start                       uint64 // ticks since the system began
	zombie                      bool
}

// readProc reads /proc/PID/stat, whose second field, the name in brackets, may
// hold anything.
func readProc(pid int) (proc, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(f) < 20 {
		return proc{}, false
	}
	num := func(i int) int {
		n, _ := strconv.Atoi(string(f[i])) // the kernel writes numbers
		return n
	}
	start, err := strconv.ParseUint(string(f[19]), 10, 64)
	state := f[0][0]
	return proc{pid, num(1), num(2), num(3), start, state == 'Z' || state == 'X'}, err == nil
}

// procs returns all processes.
func procs() []proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what can be read is enough
	var all []proc
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProc(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// marker returns the marker in a process's environment, "" if it has none or
// is not ours to look at.
func marker(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for pair := range bytes.SplitSeq(text, []byte{0}) {
		if value, ok := strings.CutPrefix(string(pair), markerName+"="); ok {
			return value
		}
	}
	return ""
}

// command returns the command line of a process, cut.
func command(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline") // "" will do
	line := strings.ToValidUTF8(strings.ReplaceAll(strings.TrimRight(string(text), "\x00"), "\x00", " "), "\uFFFD")
	const most = 200
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}

// tree is a set of processes that belong together, however far they have gone
// from each other.
type tree struct {
	known   map[int]uint64     // members by pid, with their start: a pid that was used again is none
	marks   func(string) bool  // the markers of members, nil for none
	session int                // whose processes are members, 0 for none
	below   int                // a process whose descendants are members, itself not; 0 for none
	since   uint64             // no member is older
	waited  int                // a member that somebody else waits for
	spared  int                // a member that is not asked to end, as it would take others with it; 0 for none
	found   func(proc, string) // is told of each new member and its marker, if not nil
}

// members looks for the living members and remembers them. Zombies that came
// to this process are waited for and are none.
func (t *tree) members() []proc {
	all := procs()
	children := map[int][]proc{}
	byPID := map[int]proc{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
		byPID[p.pid] = p
	}
	in := map[int]proc{}
	var add func(p proc)
	add = func(p proc) {
		if _, seen := in[p.pid]; seen || p.pid == os.Getpid() {
			return
		}
		in[p.pid] = p
		for _, c := range children[p.pid] {
			add(c)
		}
	}
	for _, c := range children[t.below] {
		if t.below != 0 {
			add(c)
		}
	}
	for _, p := range all {
		if t.has(p, byPID) {
			add(p)
		}
	}
	return t.living(in)
}

// has reports whether a process is a member by itself.
func (t *tree) has(p proc, all map[int]proc) bool {
	if start, ok := t.known[p.pid]; ok && start == p.start {
		return true
	}
	if p.start < t.since {
		return false
	}
	if t.session != 0 && p.session == t.session {
		leader, alive := all[t.session]
		return !alive || t.known[leader.pid] == leader.start
	}
	return t.marks != nil && !p.zombie && t.marks(marker(p.pid))
}

func (t *tree) living(in map[int]proc) []proc {
	var alive []proc
	for _, p := range in {
		if _, seen := t.known[p.pid]; !seen && t.found != nil && !p.zombie {
			t.found(p, marker(p.pid))
		}
		t.known[p.pid] = p.start
		_, among := in[p.parent]
		switch {
		case !p.zombie || among: // a zombie may come to us when its parent goes
			alive = append(alive, p)
		case p.parent == os.Getpid() && p.pid != t.waited && t.below == 0:
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil) // gone already is fine
		}
	}
	// Parents hear first, or they would complain about their children.
	slices.SortFunc(alive, func(a, b proc) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.pid, b.pid)) })
	return alive
}

// end ends all members and returns those that it could not end.
func (t *tree) end() []proc {
	left := t.members()
	for _, p := range left {
		if p.pid != t.spared {
			p.signal(unix.SIGTERM)
		}
		p.signal(unix.SIGCONT) // one that is stopped hears nothing
	}
	for deadline := time.Now().Add(grace); len(left) > 0 && time.Now().Before(deadline); left = t.members() {
		time.Sleep(5 * time.Millisecond)
	}
	for deadline := time.Now().Add(killTime); len(left) > 0 && time.Now().Before(deadline); left = t.members() {
		killAll(left)
		time.Sleep(2 * time.Millisecond)
	}
	return left
}

// killAll kills processes and their groups: a group dies as one, so that none
// of it can start another in between.
func killAll(all []proc) {
	self, _ := readProc(os.Getpid())
	groups := map[int]bool{}
	for _, p := range all {
		if p.session != self.session && p.group > 1 && !groups[p.group] {
			groups[p.group] = true
			_ = unix.Kill(-p.group, unix.SIGKILL) // it may have gone by itself
		}
		p.signal(unix.SIGKILL)
	}
}

// signal signals this very process, never one that has its pid by now.
func (p proc) signal(sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil && err != unix.ENOSYS && err != unix.EPERM {
		return // it is gone
	}
	now, ok := readProc(p.pid)
	if err != nil {
		if ok && now.start == p.start {
			_ = unix.Kill(p.pid, sig) // a kernel without pidfd; gone is fine
		}
		return
	}
	defer unix.Close(fd)
	if ok && now.start == p.start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0) // gone is fine
	}
}
