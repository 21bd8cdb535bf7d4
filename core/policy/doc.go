// Package policy answers one question: may this call run? Groups of rules,
// bypasses for a while, paths that need no asking, and the run context that
// says which group and which directories a session has.
//
//	call ──► never open (secrets/, data_dir) ──► rules: the group's, then default's ──► Verdict
//	                    │ deny                       │ first match; none: require        ▲
//	                    └────────────────────────────┴── require ──► eased? bypassed? ───┘
//
// A [Rule] matches by group, agent, source, tool and path. The rules of the
// session's group, and those without a group, are asked first, lowest priority
// number first, then those of the group default; the first that matches decides. Nothing matched means
// require. A require becomes an allow for reads and writes where the session is
// at home, or when a person let such calls through for a while; a deny never
// does.
//
// # Guarantees
//
// [Policy.Judge] never errs towards running: rules that cannot be read, or of
// which one makes no sense, mean require, without easing and without bypass. A
// path that is not resolved is denied, since no rule could be held against it.
//
// The rules are kept in memory beside the revision of a row that every change
// swaps. Each Judge reads that row, which costs a look into the store's index,
// and reads all rules anew when it moved. So a Judge that begins after an Apply
// returned sees what was applied, whoever applied it, and nobody has to tell
// the package of it.
//
// Changes are returned as ops with at most one condition, that same row. On
// [storage.ErrConflict] the caller calls the method again. A refusal is not an
// error: it is a sentence in [Change.Reply]. Who may change rules is decided by
// the caller.
//
// # Caveats
//
// Paths are texts here. Whoever calls has resolved links and ".." before, and
// must use the path that was judged, not the one that was asked for.
// Bypasses are gone when the process ends.
//
// All methods are safe for concurrent use, block only on the store, and end
// with their context.
package policy
