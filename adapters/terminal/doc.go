// Package terminal is the chat on standard input and output: a line interface
// for a person at a terminal, and a plain one-message-a-line protocol for a
// pipe. Which of the two it is, [New] decides by looking at what it reads from
// and writes to.
//
// # On a terminal
//
// The picture is a transcript that only grows and, below it, a live region
// that is redrawn in place:
//
//	transcript   what is settled; it scrolls away and is never touched again
//	items        drafts that stream, and whatever came after them
//	status       the working indicator or a hint
//	prompt       the line being edited
//
// Items leave the live region at its top, row by row, when they are finished
// or when the window has no more room. A row is written to the transcript once;
// since text only grows, a finished answer goes on where its draft stopped. If
// the final text differs from rows that scrolled away already, a note says so
// and the answer is repeated from the line that differs.
//
// Keys are those of most shells: arrows, Home, End, Ctrl-A E B F K U W Y D L,
// Alt-B F D, Alt-Enter for a line break, Tab completes commands. Ctrl-C sends
// /stop, a second one leaves, and so does Ctrl-D on an empty line. A line that
// begins with a space is not kept in the history.
//
// # On a pipe
//
// A line is a message. Urgent commands go in at once, also past lines that
// wait; every other line waits until the messages before it are answered or an
// ask is open that it may be the answer to. Replies are printed as they are
// written, each with an empty line after it. At the end of input Run waits for
// what is unanswered and leaves. When nobody takes what is printed Run fails;
// what was not shown waits in the outbox.
//
// # Guarantees
//
// Text from models and other people reaches the terminal without control
// characters: those are shown as pictures (an escape as ␛). A line is shown as
// sent when Accept has it; otherwise it is kept, and a sentence says so. The
// terminal is as it was when Run returns, whatever made it return. After the
// process was stopped and continued the prompt is there again.
//
// # Caveats
//
// Nothing else may write to the terminal while Run runs. What scrolled away
// cannot be rewritten: an edit prints the new text. When a window is made
// smaller than the live region, the part that leaves it stays in the
// scrollback twice. A reader that is neither a file nor a Closer cannot be
// interrupted: its last Read outlives Run.
package terminal
