package bolt

import (
	"encoding/hex"
	"fmt"
	"strings"

	"parley/storage"
)

// maxName is the longest name, key or id, in bytes. A key of the file may have
// 32 KiB and the longest holds two of them. Any bytes may occur in it.
const maxName = 8 << 10

// check says which rule of the contract a batch breaks. It looks at the batch
// alone, before anything is queued: what passes can fail only by a conflict or
// by the disk.
func check(ops []storage.Op) error {
	conditional := -1
	for i, o := range ops {
		if err := checkOp(o); err != nil {
			return fmt.Errorf("op %d (%T): %w", i, o, err)
		}
		if !storage.Conditional(o) {
			continue
		}
		if conditional >= 0 {
			return fmt.Errorf("ops %d and %d are both conditional; a batch may have one", conditional, i)
		}
		conditional = i
	}
	return nil
}

// checkOp names what is wrong with one op. What an op refers to, a row, an item,
// a blob, need not exist; that is no rule.
func checkOp(o storage.Op) error {
	switch o := o.(type) {
	case storage.Append:
		return checkAppend(o)
	case storage.Trim:
		return checkNames("stream", o.Stream)
	case storage.Put:
		if o.Rev != storage.AnyRev && o.ID == "" {
			return fmt.Errorf("a conditional put needs an id")
		}
		return checkNames("table", o.Table, "key", o.Key, "?id", o.ID)
	case storage.Delete:
		return checkNames("table", o.Table, "key", o.Key)
	case storage.Enqueue:
		return checkNames("queue", o.Queue, "id", o.ID, "?key", o.Key, "?lane", o.Lane)
	case storage.Update:
		return checkNames("queue", o.Queue, "id", o.ID)
	case storage.Finish:
		return checkNames("queue", o.Queue, "id", o.ID)
	case storage.Retry:
		return checkNames("queue", o.Queue, "id", o.ID)
	case storage.Bury:
		return checkNames("queue", o.Queue, "id", o.ID)
	case storage.Revive:
		return checkNames("queue", o.Queue, "id", o.ID)
	case storage.Drop:
		return checkNames("queue", o.Queue, "id", o.ID)
	case storage.Refer:
		if err := checkBlob(o.Blob); err != nil {
			return err
		}
		return checkNames("owner", o.Owner)
	case storage.Unrefer:
		return checkNames("owner", o.Owner)
	default:
		return fmt.Errorf("not an op of package storage; ops are its struct values")
	}
}

// checkAppend refuses an id that is there twice, unless the second one would be
// passed over as known.
func checkAppend(o storage.Append) error {
	if err := checkNames("stream", o.Stream); err != nil {
		return err
	}
	seen := make(map[string]bool, len(o.Entries))
	for _, e := range o.Entries {
		if err := checkNames("entry id", e.ID); err != nil {
			return err
		}
		if seen[e.ID] && o.After != storage.Anywhere {
			return fmt.Errorf("entry id %q is there twice", e.ID)
		}
		seen[e.ID] = true
	}
	return nil
}

// checkNames takes pairs of what a name is and the name; where the former
// begins with "?" the latter may be empty.
func checkNames(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		what, optional := strings.CutPrefix(pairs[i], "?")
		switch name := pairs[i+1]; {
		case name == "" && !optional:
			return fmt.Errorf("%s is empty", what)
		case len(name) > maxName:
			return fmt.Errorf("%s %.40q… has %d bytes; at most %d are possible", what, name, len(name), maxName)
		}
	}
	return nil
}

// blobPrefix begins every blob id; what follows is the hash in hex.
const blobPrefix = "sha256-"

// checkBlob accepts exactly the ids that PutBlob gives out. Since an id becomes
// a file's name, this is also what keeps a caller inside the directory.
func checkBlob(id string) error {
	hash, found := strings.CutPrefix(id, blobPrefix)
	if raw, err := hex.DecodeString(hash); !found || err != nil || len(raw) != 32 || strings.ToLower(hash) != hash {
		return fmt.Errorf("blob id %.80q is not %q and 64 hex digits", id, blobPrefix)
	}
	return nil
}
