// Package shell gives the agent a command line: execute_cmd, the sandbox that
// it runs in, and the care that nothing of a command outlives its call.
//
//	parley ──fd 3: what to run──► keeper ──fork──► bash -c COMMAND ──► …
//	       ◄─fd 4: how it ended──   │ adopts what its parents left behind
//	       ◄──stdout and stderr, one pipe──┘
//
// The keeper is this very program, started again ([Launcher]). It restricts
// itself where a sandbox asks for it, starts the command in a session of its
// own, and is a child sub-reaper: whatever the command starts stays below it,
// also a daemon that forked twice, began a session and emptied its
// environment. It ends when nothing is left below it, so its end is the proof.
// When the command has ended, or fd 3 is closed, or parley died and so closed
// it, the keeper ends the rest: SIGTERM, a short grace, SIGKILL until the
// kernel says that it has no child any more.
//
// # Guarantees
//
// A call is over when nothing that it started is left; Stop returns then. If
// something cannot be ended (it runs as another user), the outcome says so and
// the record of the child stays.
//
// Should the keeper itself be killed, its children come to parley, which is a
// sub-reaper too, and are found by the marker in their environment
// (PARLEY_CHILD, random for each process and call), by their session and by
// their parents. Processes are waited for one by one, by pid, since other parts
// of the program wait for children of their own.
//
// Every child is recorded ([Recorder]) before the command begins: the keeper
// waits for fd 3 until then. [Sweep] ends what a killed parley left behind; it
// looks at pid, start time and marker, so that a pid that was used again is
// never killed.
//
// A command sees a short list of environment variables and what the
// configuration adds, nothing else of parley's. Of its output, head and tail
// are kept in memory, the rest goes to a file with a limit, so no amount of it
// does harm.
//
// # Sandbox
//
//	bwrap     a file system made of what is granted alone, own processes
//	landlock  the kernel refuses to open what is not granted
//	none      nothing is in force
//
// Both hide what no tool may enter (data_dir), a secrets directory in each
// granted one, the home directory and the files of /etc that hold keys; both
// let a command write in the working directory, in what is granted for writing
// and in a temporary directory of its own. Its home is .parley/home in the
// working directory, so that caches last.
//
// # Caveats
//
// The network is open in every sandbox. Only secrets directories directly
// below a granted directory are hidden. Landlock hides contents, not names and
// sizes, and does not keep a command from changing permission bits of what it
// cannot open; below version 6 it does not keep a command from sending signals
// to other processes of parley's user, and below version 9 it knows no sockets,
// so there commands can make no unix sockets at all. Where it cannot hide a directory within the working
// directory by a mount (user namespaces are forbidden), it grants what lies
// around it, and new files directly beside it cannot be made. A user that is
// root has no capabilities in a sandbox. bwrap leaves abstract unix sockets
// reachable.
//
// Outside of bwrap a command may kill its keeper. What then has neither the
// marker nor the session nor a parent among the rest is not found.
//
// A program that does not call [Launcher] first, and every system but Linux,
// has no keeper: commands are ended by their process group, on Linux also by
// marker, session and parents, and zombies of what left all three stay.
package shell
