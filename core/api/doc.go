// Package api is what the command line asks of parley: JSON over HTTP on a
// unix socket in data_dir while a parley runs, and the same handler called
// directly by a program that opened the data itself. One API, two ways to it:
//
//	parley pair approve ──► Client ──┬─ socket ──► Socket.Serve ──► peer check ─┐
//	                                 │                                          ├─► Handler ──► Host
//	                                 └─ nobody listens: Local ──────────────────┘
//
// The [Host] is what answers: a struct of optional funcs that the assembly
// fills. Later subjects add funcs and routes.
//
// Beside it the package serves /healthz and /readyz on http.listen.
//
// # Guarantees
//
// Whoever may use the socket is an owner, so it is for the user that parley
// runs as, and root. The socket's mode is 0600 in a folder of mode 0700, the
// kernel says who calls, and a caller that descends from parley itself is
// refused: it could be the agent approving its own calls. What cannot be told
// is refused as well.
//
// Requests and waits are bounded. Every answer that is not 200 is an [Error]
// as JSON. What leaves goes through Host.Redact.
//
// # Caveats
//
// A process that got rid of its parents (a double fork) no longer descends from
// parley in the kernel's eyes; whoever starts commands for the agent has to
// keep them from the socket, too. Other systems than Linux do not tell who
// calls in the way used here: there every caller is refused.
package api
