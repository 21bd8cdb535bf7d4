package fs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"parley/tools"
)

// ordinary makes the rest of the test run as a user whom permissions bind. It
// holds for this goroutine's thread only, so tools are asked for previews,
// which read in the goroutine that asks.
func ordinary(t *testing.T, w *world) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	if err := os.Chmod(filepath.Dir(w.top), 0o755); err != nil { // what TempDir makes is for its owner
		t.Fatal(err)
	}
	err := filepath.WalkDir(w.top, func(at string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(at, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	if err := unix.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setfsuid(0); err != nil {
			t.Error(err) // the thread stays locked and ends with the test
			return
		}
		runtime.UnlockOSThread()
	})
}

// A working directory below one that may be passed but not read is of use.
func TestUnreadableAbove(t *testing.T) {
	w := newWorld(t, map[string]string{"closed/ws/f": "text\n", "closed/ws/shut": "text\n", "closed/ws/link": "->f"})
	w.reach.Dir = w.at("closed/ws")
	for name, mode := range map[string]os.FileMode{"closed": 0o311, "closed/ws/shut": 0} {
		if err := os.Chmod(w.at(name), mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(w.at(name), 0o755) })
	}
	ordinary(t, w)
	got, err := w.preview(tools.WriteFile, args{"path": "link", "content": "new\n"})
	if err != nil || !strings.HasSuffix(got.Text, "-text\n+new\n") {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = w.preview(tools.WriteFile, args{"path": "shut", "content": "new\n"})
	if err == nil || err.Error() != "the system permits parley no such access to it" {
		t.Errorf("a file without permissions: %v", err)
	}
}
