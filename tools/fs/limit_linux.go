package fs

import "golang.org/x/sys/unix"

// limit bounds what a child may use, also if parley is gone by then. Where the
// system does not let us, its time and its output are bounded all the same.
func limit(pid int) {
	for what, most := range map[int]uint64{
		unix.RLIMIT_CPU:    10,
		unix.RLIMIT_AS:     1 << 30,
		unix.RLIMIT_FSIZE:  16 << 20,
		unix.RLIMIT_CORE:   0,
		unix.RLIMIT_NOFILE: 64,
	} {
		_ = unix.Prlimit(pid, what, &unix.Rlimit{Cur: most, Max: most}, nil) // it may have ended already
	}
}
