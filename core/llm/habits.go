package llm

import (
	"errors"
	"strings"
)

// habits are how a request is put so that its server takes it. A model begins
// with what most servers take and learns the rest from refusals.
type habits struct {
	newLimit  bool // max_completion_tokens instead of max_tokens
	noTemper  bool // no temperature
	noOptions bool // no stream_options, so no usage
	noKey     bool // no prompt_cache_key
	reasoning bool // reasoning goes back, a blank where there is none
	unsigned  bool // calls without a signature get the one that says so
	shortIDs  bool // call ids of nine letters and digits
	plain     bool // one system row, the first; no two user rows in a row
	blind     bool // no pictures, for good
	blank     bool // no pictures in this request: one of them is faulty
}

// newLimitIDs are OpenAI's models that refuse max_tokens.
var newLimitIDs = pattern(`^(o[1-9]|gpt-([5-9]|\d\d))(\.\d+)?(-|$)`)

// firstHabits are those that a model begins with.
func firstHabits(c Config) habits {
	return habits{
		newLimit:  newLimitIDs().MatchString(c.ID),
		reasoning: c.Reasoning == ReasoningAlways,
		blind:     !c.Vision,
	}
}

// lesson is what a refusal teaches: its words, and the habit that may heal it.
type lesson struct {
	words func(string) bool
	turn  func(h *habits)
}

var lessons = []lesson{
	{words(`max_completion_tokens`, `max_tokens.{0,40}(?:not supported|unsupported|deprecated)`, `unsupported.{0,40}max_tokens`), func(h *habits) { h.newLimit = !h.newLimit }},
	{words(`temperature`), func(h *habits) { h.noTemper = true }},
	{words(`stream_options`, `include_usage`), func(h *habits) { h.noOptions = true }},
	{words(`prompt_cache_key`), func(h *habits) { h.noKey = true }},
	{words(`thought_?signature`), func(h *habits) { h.unsigned = true }},
	{words(`tool.?call.{0,3}id.{0,200}(?:length|must be)`, `invalid.{0,20}tool.?call.?id`), func(h *habits) { h.shortIDs = true }},
	{words(`system (?:message|role|prompt)`, `role.{0,40}(?:alternat|not supported)`, `(?:alternat|unexpected).{0,40}role`, `conversation roles`), func(h *habits) { h.plain = true }},
}

var (
	reasoningWords = words(`reasoning_content`, `reasoning content`, `reasoning.{0,60}(?:missing|must be passed|pass(?:ed)? back)`)
	unwantedWords  = words(`not (?:allowed|permitted|supported|accepted)`, `unknown`, `unrecognized`, `unexpected`, `extra (?:inputs|fields)`, `must not`, `remove`, `invalid.{0,30}field`)
)

// adapt returns the habits under which a refused request is worth another try,
// and false when the refusal teaches nothing new.
func (h habits) adapt(err error, req Request, back Reasoning) (habits, bool) {
	var e *Error
	if !errors.As(err, &e) {
		return h, false
	}
	next, said := h, strings.ToLower(e.Err.Error())
	switch {
	case hasImages(req) && !h.blind && !h.blank && e.Kind == NoVision:
		next.blind = true
	case hasImages(req) && !h.blind && !h.blank && e.Kind == Bad && badImageWords(said):
		next.blank = true
	case e.Kind != Bad && e.Status != 400 && e.Status != 422 && e.Status != 500:
	case reasoningWords(said) && back == ReasoningAuto:
		next.reasoning = !unwantedWords(said)
	default:
		next = h.learn(said)
	}
	return next, next != h
}

// learn applies the first lesson that the words teach.
func (h habits) learn(said string) habits {
	for _, l := range lessons {
		if next := h; l.words(said) {
			if l.turn(&next); next != h {
				return next
			}
		}
	}
	return h
}

// lasting leaves out what was for one request.
func (h habits) lasting() habits {
	h.blank = false
	return h
}

func hasImages(req Request) bool {
	for _, m := range req.Messages {
		if len(m.Images) > 0 {
			return true
		}
	}
	return false
}
