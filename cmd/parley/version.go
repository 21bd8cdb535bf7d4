package main

import (
	"runtime"
	"runtime/debug"
)

// Run says which parley this is.
func (versionCommand) Run(p *program) error {
	p.say("parley %s (%s, %s/%s)", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// version is what the Go tool knows of this build: the version of the module,
// else the commit, else "development".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "development"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "development"
}
