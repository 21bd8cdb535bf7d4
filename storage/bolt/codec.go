package bolt

import (
	"encoding/binary"
	"fmt"
	"time"
)

// zeroTime is what a time is that is not there.
var zeroTime time.Time

// join makes a key of names: all but the last carry their length in front, so
// that two different lists never give the same key and the keys that share
// their first names lie together, in order of the last.
func join(names ...string) []byte {
	b := make([]byte, 0, 64)
	for _, n := range names[:len(names)-1] {
		b = appendString(b, n)
	}
	return append(b, names[len(names)-1]...)
}

// within is what all keys that begin with the given names have in common.
func within(names ...string) []byte {
	return join(append(names, "")...)
}

// appendUint64 adds a number that sorts as a number.
func appendUint64(b []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(b, n)
}

// appendString adds a string with its length in front, so that more may follow.
func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendTime adds a moment: a flag, and unless it is the zero time its seconds
// and nanoseconds, which reach further than nanoseconds alone.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	b = binary.AppendVarint(append(b, 1), t.Unix())
	return binary.AppendUvarint(b, uint64(t.Nanosecond()))
}

// decoder takes a value apart again. What it returns is copied. After the
// first thing that is not there it returns zero values, and err tells.
type decoder struct {
	b     []byte
	short bool
}

// take returns the next n bytes without copying them.
func (d *decoder) take(n uint64) []byte {
	if d.short || n > uint64(len(d.b)) {
		d.short = true
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// byte reads a flag or a code.
func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

// uint64 reads what appendUint64 has written.
func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// uvarint reads a number of one to ten bytes. Unlike those of keys it does not
// sort, and small ones, as most are, take little room.
func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.short = true
		return 0
	}
	d.take(uint64(size))
	return n
}

// varint reads a number that may be negative.
func (d *decoder) varint() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.short = true
		return 0
	}
	d.take(uint64(size))
	return n
}

// string reads what appendString has written.
func (d *decoder) string() string { return string(d.take(d.uvarint())) }

// time reads what appendTime has written. It comes back in UTC, to the
// nanosecond, without the monotonic part that only this process could read.
func (d *decoder) time() time.Time {
	if d.byte() == 0 {
		return time.Time{}
	}
	sec := d.varint()
	return time.Unix(sec, int64(d.uvarint())).UTC()
}

// rest returns what is left; nothing is nil.
func (d *decoder) rest() []byte {
	return append([]byte(nil), d.take(uint64(len(d.b)))...)
}

// err reports a value that ended too early, which is a damaged one.
func (d *decoder) err(what string, names ...string) error {
	if !d.short {
		return nil
	}
	return fmt.Errorf("decoding %s %q: %w", what, names, ErrDamaged)
}
