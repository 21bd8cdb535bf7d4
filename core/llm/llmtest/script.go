package llmtest

import (
	"fmt"
	"strings"
	"time"
)

// Script is what the server does about one request.
type Script []Step

// Step is one of the types below.
type Step interface{ step() }

type (
	// Text is one piece of the answer.
	Text string
	// Reasoning is one piece of reasoning, in the field reasoning_content.
	Reasoning string
	// Call is a tool call. Without an ID it gets one. Its arguments come in
	// Pieces fragments, 2 by default.
	Call struct {
		ID, Name, Args string
		Pieces         int
	}
	// Usage is the usage of the answer. Without it the server counts words.
	Usage struct{ Input, Cached, Output, Reasoning int }
	// Finish is the finish reason; without it stop or tool_calls.
	Finish string
	// Wait lets time pass; the client or Close may end it.
	Wait time.Duration
	// Open sends the headers at once.
	Open struct{}
	// Raw is sent as it is.
	Raw string
	// Respond sets the status and headers, which must not have gone out yet.
	// With a Body it is the whole response.
	Respond struct {
		Status int
		Header map[string]string
		Body   string
	}
	// End ends the response in good order, without anything more.
	End struct{}
	// Cut breaks the connection in the middle of the response.
	Cut struct{}
	// Drop closes the connection without any response.
	Drop struct{}
	// Hang says nothing more until the client or Close ends it.
	Hang struct{}
)

func (Text) step()      {}
func (Reasoning) step() {}
func (Call) step()      {}
func (Usage) step()     {}
func (Finish) step()    {}
func (Wait) step()      {}
func (Open) step()      {}
func (Raw) step()       {}
func (Respond) step()   {}
func (End) step()       {}
func (Cut) step()       {}
func (Drop) step()      {}
func (Hang) step()      {}

// Echo answers with the last text of the person.
func Echo(r Request) Script { return Script{Text("echo: " + r.Last("user"))} }

// Words is text in pieces of one word each, with a wait between them.
func Words(text string, pause time.Duration) Script {
	var s Script
	for i, w := range strings.SplitAfter(text, " ") {
		if i > 0 && pause > 0 {
			s = append(s, Wait(pause))
		}
		s = append(s, Text(w))
	}
	return s
}

// Fail is an error response in OpenAI's form.
func Fail(status int, code, message string) Script {
	body := fmt.Sprintf(`{"error":{"message":%q,"type":%q,"code":%q}}`, message, code, code)
	return Script{Respond{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Body: body}}
}

// InTurn plays one script after the other, one a request; the last one stays.
func InTurn(scripts ...Script) func(Request) Script {
	return func(r Request) Script { return scripts[min(r.Number, len(scripts))-1] }
}
