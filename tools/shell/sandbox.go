package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parley/core/chat"
	"parley/tools"
)

// Mode says which sandbox commands run in.
type Mode string

// The modes of the configuration. "" is Auto.
const (
	Auto     Mode = "auto" // the best there is: bwrap, else landlock, else none
	None     Mode = "none"
	Landlock Mode = "landlock"
	Bwrap    Mode = "bwrap"
)

// ParseMode reads a mode as the configuration spells it.
func ParseMode(text string) (Mode, error) {
	switch m := Mode(text); m {
	case "":
		return Auto, nil
	case Auto, None, Landlock, Bwrap:
		return m, nil
	default:
		return "", fmt.Errorf("sandbox %q is none of auto, none, landlock, bwrap", text)
	}
}

// What the versions of landlock brought.
const (
	abiRefer    = 2 // moving files between directories
	abiTruncate = 3
	abiSockets  = 9 // connecting to unix sockets
)

// Status says what this machine has to offer.
type Status struct {
	NoBwrap    string // why bwrap cannot be used here, "" if it can
	NoLandlock string // why landlock cannot be used here, "" if it can
	ABI        int    // the version of landlock that the kernel has, 0 for none
	Mounts     bool   // landlock can hide a directory by a mount of its own

	bwrap string // where the program is
}

// Choose returns the sandbox that a mode comes to here. An error says why
// there is none although the mode asks for one.
func (s Status) Choose(m Mode) (Mode, error) {
	switch m {
	case None:
		return None, nil
	case Bwrap:
		if s.NoBwrap != "" {
			return "", fmt.Errorf("the sandbox bwrap is configured and cannot be used: %s", s.NoBwrap)
		}
		return Bwrap, nil
	case Landlock:
		if s.NoLandlock != "" {
			return "", fmt.Errorf("the sandbox landlock is configured and cannot be used: %s", s.NoLandlock)
		}
		return Landlock, nil
	case Auto, "":
		switch {
		case s.NoBwrap == "":
			return Bwrap, nil
		case s.NoLandlock == "":
			return Landlock, nil
		}
		return None, nil
	default:
		return "", fmt.Errorf("sandbox %q is none of auto, none, landlock, bwrap", m)
	}
}

// Says is a sentence about what is in force under a mode.
func (s Status) Says(m Mode) string {
	in, err := s.Choose(m)
	switch {
	case err != nil:
		return err.Error() + ", so no command runs"
	case in == Bwrap:
		return "commands run under bwrap: they see system files and what was granted, and write in the working directory, in what was granted for it and in a temporary directory; the network is open"
	case in == Landlock:
		return fmt.Sprintf("commands run under landlock (version %d): they read system files and what was granted, and write in the working directory, in what was granted for it and in a temporary directory; %s; the network is open", s.ABI, s.sockets())
	case m == None:
		return "no sandbox is in force, as configured: commands can read and change whatever parley can"
	default:
		return fmt.Sprintf("no sandbox is in force: commands can read and change whatever parley can (bwrap: %s; landlock: %s)", s.NoBwrap, s.NoLandlock)
	}
}

func (s Status) sockets() string {
	if s.ABI >= abiSockets {
		return "they reach no unix socket that is not theirs"
	}
	return "they can make no unix sockets"
}

// finding is the status as check and doctor tell it.
func (s Status) finding(m Mode) chat.Finding {
	f := chat.Finding{Part: "sandbox", Level: chat.Good, Says: s.Says(m)}
	in, err := s.Choose(m)
	switch {
	case err != nil:
		f.Level, f.Remedy = chat.Fail, "install what is missing, or set sandbox to auto"
	case in == None && m == None:
		f.Level, f.Remedy = chat.Warn, "set sandbox to auto, or read every command before you approve it"
	case in == None:
		f.Level, f.Remedy = chat.Warn, "install bubblewrap and allow user namespaces, or use a kernel that has landlock"
	}
	return f
}

// grants are what a sandboxed command may touch, all absolute and resolved.
type grants struct {
	read, write []string // directories
	hidden      []string // what exists below them and may not be seen
	tmp         string   // a directory of the call's own
}

// newGrants works out the grants of a call.
func newGrants(r tools.Reach, dir string) grants {
	var g grants
	open := func(path string) bool { return r.Closed(path) == "" }
	g.write = keep(append([]string{r.Dir}, r.Writes...), open)
	reads := slices.Clone(r.Reads)
	if r.Target != "" && r.Target == dir {
		reads = append(reads, dir) // a person let this call run here
	}
	g.read = keep(reads, func(path string) bool {
		return open(path) && !slices.ContainsFunc(g.write, func(w string) bool { return tools.Within(w, path) })
	})
	hidden := slices.Clone(r.Denied)
	for _, dir := range slices.Concat(g.read, g.write) {
		hidden = append(hidden, secretDirs(dir)...)
	}
	for _, path := range hidden {
		if at, err := tools.Resolve("/", path); err == nil {
			if _, err := os.Lstat(at); err == nil {
				g.hidden = append(g.hidden, at)
			}
		}
	}
	slices.Sort(g.hidden)
	g.hidden = slices.Compact(g.hidden)
	return g
}

func keep(paths []string, ok func(string) bool) []string {
	var all []string
	for _, p := range paths {
		if _, err := os.Lstat(p); p != "" && err == nil && ok(p) && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// secretDirs finds the entries of dir that are closed under the name secrets.
func secretDirs(dir string) []string {
	entries, _ := os.ReadDir(dir) // what cannot be listed hides what is in it
	var all []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type()&os.ModeSymlink == 0 && (tools.Reach{Dir: dir}).Closed(path) != "" {
			all = append(all, path)
		}
	}
	return all
}

// carve returns what together makes up a directory without what is hidden in
// it: itself, if nothing is.
func carve(dir string, hidden []string) []string {
	if slices.Contains(hidden, dir) {
		return nil
	}
	if !slices.ContainsFunc(hidden, func(h string) bool { return tools.Within(dir, h) }) {
		return []string{dir}
	}
	entries, _ := os.ReadDir(dir) // what cannot be listed is not granted
	var all []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			all = append(all, carve(filepath.Join(dir, e.Name()), hidden)...)
		}
	}
	return all
}

// system are the directories that every command may read, as far as they
// exist. /proc and /dev are each sandbox's own business.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/snap", "/gnu"}

// keys are the parts of the system directories that hold secrets, as patterns.
var keys = []string{
	"/etc/shadow*", "/etc/gshadow*", "/etc/sudoers*", "/etc/*.keytab", "/etc/parley*", "/etc/ssh/*_key", "/etc/ssl/private",
	"/etc/letsencrypt", "/etc/wireguard", "/etc/openvpn", "/etc/ipsec*", "/etc/docker", "/etc/kubernetes", "/etc/rancher",
	"/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/etc/ppp", "/etc/security/opasswd", "/etc/credstore*",
	"/etc/cups", "/etc/samba", "/etc/exim4/passwd*", "/etc/postfix/sasl*",
}

// hiddenKeys returns the keys that are here.
func hiddenKeys() []string {
	var all []string
	for _, pattern := range keys {
		found, _ := filepath.Glob(pattern) // the patterns are well-formed
		all = append(all, found...)
	}
	return all
}

// resolver returns the file that /etc/resolv.conf is a link to, if it lies
// where nothing else is granted.
func resolver() string {
	at, err := tools.Resolve("/", "/etc/resolv.conf")
	if err != nil || !strings.HasPrefix(at, "/run/") {
		return ""
	}
	return at
}
