// Package access says who may talk to parley, as whom, and where people are
// at home: roles, pairing, claims, allow-lists, links between the accounts of
// one person, which groups are answered and when.
//
//	event ──► Judge ──► Verdict{Admit, Role, Person, Reply, Ops}
//	/pair, /claim, /role, /link, /mention … ──► Change{Ops, Reply, Told, Revoked}
//
// It is closed by default: an account without a grant, in config.yaml or in
// the store, is not admitted, and an empty list means nobody. An account is
// its platform's unchanging id; a handle or a name decides nothing.
//
// # Guarantees
//
// The package keeps no state of its own. It reads rows and returns the ops
// that a decision needs, so that the gateway commits them together with the
// reply and the inbox item; nothing is changed before that Apply.
//
// The ops of a [Verdict] are never conditional: those of a whole batch of
// events fit into one Apply ([Access.After] lets a later event of the batch see
// what an earlier one will leave). A [Change] has at most one conditional op.
// Every change of people swaps one row, the roster, whose revision was read
// before anything else: what the change was decided on still stands when it is
// applied, or Apply returns [storage.ErrConflict] and the caller calls again.
// So of two claims with one code one wins, and two owners who demote each other
// at once do not leave parley without an owner.
//
// A refusal is not an error: it is a sentence in Reply that says what and what
// to do about it, or silence. Errors are the store's, or those of the source
// of random numbers.
//
// # Caveats
//
// What Judge writes by itself, names, private chats, pairing requests and
// counters, is last-writer-wins: two messages of one stranger that are judged
// at the same instant may be told two codes, of which the later one counts.
//
// All methods are safe for concurrent use, block only on the store, and end
// with their context.
package access
