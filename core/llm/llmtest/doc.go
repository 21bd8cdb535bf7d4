// Package llmtest is a language model server that says what it is told to. It
// speaks OpenAI's chat completions over HTTP, with the faults that real servers
// have, and imports nothing of the testing package: it serves tests and
// benchmarks, in the same process or alone.
//
//	s := llmtest.NewServer(func(r llmtest.Request) llmtest.Script {
//		if r.LastRole() == "tool" {
//			return llmtest.Script{llmtest.Text("It is done.")}
//		}
//		return llmtest.Script{llmtest.Call{Name: "fs_read", Args: `{"path":"a.txt"}`}}
//	})
//	defer s.Close()
//
// A script is played in order. Unless a fault ended it, the finish reason, the
// usage and the end mark are added where it lacks them.
//
// NewServer listens on loopback, Listen where it is told, NewPipe in memory:
// that one works under testing/synctest, with Client as the way in.
package llmtest
