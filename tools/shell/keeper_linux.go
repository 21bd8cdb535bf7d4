package shell

import (
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// linger is how long what a command leaves behind may still run: the last
// words of a process substitution, say.
const linger = 100 * time.Millisecond

// launchable says that this program becomes a keeper when it is asked to.
var launchable atomic.Bool

// Launcher makes the process a keeper if args, the arguments after the
// program's name, ask for one, and reports whether they did; the program then
// ends without doing anything else. A program calls it first thing in main:
// only then are its commands kept, and only then is there landlock.
func Launcher(args []string) (handled bool) {
	if len(args) != 1 || args[0] != launchWord {
		launchable.Store(true)
		return false
	}
	runtime.LockOSThread() // what is dropped here, and who dies with whom, belongs to a thread
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	k := &keeper{gate: os.NewFile(3, "gate"), words: json.NewEncoder(os.NewFile(4, "words"))}
	k.run()
	return true
}

// keeper starts one command and stays until nothing of it is left.
type keeper struct {
	gate   *os.File // says what to run; when it is closed, all has to end
	words  *json.Encoder
	spared int // see tree
}

func (k *keeper) run() {
	read := json.NewDecoder(k.gate)
	var s spec
	if read.Decode(&s) != nil {
		return // parley changed its mind, or died
	}
	// A signal for the whole group is for the others in it.
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGTSTP)
	pid, err := k.start(s)
	if err != nil {
		k.say(word{Error: err.Error()})
		return
	}
	k.say(word{PID: pid})
	if filepath.Base(s.Argv[0]) == string(Bwrap) {
		k.spared = pid // when it goes, the kernel kills what is in it, without a warning
	}
	go func() {
		_, _ = io.Copy(io.Discard, k.gate) // returns when the other end is closed
		k.end()
	}()
	k.reap(pid)
}

func (k *keeper) start(s spec) (int, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, os.NewSyscallError("prctl", err)
	}
	limit()
	if s.Restrict != nil {
		if err := s.Restrict.apply(); err != nil {
			return 0, err
		}
	}
	return syscall.ForkExec(s.Argv[0], s.Argv, &syscall.ProcAttr{
		Dir: s.Dir, Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// limit keeps a command from taking parley down with it: when memory is short
// the command goes first, and the number of processes has a bound, which
// does not hold for root. None of it is worth failing for.
func limit() {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &r) == nil && r.Cur > maxProcesses {
		r.Cur = maxProcesses
		_ = unix.Setrlimit(unix.RLIMIT_NPROC, &r)
	}
}

// maxProcesses is how many processes parley's user may have for a command to
// be able to start another.
const maxProcesses = 8192

// reap waits for every child until there is none. This process has no children
// but those of the command, so it may wait for any.
func (k *keeper) reap(pid int) {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil: // no child is left
			return
		}
		if got == pid {
			w := word{Ended: true, Code: max(0, status.ExitStatus())}
			if status.Signaled() {
				w.Signal = int(status.Signal())
			}
			k.say(w)
			time.AfterFunc(linger, k.end)
		}
	}
}

// end ends everything below this process. If that cannot be done, the process
// ends all the same and says so by its status.
func (k *keeper) end() {
	t := tree{known: map[int]uint64{}, below: os.Getpid(), spared: k.spared}
	if len(t.end()) > 0 {
		os.Exit(1)
	}
}

// say tells parley. If it is gone there is nobody to tell.
func (k *keeper) say(w word) { _ = k.words.Encode(w) }
