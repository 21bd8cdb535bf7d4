// Package tools is the contract between the agent and what it can do, and the
// one path by which tools reach the model.
//
//	Registry, plugins, MCP servers, the core ──► Source.Tools(scope) ──► offer ──► model
//	                                                                      └──► Discovery ──► Memory
//	model ──► Call ──► Validator ──► gate (rules, people) ──► Start ──► Execution ──► Drive ──► Outcome
//
// A [Tool] says what it is ([Spec]) and starts one invocation at a time
// ([Tool.Run]); the invocation is an [Execution], which is waited for and can
// be stopped. A tool never touches the chat or the store: what it wants to ask
// or to show goes through its [Call] and comes back in its [Outcome].
//
// The [Registry] holds what is built in. [Mend] makes a foreign schema one
// that every provider takes, or refuses it; a [Validator] holds arguments
// against a schema before the gate. [Discovery] remembers what was ever
// offered, and the [Catalog] lists everything for rules and people.
//
// # Guarantees
//
// [Drive] waits for an execution and stops it once, whatever ends first, and
// comes back also from one that panics or never ends. The plain execution,
// [Func], is prompt to stop even if the work behind it is not, and turns a
// panic into a failure. What was stopped is Cancelled, never Failed. No schema
// and no arguments make a Validator panic or run for ever, and no schema that
// was refused harms another tool.
//
// # Caveats
//
// Work that ignores its context may outlive its execution; its result is then
// thrown away. Tools that start something outside the process implement
// Execution themselves and tear it down in Stop. An outcome may be of any
// size: who keeps it caps it with [Cap].
package tools
