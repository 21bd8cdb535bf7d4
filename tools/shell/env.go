package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parley/tools"
)

// markerName is the variable by which a child of parley is known.
const markerName = "PARLEY_CHILD"

// plain are the variables that commands see as parley sees them. None of them
// holds a secret.
var plain = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// environment is what commands see, by name.
type environment map[string]string

// newEnvironment picks from parley's environment. What more names, as NAME or
// NAME=value, is added.
func newEnvironment(shell string, more []string) environment {
	e := environment{"PATH": "/usr/local/bin:/usr/bin:/bin"}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if slices.Contains(plain, name) || strings.HasPrefix(name, "LC_") {
			e[name] = value
		}
	}
	e["TERM"], e["PAGER"], e["SHELL"] = "dumb", "cat", shell
	for _, pair := range more {
		name, value, given := strings.Cut(pair, "=")
		if !given {
			value, given = os.LookupEnv(name)
		}
		if given && name != "" {
			e[name] = value
		}
	}
	delete(e, markerName)
	return e
}

// with returns a copy with further variables, sorted, as the kernel takes it.
func (e environment) with(pairs map[string]string) []string {
	var all []string
	for name, value := range e {
		if _, other := pairs[name]; !other {
			all = append(all, name+"="+value)
		}
	}
	for name, value := range pairs {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}

// reachable drops from a search path what a sandbox hides, since a program
// that is found but may not be run would hide one that may.
func reachable(searchPath string, granted []string) string {
	var keep []string
	for _, dir := range filepath.SplitList(searchPath) {
		at, err := tools.Resolve("/", dir)
		if err == nil && slices.ContainsFunc(granted, func(g string) bool { return tools.Within(g, at) }) {
			keep = append(keep, dir)
		}
	}
	return strings.Join(keep, string(filepath.ListSeparator))
}
