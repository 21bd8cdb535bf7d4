// Package tools is the contract between the agent and what it can do, and the
// one path by which tools reach the model.
//
//	Registry, plugins, MCP servers, the core ──► Source.Tools(scope) ──► offer ──► model
//	model ──► Call ──► gate (rules, people) ──► Tool.Run ──► Execution ──► Outcome
//
// A [Tool] says what it is ([Spec]) and starts one invocation at a time
// ([Tool.Run]); the invocation is an [Execution], which is waited for and can
// be stopped. A tool never touches the chat or the store: what it wants to ask
// or to show goes through its [Call] and comes back in its [Outcome].
//
// # Guarantees
//
// [Drive] waits for an execution and stops it once, whatever ends first. The
// plain execution, [Func], is prompt to stop even if the work behind it is not,
// and turns a panic into a failure.
//
// # Caveats
//
// Work that ignores its context may outlive its execution; its result is then
// thrown away. Tools that start something outside the process implement
// Execution themselves and tear it down in Stop.
package tools
