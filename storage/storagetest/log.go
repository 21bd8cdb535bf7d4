package storagetest

import (
	"fmt"

	"parley/storage"
)

// logTrials are what holds of streams.
var logTrials = []trial{
	{"a stream that nobody has written is empty", func(k *kit) {
		k.equal(k.stream("s"), "", "stream")
		k.equal(k.tail("s", 3), "", "tail")
	}},
	{"numbers are gapless and begin at 1", func(k *kit) {
		k.apply(storage.Append{Stream: "s", After: 0, Entries: entries("a", "b")})
		k.apply(storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("c")})
		k.apply(storage.Append{Stream: "s", After: 3, Entries: entries("d")})
		k.reopen()
		k.apply(storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("e")})
		k.equal(k.stream("s"), "a b c d e", "stream")
	}},
	{"After must be the last number", func(k *kit) {
		k.conflict(storage.Append{Stream: "s", After: 1, Entries: entries("a")})
		k.apply(storage.Append{Stream: "s", After: 0, Entries: entries("a")})
		k.conflict(storage.Append{Stream: "s", After: 0, Entries: entries("b")})
		k.conflict(storage.Append{Stream: "s", After: 2, Entries: entries("b")})
		k.equal(k.stream("s"), "a", "stream")
	}},
	{"a conditional append that stands succeeds", func(k *kit) {
		again := storage.Append{Stream: "s", After: 1, Entries: entries("b", "c")}
		k.apply(storage.Append{Stream: "s", After: 0, Entries: entries("a")})
		k.apply(again)
		k.apply(again)
		k.apply(storage.Append{Stream: "s", After: 3, Entries: entries("d")})
		k.apply(again)
		k.equal(k.stream("s"), "a b c d", "stream")
	}},
	{"one that stands in part conflicts", func(k *kit) {
		k.apply(storage.Append{Stream: "s", After: 0, Entries: entries("a", "b")})
		k.conflict(storage.Append{Stream: "s", After: 0, Entries: entries("a", "c")})
		k.conflict(storage.Append{Stream: "s", After: 0, Entries: entries("a", "b", "c")})
	}},
	{"an append of nothing asks where the stream ends", func(k *kit) {
		k.apply(storage.Append{Stream: "s", After: 0, Entries: entries("a")})
		k.apply(storage.Append{Stream: "s", After: 1})
		k.conflict(storage.Append{Stream: "s", After: 0})
	}},
	{"Anywhere passes over what is known", func(k *kit) {
		k.apply(storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("a", "b", "a")})
		k.apply(storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("b", "c")})
		k.apply(storage.Append{Stream: "other", After: storage.Anywhere, Entries: entries("b")})
		k.equal(k.stream("s"), "a b c", "stream")
		k.equal(k.stream("other"), "b", "other stream")
	}},
	{"ids are known for KeepFinished", func(k *kit) {
		k.apply(storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("a")})
		k.Clock.Move(storage.KeepFinished)
		k.sweep()
		k.reopen()
		k.apply(storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("a")})
		k.equal(k.stream("s"), "a", "stream")
	}},
	{"records are read from a number on, up to a limit", func(k *kit) {
		k.apply(storage.Append{Stream: "s", After: 0, Entries: entries("a", "b", "c", "d")})
		for want, at := range map[string][2]int{"a b": {0, 2}, "b c d": {2, 9}, "d": {4, 9}, "": {5, 9}} {
			records, err := k.Store.Read(k.Context(), "s", uint64(at[0]), at[1])
			k.noError(err, "reading")
			k.equal(recordIDs(records), want, fmt.Sprint("records ", at))
		}
		records, err := k.Store.Read(k.Context(), "s", storage.Anywhere, 9)
		k.noError(err, "reading")
		k.equal(len(records), 0, "records at the end of numbers")
	}},
	{"the tail is in order", func(k *kit) {
		k.apply(storage.Append{Stream: "r", After: 0, Entries: entries("x")},
			storage.Append{Stream: "s", After: storage.Anywhere, Entries: entries("a", "b", "c")},
			storage.Append{Stream: "t", After: storage.Anywhere, Entries: entries("y")})
		for n, want := range []string{"", "c", "b c", "a b c", "a b c"} {
			k.equal(k.tail("s", n), want, fmt.Sprint("tail ", n))
		}
	}},
	{"a stream is trimmed from its beginning, and its numbers go on", func(k *kit) {
		k.apply(storage.Append{Stream: "s", After: 0, Entries: entries("a", "b", "c")},
			storage.Append{Stream: "t", After: storage.Anywhere, Entries: entries("other")})
		k.apply(storage.Trim{Stream: "s", Through: 1})
		k.equal(k.tail("s", 99), "b c", "stream")
		k.apply(storage.Trim{Stream: "s", Through: 9}, storage.Trim{Stream: "s", Through: 1}, storage.Trim{Stream: "none", Through: 5})
		k.reopen()
		k.equal(k.tail("s", 99), "c", "stream")
		k.apply(storage.Append{Stream: "s", After: 3, Entries: entries("d")})
		k.equal(k.tail("s", 99), "c d", "stream")
		k.equal(k.stream("t"), "other", "stream")
		k.conflict(storage.Append{Stream: "s", After: 0, Entries: entries("a", "b", "c")})
	}},
	{"streams do not meet, whatever their names", func(k *kit) {
		names := []string{"a", "ab", "a\x00", "a\x00b", "\x00", "\x01a", "ä", "a/b"}
		for _, name := range names {
			k.apply(storage.Append{Stream: name, After: 0, Entries: entries("in " + name)})
		}
		for _, name := range names {
			k.equal(k.stream(name), "in "+name, "stream")
			k.equal(k.tail(name, 5), "in "+name, "tail")
		}
	}},
	{"what is read is a copy", func(k *kit) {
		data := []byte("data")
		k.apply(storage.Append{Stream: "s", After: 0, Entries: []storage.Entry{{ID: "a", Data: data}}})
		data[0] = 'X'
		for range 2 {
			records, err := k.Store.Read(k.Context(), "s", 1, 1)
			k.noError(err, "reading")
			k.equal(string(records[0].Data), "data", "data")
			records[0].Data[0] = 'X'
		}
	}},
}

// tail returns the last ids of a stream.
func (k *kit) tail(stream string, n int) string {
	k.Helper()
	records, err := k.Store.Tail(k.Context(), stream, n)
	k.noError(err, "reading the tail")
	return recordIDs(records)
}

// recordIDs writes out the ids of records with spaces between them.
func recordIDs(records []storage.Record) string {
	items := make([]storage.Item, len(records))
	for i, r := range records {
		items[i].ID = r.ID
	}
	return ids(items)
}
