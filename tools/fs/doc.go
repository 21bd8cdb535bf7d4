// Package fs gives the agent files: listing, reading, writing, searching and
// outlining them.
//
//	argument ──► tools.Resolve ──► find: Target? closed? which root? ──► place
//	place ──► os.Root at the root, then name by name, no link followed ──► the file
//
// # Guarantees
//
// A call touches only what its [tools.Reach] lets it: the working directory,
// the granted directories, and the one path that was allowed for this very
// call. Where the argument leads is worked out anew when the tool runs, and
// what is then opened is what was worked out: every name on the way is opened
// as what it was seen to be, so a link that somebody puts in its place in
// between leads nowhere. What is closed (data_dir, secrets/) stays closed,
// whoever allowed it. Nothing but regular files is opened, so a pipe or a
// device never hangs a call; what the system makes up as it is read (/proc,
// /sys) is refused too, since it holds the environment of parley itself.
//
// A write is whole or not at all: it goes to a new file beside the old one,
// which then takes its name. It is refused if the file is no longer what the
// person who approved it was shown, or was changed while it was being written.
// Permission bits, line ends, a byte order mark and a missing final newline
// stay as they are.
//
// # Caveats
//
// A hard link is a name of its own and cannot be told from the file: whoever
// can make one inside a root has brought the file in. Writing to one name of
// such a file parts it from the others, since a new file takes the name. Access
// lists and extended attributes are not carried over. File systems that the
// kernel mounts only when they are entered are refused the first time.
package fs
