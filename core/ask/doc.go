// Package ask puts questions to people, durably. It has one noun, the
// [Request]: an approval, a clarification, an elicitation or a secret.
//
//	Open ──► row + card ──► /approve, /reject, /answer, a button ──► Answer ──► settled card
//	                   └──► Expire, Withdraw ───────────────────────────────────────┘
//
// The package keeps no state. It reads rows and returns the ops that a step
// needs; the caller applies them in one commit with whatever else the step
// means: the log entry and the cards when a request is opened, the reply and
// the settled cards when it is answered.
//
// # Guarantees
//
// The first answer wins, wherever it comes from: [Asks.Answer] returns exactly
// one conditional op, the swap of the request's row. A later answer is told who
// was first. The same event gets the same result again, ops included, also
// after a restart. Whatever does not settle a request, because its id is
// unknown, its time is over, or the person was not asked, comes back as a
// sentence and without ops: nothing may be run on it.
//
// The rows are the truth: a conversation that is resumed finds in
// [Asks.ForSession] which of its requests have been settled, and old buttons
// find the right sentence for seven days.
//
// A card shows what was asked as it is. Characters that are invisible or
// change the direction of text are spelled out, and nothing in an argument can
// leave the block it is shown in.
//
// # Caveats
//
// [Asks.Withdraw] is unconditional, so that it fits into the commit that ends
// a turn. If somebody answers between its reading and that commit, the
// withdrawal stands: a conversation withdraws its own requests only, and has
// by then decided that the answer is of no use to it.
//
// Who may answer is fixed when a request is opened. A caller that wants a right
// taken back since to count asks core/access before it asks Answer.
//
// A secret's value never gets here. Its request learns only that it was stored.
package ask
