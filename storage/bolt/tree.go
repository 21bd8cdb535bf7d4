package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"time"
)

// The parts of the B+tree file's format that an inspection needs. Numbers are
// in the machine's byte order, offsets in bytes.
//
//	page     id 8, flags 2, count 2, overflow 4, then count elements
//	branch   position 4, key size 4, page 8
//	leaf     flags 4, position 4, key size 4, value size 4
//	bucket   root page 8, sequence 8, then, if root is 0, the only page itself
//	meta     magic 4, version 4, page size 4, flags 4, root 8, sequence 8,
//	         free list 8, end 8, commit 8, checksum 8
const (
	headerSize  = 16
	elementSize = 16
	metaSize    = 64
	bucketSize  = 16

	branchPage = 0x01
	leafPage   = 0x02
	freePage   = 0x10

	bucketElement = 0x01

	magic  = 0xED0CDAED
	format = 2

	// maxDepth is more than a tree of any size has.
	maxDepth = 48
)

// order is that of the machine, as the format has it.
var order = binary.NativeEndian

// tree inspects a file from outside, with plain reads. It enters each page at
// most once, so it ends whatever the pages say.
//
// The B+tree code cannot be asked for this. It maps the file and follows
// pointers: a page number behind the end is a memory fault, nonsense in a page
// is a panic at best, and a branch that leads back to itself is a recursion
// that takes the whole process down when the stack is full. Of all that it
// notices only a meta page with a wrong checksum.
type tree struct {
	file *os.File
	stat os.FileInfo
	size int64

	pageSize int
	root     uint64
	free     uint64
	end      uint64   // the number of pages
	taken    []uint64 // a bit for each page that is accounted for
	spare    [][]byte // pages that are done with
}

// newTree opens a file for inspection.
func newTree(path string) (*tree, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	stat, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &tree{file: f, stat: stat, size: stat.Size()}, nil
}

// close ends the inspection.
func (t *tree) close() { _ = t.file.Close() }

// changed returns when the file was last written to.
func (t *tree) changed() time.Time { return t.stat.ModTime() }

// checkTop checks what every open relies on: the meta pages, the size, the
// free list, the root with its buckets, and the first page of each bucket.
func (t *tree) checkTop() error { return t.check(false) }

// checkAll checks every page that can be reached, and that none is reached
// twice or is free.
func (t *tree) checkAll() error { return t.check(true) }

// check goes from the meta pages down. The first fault ends it: there is nothing
// to be repaired, so one is as good as all.
func (t *tree) check(deep bool) error {
	if err := t.readMeta(); err != nil {
		return err
	}
	if need := int64(t.end) * int64(t.pageSize); t.end > uint64(t.size) || need > t.size {
		return fmt.Errorf("%w: it has %d bytes and should have %d or more", ErrDamaged, t.size, t.end*uint64(t.pageSize))
	}
	t.taken = make([]uint64, t.end/64+1)
	t.take(0) // the meta pages
	t.take(1)
	if err := t.checkFree(); err != nil {
		return err
	}
	return t.checkPage(t.root, nil, 0, func(_, v []byte) error { return t.checkBucket(v, deep) })
}

// readMeta finds the newer of the two meta pages that are whole. The second
// lies behind the first page, whose size is in a meta page: try them all.
func (t *tree) readMeta() error {
	var newest uint64
	found := false
	for _, at := range append([]int64{0}, pageSizes()...) {
		m := make([]byte, metaSize)
		if _, err := t.file.ReadAt(m, at+headerSize); err != nil {
			break // behind the end, and so are all that follow
		}
		size := int64(order.Uint32(m[8:]))
		commit := order.Uint64(m[48:])
		switch {
		case order.Uint32(m) != magic || order.Uint32(m[4:]) != format || checksum(m) != order.Uint64(m[56:]):
			continue
		case size < metaSize+headerSize, at != 0 && at != size, found && commit < newest:
			continue
		}
		found, newest = true, commit
		t.pageSize, t.root, t.free, t.end = int(size), order.Uint64(m[16:]), order.Uint64(m[32:]), order.Uint64(m[40:])
	}
	if !found {
		return fmt.Errorf("%w: neither of its two meta pages is whole", ErrDamaged)
	}
	return nil
}

// pageSizes are those that a file may have.
func pageSizes() []int64 {
	var sizes []int64
	for n := int64(1 << 10); n <= 1<<24; n <<= 1 {
		sizes = append(sizes, n)
	}
	return sizes
}

// checksum is what the last field of a meta page has to be.
func checksum(meta []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(meta[:56])
	return h.Sum64()
}

// checkFree takes the free pages, so that one in use is found twice. Such a page
// would be given out again, and the next commit would overwrite what is there.
func (t *tree) checkFree() error {
	const none = ^uint64(0) // a free list that is not kept in the file
	if t.free == none {
		return nil
	}
	p, err := t.page(t.free)
	if err != nil {
		return err
	}
	if p.flags != freePage {
		return p.damaged("is not the free list")
	}
	ids := p.b[headerSize:]
	count := uint64(p.count)
	if count == 0xffff {
		count, ids = order.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return p.damaged("lists %d free pages, more than fit", count)
	}
	for i := range count {
		if id := order.Uint64(ids[8*i:]); !t.take(id) {
			return p.damaged("lists page %d as free, which cannot be", id)
		}
	}
	return nil
}

// checkBucket checks a bucket: deeply all its pages, otherwise its first. A
// small bucket has no page of its own but lies within the element that names
// it; the meta bucket always does, and is thus checked with the root.
func (t *tree) checkBucket(v []byte, deep bool) error {
	if len(v) < bucketSize {
		return fmt.Errorf("%w: a bucket has %d bytes", ErrDamaged, len(v))
	}
	root := order.Uint64(v)
	nested := func(_, v []byte) error { return t.checkBucket(v, deep) }
	if root == 0 {
		p := newPage(0, v[bucketSize:])
		return t.checkLeaf(p, nil, nested)
	}
	if deep {
		return t.checkPage(root, nil, 0, nested)
	}
	p, err := t.page(root)
	if err == nil && p.flags != leafPage && p.flags != branchPage {
		err = p.damaged("is not part of a tree")
	}
	return err
}

// checkPage checks a page and all below it; from is the least key it may hold.
// bucket is called for the buckets in it.
func (t *tree) checkPage(id uint64, from []byte, depth int, bucket func(k, v []byte) error) error {
	p, err := t.page(id)
	if err != nil {
		return err
	}
	defer t.done(p)
	switch {
	case p.flags == leafPage:
		return t.checkLeaf(p, from, bucket)
	case p.flags != branchPage:
		return p.damaged("is not part of a tree")
	case p.count == 0 || depth > maxDepth:
		return p.damaged("is a branch that leads nowhere")
	}
	for i := range int(p.count) {
		key, _, err := p.element(i, from)
		if err != nil {
			return err
		}
		if err := t.checkPage(p.child(i), key, depth+1, bucket); err != nil {
			return err
		}
		from = key
	}
	return nil
}

// checkLeaf checks the elements of a leaf, and calls bucket for those that are
// buckets.
func (t *tree) checkLeaf(p page, from []byte, bucket func(k, v []byte) error) error {
	if p.flags != leafPage {
		return p.damaged("is not a leaf")
	}
	for i := range int(p.count) {
		key, value, err := p.element(i, from)
		if err != nil {
			return err
		}
		if i > 0 && bytes.Equal(key, from) {
			return p.damaged("has a key twice")
		}
		if p.flagsOf(i)&bucketElement != 0 {
			if err := bucket(key, value); err != nil {
				return err
			}
		}
		from = key
	}
	return nil
}

// page reads a page with its overflow, and takes it.
func (t *tree) page(id uint64) (page, error) {
	if id < 2 || id >= t.end {
		return page{}, fmt.Errorf("%w: it refers to page %d of %d", ErrDamaged, id, t.end)
	}
	at := int64(id) * int64(t.pageSize)
	b := t.buffer()
	if _, err := t.file.ReadAt(b, at); err != nil {
		return page{}, fmt.Errorf("reading page %d: %w", id, err)
	}
	p := newPage(id, b)
	if order.Uint64(p.b) != id {
		return page{}, p.damaged("says that it is page %d", order.Uint64(p.b))
	}
	last := id + uint64(order.Uint32(p.b[12:]))
	if last >= t.end {
		return page{}, p.damaged("goes on behind the end")
	}
	for n := id; n <= last; n++ {
		if !t.take(n) {
			return page{}, p.damaged("overlaps with page %d, which is free or used elsewhere", n)
		}
	}
	if last == id {
		return p, nil
	}
	b = make([]byte, int64(last-id+1)*int64(t.pageSize))
	if _, err := t.file.ReadAt(b, at); err != nil {
		return page{}, fmt.Errorf("reading page %d: %w", id, err)
	}
	return newPage(id, b), nil
}

// buffer returns room for a page; done takes it back.
func (t *tree) buffer() []byte {
	if n := len(t.spare); n > 0 {
		b := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return b
	}
	return make([]byte, t.pageSize)
}

// done takes back the room of a page, whose keys are no longer needed.
func (t *tree) done(p page) {
	if len(p.b) == t.pageSize {
		t.spare = append(t.spare, p.b)
	}
}

// take accounts for a page, and reports whether that is possible.
func (t *tree) take(id uint64) bool {
	if id >= t.end || t.taken[id/64]&(1<<(id%64)) != 0 {
		return false
	}
	t.taken[id/64] |= 1 << (id % 64)
	return true
}

// page is a page in memory, with whatever overflows it.
type page struct {
	id    uint64
	flags uint16
	count uint16
	b     []byte
}

// newPage takes bytes for a page; too few are one of no kind.
func newPage(id uint64, b []byte) page {
	if len(b) < headerSize {
		return page{id: id}
	}
	return page{id: id, flags: order.Uint16(b[8:]), count: order.Uint16(b[10:]), b: b}
}

// element returns the key, and of a leaf the value, of an element, whose key
// must not be less than from. They are part of the page.
func (p page) element(i int, from []byte) (key, value []byte, err error) {
	start := headerSize + elementSize*i
	if start+elementSize > len(p.b) {
		return nil, nil, p.damaged("has %d elements, more than fit", p.count)
	}
	e := p.b[start:]
	var pos, keySize, valueSize uint64
	if p.flags == branchPage {
		pos, keySize = uint64(order.Uint32(e)), uint64(order.Uint32(e[4:]))
	} else {
		pos, keySize, valueSize = uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
	}
	if keySize == 0 || pos+keySize+valueSize > uint64(len(e)) {
		return nil, nil, p.damaged("has an element that lies outside")
	}
	key, value = e[pos:pos+keySize], e[pos+keySize:pos+keySize+valueSize]
	if bytes.Compare(key, from) < 0 {
		return nil, nil, p.damaged("has its keys out of order")
	}
	return key, value, nil
}

// child returns where a branch leads. It reads an element that has been
// checked, as flagsOf does.
func (p page) child(i int) uint64 { return order.Uint64(p.b[headerSize+elementSize*i+8:]) }

// flagsOf returns what kind of element a leaf has at i.
func (p page) flagsOf(i int) uint32 { return order.Uint32(p.b[headerSize+elementSize*i:]) }

// damaged words a fault of the page.
func (p page) damaged(format string, a ...any) error {
	return fmt.Errorf("%w: page %d %s", ErrDamaged, p.id, fmt.Sprintf(format, a...))
}
