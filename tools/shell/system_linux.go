package shell

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of what commands leave behind should
// their keeper be killed, so that it can still be found and descends from
// parley for everybody who asks.
var adopt = sync.OnceFunc(func() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // Linux has it since 3.4
})

// launcher returns this program, which the kernel knows even if its file was
// replaced, and whether it can be a keeper.
func launcher() (program string, ok bool) {
	return "/proc/self/exe", launchable.Load()
}

// attributes are those of the process that is started for a command.
func attributes(mounts bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if mounts {
		a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return a
}

// ticks returns when a process began.
func ticks(pid int) uint64 {
	p, _ := readProc(pid) // a child that was not waited for is always there
	return p.start
}

// endTree ends what is left of the command without a keeper's help.
func (c *child) endTree() (left int) {
	t := tree{
		known: map[int]uint64{c.PID: c.Start}, waited: c.PID, since: c.Start,
		marks: func(m string) bool { return m == c.ID },
	}
	select {
	case pid, ok := <-c.first:
		if p, alive := readProc(pid); ok {
			t.session = pid
			if alive && p.session == pid {
				t.known[pid] = p.start
			}
		}
	default:
	}
	return len(t.end())
}

// Detect finds out which sandboxes work here, by trying them.
func Detect() Status {
	var s Status
	s.bwrap, s.NoBwrap = tryBwrap()
	s.ABI = abi()
	switch {
	case s.ABI == 0:
		s.NoLandlock = "this kernel has none, or it was not switched on"
	case !launchable.Load():
		s.NoLandlock = "this program cannot start itself"
	default:
		s.NoLandlock = filterable(s.ABI)
	}
	if s.NoLandlock == "" {
		s.NoLandlock, s.Mounts = tryLandlock(s.ABI)
	}
	return s
}

const tryTime = 10 * time.Second

func tryBwrap() (path, why string) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "", "the program bwrap (package bubblewrap) is not installed"
	}
	argv := bwrapArgs(path, grants{tmp: os.TempDir()}, "/", []string{"/bin/sh", "-c", ":"})
	return path, try(plan{argv: argv, dir: "/", env: tryEnv})
}

// tryEnv is the environment of what is tried.
var tryEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}

// tryLandlock runs a command that must not be able to see what is hidden.
func tryLandlock(abi int) (why string, mounts bool) {
	dir, err := os.MkdirTemp("", "parley-try-")
	if err != nil {
		return err.Error(), false
	}
	defer os.RemoveAll(dir)
	tmp, hidden := dir+"/tmp", dir+"/tmp/hidden"
	if err := os.MkdirAll(hidden, 0o700); err != nil {
		return err.Error(), false
	}
	if err := os.WriteFile(hidden+"/file", []byte("x"), 0o600); err != nil {
		return err.Error(), false
	}
	if err := os.WriteFile(dir+"/file", []byte("x"), 0o600); err != nil {
		return err.Error(), false
	}
	look := func(r *restrict, file string) string {
		return try(plan{argv: []string{"/bin/sh", "-c", `! read -r x <"$0"`, file}, dir: "/", env: tryEnv, restrict: r})
	}
	g := grants{tmp: tmp}
	if why = look(newRestrict(Status{ABI: abi}, g), dir+"/file"); why != "" {
		return why, false
	}
	g.hidden = []string{hidden}
	return "", look(newRestrict(Status{ABI: abi, Mounts: true}, g), hidden+"/file") == ""
}

// try runs a command and says what went wrong, "" if nothing did.
func try(p plan) (why string) {
	c, err := start(p)
	if err != nil {
		return err.Error()
	}
	var text bytes.Buffer
	printed := c.drain(&text)
	w := word{Error: "trying it took too long"}
	if err := c.release(p); err != nil {
		w.Error = err.Error()
	} else {
		select {
		case w = <-c.ended:
		case <-time.After(tryTime):
		}
	}
	c.end(w.Ended)
	_ = c.out.Close()
	<-printed
	line, _, _ := strings.Cut(strings.TrimSpace(text.String()), "\n")
	switch {
	case w.Error != "":
		return w.Error
	case w.Code == 0 && w.Signal == 0:
		return ""
	case line != "":
		return line
	}
	return "it does not work as it should"
}

// Shield keeps other processes of the same user from reading parley's memory
// and its environment, where keys are. Root still can. The files of /proc that
// belong to the process then belong to root.
func Shield() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
}
