package shell

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arches are the processors whose system calls a filter can be written for.
var arches = map[string]uint32{
	"amd64":   unix.AUDIT_ARCH_X86_64,
	"arm64":   unix.AUDIT_ARCH_AARCH64,
	"riscv64": unix.AUDIT_ARCH_RISCV64,
}

// ioURingSetup has this number everywhere.
const ioURingSetup = 425

// x32 marks the calls of a second set on amd64.
const x32 = 0x40000000

// filterable says why an old landlock cannot be completed by a filter here, ""
// if it can or needs none.
func filterable(abi int) string {
	if _, ok := arches[runtime.GOARCH]; !ok && abi < abiSockets {
		return "this kernel's landlock does not know unix sockets, and parley has no filter for this processor"
	}
	return ""
}

// filter refuses this thread, and what it starts, the system calls that landlock of this version lets through:
// making unix sockets, by which the command could talk to services that act on
// its behalf, and below version 3 truncating a file by its name.
func filter(abi int) error {
	if abi >= abiSockets {
		return nil
	}
	program := program(abi)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if e != 0 {
		return fmt.Errorf("filtering the command's system calls: %w", e)
	}
	return nil
}

// program is the filter. The kernel gives it the number of the call at offset
// 0, the processor at 4 and the first argument at 16.
func program(abi int) []unix.SockFilter {
	const (
		load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		eq   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		ge   = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret  = unix.BPF_RET | unix.BPF_K
		no   = unix.SECCOMP_RET_ERRNO
	)
	truncate := uint32(unix.SYS_TRUNCATE)
	if abi >= abiTruncate {
		truncate = ioURingSetup // landlock does it
	}
	return []unix.SockFilter{
		{Code: load, K: 4},
		{Code: eq, K: arches[runtime.GOARCH], Jt: 1},
		{Code: ret, K: no | uint32(unix.EPERM)}, // programs for another processor
		{Code: load, K: 0},
		{Code: ge, K: x32, Jf: 1},
		{Code: ret, K: no | uint32(unix.ENOSYS)},
		{Code: eq, K: ioURingSetup, Jf: 1}, // it makes sockets too
		{Code: ret, K: no | uint32(unix.ENOSYS)},
		{Code: eq, K: truncate, Jf: 1},
		{Code: ret, K: no | uint32(unix.EACCES)},
		{Code: eq, K: unix.SYS_SOCKET, Jf: 3},
		{Code: load, K: 16},
		{Code: eq, K: unix.AF_UNIX, Jf: 1},
		{Code: ret, K: no | uint32(unix.EACCES)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	}
}
