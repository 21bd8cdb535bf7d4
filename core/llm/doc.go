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
// A stream that ended with neither a finish reason nor the end mark is an
// error, never an answer. Text that was streamed is either the beginning of
// Reply.Text or was taken back by a Delta with Restart. A call's arguments are
// always a JSON object, and its id is one that no other call of the prompt has.
// Connecting, the first byte and silence are limited; a whole stream is not.
// No error and no sentence holds a key.
//
// # What servers refuse
//
// Servers that call themselves compatible differ in what they accept. A model
// starts with what most take and learns from refusals: when an error says that
// a parameter, a picture, a second system row or missing reasoning was the
// trouble, the request is put in the other form, sent once more, and what
// worked is remembered for as long as the model lives (see habits).
//
// # Caveats
//
// Reasoning that a model writes into its answer is told from the answer by
// tags at its beginning. A tag further down is text. Counting tokens is the
// provider's work; where it is silent, four bytes are a token.
package llm
