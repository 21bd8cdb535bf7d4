// Package adapters is the list of what parley can connect to.
package adapters

import (
	"parley/adapters/terminal"
	"parley/core/chat"
)

// Config has the settings of each kind of adapter; nil means that it is not
// wanted.
type Config struct {
	Terminal *terminal.Config
}

// New makes the adapters that are wanted, by their names. Nothing connects
// before an adapter's Run.
func New(c Config) map[string]chat.Adapter {
	all := make(map[string]chat.Adapter)
	if c.Terminal != nil {
		all["terminal"] = terminal.New(*c.Terminal)
	}
	return all
}
