package config_test

import (
	"os"
	"testing"

	"parley/cmd/parley/config"
)

// The copy that is compiled in is the file at the root. Whoever set up their
// own parley by editing that file in the source tree may do so; in CI the two
// must agree.
func TestShippedFileIsTheOneAtTheRoot(t *testing.T) {
	t.Parallel()
	root, err := os.ReadFile("../../../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if string(root) == config.Shipped {
		return
	}
	if os.Getenv("CI") == "" {
		t.Skip("config.yaml at the root was edited; if that is to be shipped, run go generate ./cmd/parley/config")
	}
	t.Error("shipped.yaml is not config.yaml; run go generate ./cmd/parley/config")
}
