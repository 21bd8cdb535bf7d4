package shell

import (
	"cmp"
	"os"
	"slices"

	"parley/tools"
)

// mount is one thing that bwrap puts in the new file system.
type mount struct {
	at   string
	args []string
}

// bwrapArgs is the command line that runs argv under bwrap.
func bwrapArgs(program string, g grants, dir string, argv []string) []string {
	hidden := slices.Concat(hiddenKeys(), g.hidden)
	mounts := append(systemMounts(), mount{g.tmpPath(), []string{"--bind", g.tmp, g.tmpPath()}})
	for _, path := range g.read {
		mounts = append(mounts, mount{path, []string{"--ro-bind", path, path}})
	}
	for _, path := range g.write {
		mounts = append(mounts, mount{path, []string{"--bind", path, path}})
	}
	// What lies within another comes after it.
	slices.SortStableFunc(mounts, func(a, b mount) int { return cmp.Compare(a.at, b.at) })
	// Root would keep its capabilities, and could take away what hides.
	args := []string{program, "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"}
	for _, m := range mounts {
		args = append(args, m.args...)
	}
	for _, path := range hidden {
		if !slices.ContainsFunc(mounts, func(m mount) bool { return tools.Within(m.at, path) }) {
			continue
		}
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			args = append(args, "--tmpfs", path, "--remount-ro", path)
		} else if err == nil && info.Mode()&os.ModeSymlink == 0 {
			args = append(args, "--ro-bind", "/dev/null", path)
		}
	}
	return append(append(args, "--chdir", dir, "--"), argv...)
}

// tmpPath is where a command under bwrap finds its temporary directory.
func (g grants) tmpPath() string {
	for _, path := range slices.Concat(g.read, g.write) {
		if tools.Within(path, "/tmp") {
			return g.tmp // /tmp itself was granted
		}
	}
	return "/tmp"
}

// systemMounts are what every command sees.
func systemMounts() []mount {
	mounts := []mount{{"/proc", []string{"--proc", "/proc"}}, {"/dev", []string{"--dev", "/dev"}}}
	for _, path := range system {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			if to, err := os.Readlink(path); err == nil {
				mounts = append(mounts, mount{path, []string{"--symlink", to, path}})
			}
		default:
			mounts = append(mounts, mount{path, []string{"--ro-bind", path, path}})
		}
	}
	if file := resolver(); file != "" {
		mounts = append(mounts, mount{file, []string{"--ro-bind", file, file}})
	}
	return mounts
}
