package main_test

import (
	"testing"

	"parley/core/session"
	"parley/tools"
	"parley/tools/fs"
	"parley/tools/shell"
)

// The schemas of what is built in are complete. They are not checked at every
// start.
func TestBuiltInSchemas(t *testing.T) {
	t.Parallel()
	registry := tools.NewRegistry(append(fs.Tools(fs.Options{}), shell.New(shell.Options{}))...)
	registry.Register(session.CoreTools().Tools(t.Context(), tools.Scope{})...)
	if err := registry.Verify(); err != nil {
		t.Error(err)
	}
}
