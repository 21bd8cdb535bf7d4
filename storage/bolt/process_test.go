package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/storage"
	"parley/storage/bolt"
)

// The test binary plays these parts when it is started with the variables set.
const (
	roleVariable = "PARLEY_BOLT_ROLE"
	pathVariable = "PARLEY_BOLT_PATH"
)

var roles = map[string]func(path string) int{"open": openRole, "write": writeRole, "full": fullRole}

// process prepares the test binary to play a part.
func process(t *testing.T, binary, role, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), roleVariable+"="+role, pathVariable+"="+path)
	return cmd
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// openRole opens the store and says what came of it.
func openRole(path string) int {
	db, err := bolt.Open(path, bolt.Options{Timeout: 50 * time.Millisecond})
	fmt.Println(strings.NewReplacer("\n", "|").Replace(fmt.Sprint(err)))
	if err != nil {
		return 1
	}
	_ = db.Close()
	return 0
}

// fullRole writes while its disk takes nothing, and then once more. The limit is
// the process's own, so it has one for itself.
func fullRole(path string) int {
	ctx := context.Background()
	signal.Ignore(syscall.SIGXFSZ)
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	var usual syscall.Rlimit
	err = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual)
	for i, most := range []uint64{usual.Cur, 0, usual.Cur} {
		err = errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: usual.Max}))
		failed := db.Apply(ctx, pieces(fmt.Sprint(i))...) != nil
		fmt.Printf("%v: %v\n", failed, db.Trouble())
	}
	if err := errors.Join(err, db.Close()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// writers is how many goroutines of writeRole write at once.
const writers = 8

// writeRole applies batches until it is killed, and says of each when it is
// durable.
func writeRole(path string) int {
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), w, i)
				if err := db.Apply(context.Background(), pieces(id)...); err != nil {
					fmt.Println("error:", err)
					return
				}
				_, _ = os.Stdout.WriteString(id + "\n")
			}
		})
	}
	wg.Wait()
	return 1
}

// pieces is a batch that touches everything.
func pieces(id string) []storage.Op {
	return []storage.Op{
		storage.Append{Stream: "s", After: storage.Anywhere, Entries: []storage.Entry{{ID: id, Data: []byte(id)}}},
		storage.Put{Table: "a", Key: id, Value: []byte(id), Rev: storage.NewRev, ID: id},
		storage.Enqueue{Queue: "q", ID: id, Key: "k", Lane: "l", Data: []byte(strings.Repeat(id, 50))},
		storage.Put{Table: "b", Key: id, Value: []byte(id), Rev: storage.AnyRev},
	}
}
