package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// player plays one script.
type player struct {
	s   *Server
	ctx context.Context
	w   http.ResponseWriter
	r   Request

	buf       []byte
	text      strings.Builder
	reasoning strings.Builder
	calls     []Call
	usage     *Usage
	finish    string
	over      bool // nothing is added any more
	raw       bool // the script speaks for itself
}

// play runs the steps and adds what the script lacks.
func (p *player) play(script Script) {
	p.w.Header().Set("Content-Type", "text/event-stream")
	for _, step := range script {
		if p.do(step); p.over {
			p.flush()
			return
		}
	}
	if !p.r.Stream && !p.raw {
		p.whole()
		return
	}
	p.end()
	p.flush()
}

// do plays one step.
func (p *player) do(step Step) {
	switch s := step.(type) {
	case Text:
		p.text.WriteString(string(s))
		p.delta("content", string(s))
	case Reasoning:
		p.reasoning.WriteString(string(s))
		p.delta("reasoning_content", string(s))
	case Call:
		p.call(s)
	case Usage:
		p.usage = &s
	case Finish:
		p.finish = string(s)
	case Raw:
		p.raw = true
		p.buf = append(p.buf, s...)
	default:
		p.disturb(step)
	}
}

// disturb plays a step that is about the connection.
func (p *player) disturb(step Step) {
	switch s := step.(type) {
	case Wait:
		p.flush()
		p.pause(time.After(time.Duration(s)))
	case Open:
		p.flush()
	case Respond:
		p.respond(s)
	case End:
		p.over = true
	case Cut:
		p.flush()
		panic(http.ErrAbortHandler)
	case Drop:
		panic(http.ErrAbortHandler)
	case Hang:
		p.flush()
		p.pause(nil)
		p.over = true
	default:
		panic(fmt.Sprintf("llmtest: unknown step %T", step))
	}
}

// pause waits for the client, Close or the clock.
func (p *player) pause(clock <-chan time.Time) {
	select {
	case <-clock:
	case <-p.ctx.Done():
		p.over = true
	case <-p.s.done:
		panic(http.ErrAbortHandler)
	}
}

func (p *player) respond(s Respond) {
	for name, value := range s.Header {
		p.w.Header().Set(name, value)
	}
	if s.Status != 0 {
		p.w.WriteHeader(s.Status)
	}
	p.raw = true
	if s.Body != "" {
		p.buf = append(p.buf, s.Body...)
		p.over = true
	}
}

// flush sends what is buffered, and the headers.
func (p *player) flush() {
	_, _ = p.w.Write(p.buf)
	p.buf = p.buf[:0]
	_ = http.NewResponseController(p.w).Flush()
}

// delta adds a chunk with one text field.
func (p *player) delta(field, text string) {
	quoted, _ := json.Marshal(text)
	p.chunk(fmt.Sprintf(`{%q:%s}`, field, quoted), "null")
}

// chunk adds an event with one choice.
func (p *player) chunk(delta, finish string) {
	if !p.r.Stream {
		return
	}
	p.buf = append(p.buf, `data: {"id":"chatcmpl-test","object":"chat.completion.chunk","created":1,"model":"test-model","choices":[{"index":0,"delta":`...)
	p.buf = append(p.buf, delta...)
	p.buf = append(p.buf, `,"finish_reason":`...)
	p.buf = append(p.buf, finish...)
	p.buf = append(p.buf, "}]}\n\n"...)
}

// call adds a call in fragments: id and name first, then the arguments.
func (p *player) call(c Call) {
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d_%d", p.r.Number, len(p.calls))
	}
	at := len(p.calls)
	p.calls = append(p.calls, c)
	p.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, at, c.ID, c.Name), "null")
	pieces := c.Pieces
	if pieces <= 0 {
		pieces = 2
	}
	size := max(1, (len(c.Args)+pieces-1)/pieces)
	for rest := c.Args; rest != ""; {
		n := min(size, len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		quoted, _ := json.Marshal(rest[:n])
		p.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, at, quoted), "null")
		rest = rest[n:]
	}
}

// end adds finish reason, usage and end mark to a stream.
func (p *player) end() {
	if p.raw {
		return
	}
	p.chunk("{}", fmt.Sprintf("%q", p.reason()))
	if p.r.Usage {
		p.buf = append(p.buf, `data: {"id":"chatcmpl-test","object":"chat.completion.chunk","choices":[],"usage":`...)
		p.buf = append(p.buf, p.count()...)
		p.buf = append(p.buf, "}\n\n"...)
	}
	p.buf = append(p.buf, "data: [DONE]\n\n"...)
}

func (p *player) reason() string {
	switch {
	case p.finish != "":
		return p.finish
	case len(p.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// count is the usage as JSON.
func (p *player) count() string {
	u := p.usage
	if u == nil {
		u = &Usage{Input: len(p.r.Body) / 4, Output: 1 + p.text.Len()/4}
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
		u.Input, u.Output, u.Input+u.Output, u.Cached, u.Reasoning)
}

// whole answers a request that is not for a stream.
func (p *player) whole() {
	type function struct {
		Name string `json:"name"`
		Args string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	var calls []call
	for _, c := range p.calls {
		calls = append(calls, call{c.ID, "function", function{c.Name, c.Args}})
	}
	message := map[string]any{"role": "assistant", "content": p.text.String()}
	if calls != nil {
		message["tool_calls"] = calls
	}
	if p.reasoning.Len() > 0 {
		message["reasoning_content"] = p.reasoning.String()
	}
	p.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(p.w).Encode(map[string]any{
		"id": "chatcmpl-test", "object": "chat.completion", "created": 1, "model": "test-model",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": p.reason()}},
		"usage":   json.RawMessage(p.count()),
	})
}
