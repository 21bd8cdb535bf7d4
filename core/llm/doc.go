// Package llm talks to language models over HTTP. Everything that is odd about
// the wire stops here: a caller sends a [Request] and gets text as it comes
// and one [Reply], or an [Error] that says what kind of trouble it was.
//
//	session ──► Pool.Answer ──► Model.Stream ──► HTTP, server-sent events
//	              │ tries again, next model        │ normaliser, think tags,
//	              │ one Budget per turn            │ broken calls, usage
//
// # Guarantees
//
// A stream that ended without a finish reason is an error, never an answer.
// Text that was streamed is either the beginning of Reply.Text or was taken
// back by a Delta with Restart. A call's arguments are always a JSON object.
// Connecting, the first byte and silence are limited; a whole stream is not.
package llm
