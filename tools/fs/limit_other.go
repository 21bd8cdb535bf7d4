//go:build !linux

package fs

// limit does nothing where a process cannot bound another.
func limit(int) {}
