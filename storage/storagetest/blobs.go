package storagetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing/iotest"
	"time"

	"parley/storage"
)

// blobTrials are what holds of blobs and of the references that keep them.
var blobTrials = []trial{
	{"the id is the content's hash", func(k *kit) {
		for _, content := range []string{"", "hello", strings.Repeat("long", 50_000)} {
			hash := sha256.Sum256([]byte(content))
			info := k.putBlob(content)
			k.equal(info, storage.BlobInfo{ID: "sha256-" + hex.EncodeToString(hash[:]), Size: int64(len(content))}, "info")
			k.equal(k.putBlob(content), info, "info the second time")
			k.reopen()
			k.equal(k.blob(info.ID), content, "content")
		}
	}},
	{"a blob can be sought in", func(k *kit) {
		r, info, err := k.Store.OpenBlob(k.Context(), k.putBlob("hello").ID)
		k.noError(err, "opening")
		k.equal(info.Size, int64(5), "size")
		_, err = r.Seek(3, io.SeekStart)
		k.noError(err, "seeking")
		rest, err := io.ReadAll(r)
		k.noError(err, "reading")
		k.equal(string(rest), "lo", "rest")
		k.noError(r.Close(), "closing")
	}},
	{"the limit holds and is positive", func(k *kit) {
		info, err := k.Store.PutBlob(k.Context(), strings.NewReader("hello"), 5)
		k.noError(err, "putting as much as is allowed")
		_, err = k.Store.PutBlob(k.Context(), strings.NewReader("hello!"), 5)
		k.is(err, storage.ErrTooLarge, "putting more")
		for _, limit := range []int64{0, -1} {
			if _, err := k.Store.PutBlob(k.Context(), strings.NewReader(""), limit); err == nil {
				k.Fatalf("limit %d: no error", limit)
			}
		}
		k.equal(k.blob(info.ID), "hello", "content")
	}},
	{"what cannot be read is not kept", func(k *kit) {
		broken := errors.New("broken")
		_, err := k.Store.PutBlob(k.Context(), io.MultiReader(strings.NewReader("hello"), iotest.ErrReader(broken)), 100)
		k.is(err, broken, "putting")
		ctx, cancel := context.WithCancel(k.Context())
		cancel()
		_, err = k.Store.PutBlob(ctx, strings.NewReader("hello"), 100)
		k.is(err, context.Canceled, "putting")
		hash := sha256.Sum256([]byte("hello"))
		k.equal(k.blob("sha256-"+hex.EncodeToString(hash[:])), "-", "blob")
	}},
	{"an unknown or impossible id is not found", func(k *kit) {
		for _, id := range []string{"", "sha256-", "sha256-" + strings.Repeat("0", 64), "../../etc/passwd",
			"sha256-../../../../../../../../../../etc/passwd", "sha256-" + strings.Repeat("A", 64), "sha256-" + strings.Repeat("0", 64) + "/x"} {
			_, _, err := k.Store.OpenBlob(k.Context(), id)
			k.is(err, storage.ErrNotFound, "opening "+id)
		}
	}},
	{"what nobody refers to is swept after KeepBlobs", func(k *kit) {
		id := k.putBlob("hello").ID
		k.Clock.Move(storage.KeepBlobs)
		k.sweep()
		k.equal(k.blob(id), "hello", "blob")
		k.Clock.Move(time.Second)
		k.sweep()
		k.equal(k.blob(id), "-", "blob")
		k.equal(k.putBlob("hello").ID, id, "id of the same content")
		k.equal(k.blob(id), "hello", "blob")
	}},
	{"putting it again starts the time anew", func(k *kit) {
		id := k.putBlob("hello").ID
		k.Clock.Move(storage.KeepBlobs - time.Hour)
		k.putBlob("hello")
		k.Clock.Move(storage.KeepBlobs - time.Hour)
		k.sweep()
		k.equal(k.blob(id), "hello", "blob")
	}},
	{"a reference keeps it, until the owner lets go", func(k *kit) {
		id := k.putBlob("hello").ID
		k.apply(storage.Refer{Blob: id, Owner: "o"}, storage.Refer{Blob: id, Owner: "o"}, storage.Refer{Blob: id, Owner: "p"})
		k.Clock.Move(2 * storage.KeepBlobs)
		k.sweep()
		k.apply(storage.Unrefer{Owner: "o"})
		k.Clock.Move(2 * storage.KeepBlobs)
		k.sweep()
		k.equal(k.blob(id), "hello", "blob with one owner left")
		k.apply(storage.Unrefer{Owner: "p"}, storage.Unrefer{Owner: "nobody"})
		k.sweep()
		k.Clock.Move(storage.KeepBlobs)
		k.sweep()
		k.equal(k.blob(id), "hello", "blob within KeepBlobs of the last owner")
		k.Clock.Move(time.Second)
		k.sweep()
		k.equal(k.blob(id), "-", "blob")
	}},
	{"Unrefer ends all references of the owner", func(k *kit) {
		a, b := k.putBlob("a").ID, k.putBlob("b").ID
		k.apply(storage.Refer{Blob: a, Owner: "o"}, storage.Refer{Blob: b, Owner: "o"})
		k.apply(storage.Unrefer{Owner: "o"})
		k.Clock.Move(storage.KeepBlobs + time.Second)
		k.sweep()
		k.equal(k.blob(a)+k.blob(b), "--", "blobs")
	}},
	{"a reference may come before its blob", func(k *kit) {
		hash := sha256.Sum256([]byte("hello"))
		id := "sha256-" + hex.EncodeToString(hash[:])
		k.apply(storage.Refer{Blob: id, Owner: "o"})
		k.putBlob("hello")
		k.Clock.Move(2 * storage.KeepBlobs)
		k.sweep()
		k.equal(k.blob(id), "hello", "blob")
	}},
}
