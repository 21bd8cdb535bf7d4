package fs

import (
	"os"

	"golang.org/x/sys/unix"
)

// generated reports whether a file lies on a file system that the kernel makes
// up: /proc and its like, wherever they are mounted. Reading such a file can
// wait for ever, has no end, or gives away the environment of parley.
func generated(f *os.File) bool {
	var at unix.Statfs_t
	conn, err := f.SyscallConn()
	if err != nil {
		return true
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = unix.Fstatfs(int(fd), &at) }); err != nil || failed != nil {
		return failed != unix.ENOSYS
	}
	switch uint32(at.Type) {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC,
		unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC, unix.BPF_FS_MAGIC,
		unix.NSFS_MAGIC, unix.SELINUX_MAGIC, unix.DEVPTS_SUPER_MAGIC:
		return true
	default:
		return false
	}
}
