package fs

import (
	"hash/maphash"
	"sync"

	"parley/tools"
)

// Options say how the file tools work. The zero value is fit for use.
type Options struct {
	// Ctags is the universal-ctags that outlines languages parley cannot read
	// itself. "" means the first of universal-ctags and ctags that the search
	// path knows, if any.
	Ctags string
}

// How much a model is given and how much is looked at for it. What is beyond is
// named in the result, with the way to get it.
const (
	maxResult  = 40_000   // bytes of a result
	maxLine    = 2_000    // bytes of a line of a file
	maxHit     = 300      // bytes of a line that was found
	maxEdit    = 10 << 20 // bytes of a file that is edited
	maxSearch  = 10 << 20 // bytes of a file that is searched among others
	maxAlone   = 64 << 20 // bytes of a file that is searched by itself
	maxOutline = 2 << 20  // bytes of a file that is outlined
	maxEntries = 20_000   // names of one directory that are read
	maxSeen    = 500_000  // files and directories that one call looks at
	maxDepth   = 64       // directories below one another
	headBytes  = 8_000    // of a file, by which binary ones are known
)

// Tools returns the file tools.
func Tools(o Options) []tools.Tool {
	w := &workshop{seed: maphash.MakeSeed()}
	return []tools.Tool{
		listFiles(), readFile(), searchFile(), grepFiles(), outlineFile(o.Ctags),
		writeFile(w), editFile(w), insertAtLine(w), replaceLines(w),
	}
}

// workshop keeps two calls from changing one file at the same time: each would
// undo what the other did.
type workshop struct {
	seed  maphash.Seed
	locks [32]sync.Mutex // by path
}

// lock waits until nobody else changes the file. Two paths may share a lock;
// that costs a little time and nothing else.
func (w *workshop) lock(path string) (unlock func()) {
	m := &w.locks[maphash.String(w.seed, path)%uint64(len(w.locks))]
	m.Lock()
	return m.Unlock
}
