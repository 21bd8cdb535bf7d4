package shell

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// versions are the sets of what is handled, by version.
var versions = []landlock.Config{
	1: landlock.V1, 2: landlock.V2, 3: landlock.V3, 4: landlock.V4, 5: landlock.V5,
	6: landlock.V6, 7: landlock.V7, 8: landlock.V8, 9: landlock.V9,
}

// The rights of a command. Nobody may make device files: root could reach any
// disk by one.
const (
	readFile  = ll.AccessFSExecute | ll.AccessFSReadFile
	readDir   = readFile | ll.AccessFSReadDir
	writeFile = readFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	writeDir  = writeFile | readDir | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
)

// devices are the device files that commands may use.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"}

// abi returns the version of landlock that the kernel has, 0 for none.
func abi() int {
	n, err := ll.LandlockGetABIVersion()
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// apply restricts this thread and all that it will start, for good. The other
// threads of the keeper stay as they are: the kernel gives each thread a domain
// of its own, and from another one they could not end the command. So the
// command must not get at the keeper's memory.
func (r *restrict) apply() error {
	if r.ABI < 1 {
		return fmt.Errorf("restricting the command: landlock has no version %d", r.ABI)
	}
	if err := Shield(); err != nil {
		return fmt.Errorf("shielding the keeper: %w", err)
	}
	if err := mask(r.Mask); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	config := versions[min(r.ABI, len(versions)-1)]
	if err := enforce(landlock.Config{HandledAccessFS: config.HandledAccessFS, Scoped: config.Scoped}, r.rules(config)); err != nil {
		return fmt.Errorf("restricting the command by landlock: %w", err)
	}
	if err := filter(r.ABI); err != nil {
		return err
	}
	return dropCapabilities()
}

// rules are what the command may do.
func (r *restrict) rules(config landlock.Config) []landlock.Rule {
	var rules []landlock.Rule
	add := func(paths []string, file, dir landlock.AccessFSSet) {
		for _, path := range paths {
			if rule, ok := rule(config, path, file, dir, r.ABI); ok {
				rules = append(rules, rule)
			}
		}
	}
	add(r.Read, readFile, readDir)
	add(r.List, 0, ll.AccessFSReadDir)
	add(r.Write, writeFile, writeDir)
	add(devices, writeFile|ll.AccessFSIoctlDev, writeDir|ll.AccessFSIoctlDev)
	return rules
}

// enforce restricts this thread.
func enforce(config landlock.Config, rules []landlock.Rule) error {
	fd, flags, err := config.NewRulesetFD(rules...)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return os.NewSyscallError("landlock_restrict_self", ll.LandlockRestrictSelf(fd, flags))
}

// rule grants rights to a path, those for files or those for directories. A
// path that has gone needs none.
func rule(c landlock.Config, path string, file, dir landlock.AccessFSSet, abi int) (landlock.Rule, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false
	}
	rights := file
	if info.IsDir() {
		rights = dir
	}
	handled := c.HandledAccessFS
	if abi >= abiRefer {
		handled |= ll.AccessFSRefer
	}
	if rights &= handled; rights == 0 {
		return nil, false
	}
	return landlock.PathAccess(rights, path).IgnoreIfMissing(), true
}

// mask covers what must not be seen by empty mounts. The process was started
// in a mount namespace of its own; landlock then keeps the command from
// changing mounts.
func mask(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keeping the mounts to itself: %w", err)
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		switch {
		case err != nil: // it has gone
			continue
		case info.IsDir():
			err = unix.Mount("none", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=4k,mode=555")
		default:
			err = unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("hiding %s from the command: %w", path, err)
		}
	}
	return nil
}

// dropCapabilities takes from this thread, and so from what it starts, what
// root can do beyond its own files, and what masking needed.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping ambient capabilities: %w", err)
	}
	for c := uintptr(0); c < 64; c++ {
		if unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) != nil {
			break // the kernel knows no more, or we may not, and then have none
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}
