package shell

import (
	"os"
	"strconv"
	"strings"
)

// Bare makes commands run without a keeper until it is called back.
func Bare() (restore func()) {
	was := launchable.Swap(false)
	return func() { launchable.Store(was) }
}

// Running returns the pids of living processes, zombies aside, whose command
// line holds text.
func Running(text string) []int {
	return running(func(line string) bool { return strings.Contains(line, text) })
}

// Sleeping returns the pids of the processes that sleep for that long.
func Sleeping(time string) []int {
	return running(func(line string) bool { return line == "sleep\x00"+time+"\x00" })
}

func running(is func(line string) bool) (all []int) {
	for _, p := range procs() {
		if line, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline"); err == nil && !p.zombie && is(string(line)) {
			all = append(all, p.pid)
		}
	}
	return all
}

// Zombies returns the children of this process that nobody waited for.
func Zombies() (all []int) {
	for _, p := range procs() {
		if p.zombie && p.parent == os.Getpid() {
			all = append(all, p.pid)
		}
	}
	return all
}

// Chain returns the pids of a process's ancestors.
func Chain(pid int) (all []int) {
	for pid > 1 {
		p, ok := readProc(pid)
		if !ok {
			break
		}
		pid = p.parent
		all = append(all, pid)
	}
	return all
}

// Ticks returns when a process began.
var Ticks = ticks

// Marker returns a process's marker.
var Marker = marker

// Stat returns what /proc says of a process.
func Stat(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return string(text[:min(len(text), 60)])
}
