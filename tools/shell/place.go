package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"parley/tools"
)

// Where parley keeps what belongs to commands, below the working directory.
// Commands can write there too, so it is opened through a root, with no link
// on the way.
const (
	ownDir    = ".parley"
	outputDir = ownDir + "/output"
	homeDir   = ownDir + "/home"
)

// How many files of output stay, and how many bytes they may hold in all.
const (
	keptFiles = 100
	keptBytes = 512 << 20
)

// workdir returns where a call runs: in the working directory, in a granted
// one, or in the one that was allowed for this call.
func workdir(r tools.Reach, arg string) (string, error) {
	if arg == "" {
		arg = "."
	}
	at, err := tools.Resolve(r.Dir, arg)
	if err != nil {
		return "", err
	}
	if why := r.Closed(at); why != "" {
		return "", fmt.Errorf("%q: %s", arg, why)
	}
	if r.Target != "" && r.Target != at {
		return "", fmt.Errorf("%q no longer leads to where it led when the call was allowed; look again before you repeat it", arg)
	}
	within := func(dir string) bool { return dir != "" && tools.Within(dir, at) }
	if r.Target == "" && !within(r.Dir) && !slices.ContainsFunc(r.Reads, within) && !slices.ContainsFunc(r.Writes, within) {
		return "", fmt.Errorf("%q is outside the working directory %s and was not granted", arg, r.Dir)
	}
	info, err := os.Stat(at)
	if err != nil {
		return "", fmt.Errorf("looking at the directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%q is not a directory", arg)
	}
	return at, nil
}

// own opens a directory of parley's below dir and makes it if need be.
func own(dir, name string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		if err := root.Mkdir(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := root.Lstat(at); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s is not a directory", filepath.Join(dir, at))
		}
		if part == ownDir { // keep it out of whatever repository the agent works on
			if f, err := root.OpenFile(ownDir+"/.gitignore", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
				_, _ = f.WriteString("*\n") // a convenience
				_ = f.Close()
			}
		}
	}
	return root.OpenRoot(at)
}

// outputFile makes the file for what a call prints and returns its name as the
// model may use it.
func outputFile(dir, call string) (*os.File, string, error) {
	root, err := own(dir, outputDir)
	if err != nil {
		return nil, "", fmt.Errorf("making %s: %w", outputDir, err)
	}
	defer root.Close()
	prune(root)
	base := fileName(call)
	for i := 1; ; i++ {
		name := base + ".txt"
		if i > 1 { // another session that works here had a call of that id
			name = fmt.Sprintf("%s-%d.txt", base, i)
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return f, path.Join(outputDir, name), nil
		}
		if !errors.Is(err, fs.ErrExist) || i > 10*keptFiles {
			return nil, "", fmt.Errorf("making a file in %s: %w", outputDir, err)
		}
	}
}

// fileName makes a call's id, which a model provider made up, a file's name.
func fileName(call string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, call)
	if name == "" {
		name = "call"
	}
	return name[:min(len(name), 80)]
}

// prune removes the oldest files of output until there is room for another.
func prune(root *os.Root) {
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what can be read is enough
	var all []fs.FileInfo
	for _, name := range names {
		if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var bytes int64
	for i, info := range all {
		if bytes += info.Size(); i >= keptFiles-1 || bytes > keptBytes-fileMax {
			_ = root.Remove(info.Name()) // it is tried again next time
		}
	}
}
