package storagetest

import (
	"fmt"

	"parley/storage"
)

// tableTrials are what holds of rows.
var tableTrials = []trial{
	{"a row that nobody has written is not found", func(k *kit) {
		_, err := k.Store.Get(k.Context(), "t", "r")
		k.is(err, storage.ErrNotFound, "getting")
		k.equal(k.keys("t", "", "", 9), "", "keys")
	}},
	{"revisions count from 1", func(k *kit) {
		for rev := range uint64(3) {
			k.apply(storage.Put{Table: "t", Key: "r", Value: []byte{byte(rev)}, Rev: storage.AnyRev})
			k.equal(k.row("t", "r").Rev, rev+1, "revision")
		}
		k.reopen()
		k.equal(k.row("t", "r").Rev, uint64(3), "revision")
	}},
	{"NewRev wants no row", func(k *kit) {
		k.apply(storage.Put{Table: "t", Key: "r", Rev: storage.NewRev, ID: "x"})
		k.conflict(storage.Put{Table: "t", Key: "r", Rev: storage.NewRev, ID: "y"})
	}},
	{"a revision has to be the row's", func(k *kit) {
		k.conflict(storage.Put{Table: "t", Key: "r", Rev: 1, ID: "x"})
		k.apply(storage.Put{Table: "t", Key: "r", Rev: storage.AnyRev})
		k.conflict(storage.Put{Table: "t", Key: "r", Rev: 2, ID: "x"})
		k.apply(storage.Put{Table: "t", Key: "r", Value: []byte("v"), Rev: 1, ID: "x"})
		k.conflict(storage.Put{Table: "t", Key: "r", Rev: 1, ID: "y"})
		k.equal(string(k.row("t", "r").Value), "v", "value")
	}},
	{"a Put that stands succeeds and changes nothing", func(k *kit) {
		for range 2 {
			k.apply(storage.Put{Table: "t", Key: "r", Rev: storage.NewRev, ID: "x"})
			k.equal(k.row("t", "r").Rev, uint64(1), "revision")
		}
		for range 2 {
			k.apply(storage.Put{Table: "t", Key: "r", Rev: 1, ID: "x"})
			k.equal(k.row("t", "r").Rev, uint64(2), "revision")
		}
		for range 2 {
			k.apply(storage.Put{Table: "t", Key: "r", Rev: storage.AnyRev, ID: "z"})
			k.equal(k.row("t", "r").Rev, uint64(3), "revision")
		}
		k.conflict(storage.Put{Table: "t", Key: "r", Rev: 1, ID: "x"})
	}},
	{"Delete removes", func(k *kit) {
		k.apply(storage.Delete{Table: "t", Key: "r", Rev: storage.AnyRev})
		k.apply(storage.Put{Table: "t", Key: "r", Rev: storage.AnyRev})
		k.apply(storage.Delete{Table: "t", Key: "r", Rev: storage.AnyRev})
		k.equal(k.row("t", "r").Rev, storage.NewRev, "revision")
		k.apply(storage.Put{Table: "t", Key: "r", Rev: storage.NewRev, ID: "x"})
		k.equal(k.row("t", "r").Rev, uint64(1), "revision of the row's second life")
	}},
	{"a conditional Delete wants the revision, of an existing row", func(k *kit) {
		k.apply(storage.Put{Table: "t", Key: "r", Rev: storage.AnyRev})
		k.conflict(storage.Delete{Table: "t", Key: "r", Rev: 2})
		k.conflict(storage.Delete{Table: "t", Key: "r", Rev: storage.NewRev})
		for range 2 {
			k.apply(storage.Delete{Table: "t", Key: "r", Rev: 1})
		}
	}},
	{"List goes by key, prefix, after and limit", func(k *kit) {
		for _, key := range []string{"b", "a", "ab", "abc", "ac", "\x00", "a\x00", "z\xff", "ä"} {
			k.apply(storage.Put{Table: "t", Key: key, Value: []byte("of " + key), Rev: storage.AnyRev},
				storage.Put{Table: "u", Key: key, Rev: storage.AnyRev}, storage.Put{Table: "\x01t", Key: key, Rev: storage.AnyRev})
		}
		k.equal(k.keys("t", "", "", 99), "\x00 a a\x00 ab abc ac b z\xff ä", "all")
		k.equal(k.keys("t", "a", "", 99), "a a\x00 ab abc ac", "prefix")
		k.equal(k.keys("t", "a", "ab", 99), "abc ac", "after")
		k.equal(k.keys("t", "a", "aba", 1), "abc", "after and limit")
		k.equal(k.keys("t", "b", "a", 9), "b", "after before prefix")
		k.equal(k.keys("t", "a", "b", 9), "", "after behind prefix")
		k.equal(k.keys("t", "", "", 0), "", "limit 0")
	}},
	{"what is read is a copy", func(k *kit) {
		value := []byte("value")
		k.apply(storage.Put{Table: "t", Key: "r", Value: value, Rev: storage.AnyRev})
		value[0] = 'X'
		for range 2 {
			row := k.row("t", "r")
			k.equal(string(row.Value), "value", "value")
			row.Value[0] = 'X'
		}
	}},
	{"Typed rows", func(k *kit) {
		type pet struct{ Legs int }
		pets := storage.Typed[pet]("pets")
		v, rev, err := pets.Get(k.Context(), k.Store, "cat")
		k.noError(err, "getting")
		k.equal(fmt.Sprint(v, rev), "{0} 0", "absent")
		k.apply(pets.Swap("cat", pet{4}, rev, "x"))
		k.conflict(pets.Swap("cat", pet{5}, rev, "y"))
		k.apply(pets.Set("bird", pet{2}))
		all, err := pets.All(k.Context(), k.Store, "")
		k.noError(err, "listing")
		k.equal(fmt.Sprint(all), "map[bird:{2} cat:{4}]", "all")
	}},
}

// keys returns the keys that List finds.
func (k *kit) keys(table, prefix, after string, limit int) string {
	k.Helper()
	rows, err := k.Store.List(k.Context(), table, prefix, after, limit)
	k.noError(err, "listing")
	items := make([]storage.Item, len(rows))
	for i, row := range rows {
		items[i].ID = row.Key
	}
	return ids(items)
}
