package shell

// launchWord is the argument by which the program is started as a keeper.
const launchWord = "__child"

// keeperName is what a keeper is called in a list of processes.
const keeperName = "parley"

// spec tells a keeper what to run, as one line of JSON. The command has the
// keeper's environment.
type spec struct {
	Argv     []string  `json:"argv"`
	Dir      string    `json:"dir"`
	Restrict *restrict `json:"restrict,omitempty"`
}

// restrict is what landlock is to let the command do.
type restrict struct {
	ABI   int      `json:"abi"`
	Read  []string `json:"read"`
	Write []string `json:"write"`
	List  []string `json:"list"` // only the names in them
	Mask  []string `json:"mask"` // covered by an empty mount
}

// word is what a keeper reports, as lines of JSON.
type word struct {
	PID    int    `json:"pid,omitempty"`    // the command has begun
	Ended  bool   `json:"ended,omitempty"`  // the command has ended
	Code   int    `json:"code,omitempty"`   // its exit status
	Signal int    `json:"signal,omitempty"` // or what killed it
	Error  string `json:"error,omitempty"`  // it could not be started
}

// newRestrict works out the rules of landlock for what was granted.
func newRestrict(s Status, g grants) *restrict {
	r := &restrict{ABI: s.ABI}
	covered := hiddenKeys()
	if s.Mounts {
		r.Mask = g.hidden
	} else {
		covered = append(covered, g.hidden...)
	}
	grant := func(list *[]string, dir string) {
		parts := carve(dir, covered)
		if len(parts) != 1 || parts[0] != dir {
			r.List = append(r.List, dir)
		}
		*list = append(*list, parts...)
	}
	for _, dir := range append(keep(system, func(string) bool { return true }), "/proc", "/sys") {
		grant(&r.Read, dir)
	}
	if file := resolver(); file != "" {
		r.Read = append(r.Read, file)
	}
	for _, dir := range g.read {
		grant(&r.Read, dir)
	}
	for _, dir := range g.write {
		grant(&r.Write, dir)
	}
	r.Write = append(r.Write, g.tmp)
	return r
}
