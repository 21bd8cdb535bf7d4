package llm

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// The words by which servers say what is the matter. They are looked for in
// lower case, in the order of the cases in classify.
var (
	tooLongWords = words(`context_length`, `context length`, `context window`, `context size`, `maximum context`, `max context`,
		`exceed_context`, `prompt is too long`, `prompt too long`, `input is too long`, `input too long`, `too many tokens`,
		`maximum prompt length`, `maximum number of tokens`, `max_prompt_tokens`, `input token count`, `range of input length`,
		`reduce the length`, `string_above_max`, `request_too_large`, `request entity too large`, `payload too large`,
		`content too large`, `tokens exceeds? the`, `exceeds? the (?:available|model)`, `longer than the model`)
	// A single request that is more than a minute's allowance never gets through.
	tooLargeWords = words(`request too large`)
	noVisionWords = words(`not support(?:ed)? (?:by [^.]*)?(?:image|vision|picture|multimodal)`, `(?:image|vision|picture|multimodal)[^.]{0,60}not (?:supported|allowed|enabled|available)`,
		`(?:doesn't|does not|do not|cannot|can't|not) (?:support|accept|handle|process|take|have|see|view)[^.]{0,40}(?:image|vision|picture|multimodal)`,
		`no endpoints found that support image`, `unknown variant .?image_url`, `invalid content type[^.]*image`, `image_url is only`,
		`mmproj`, `not a (?:multimodal|vision)`, `text[- ]only`, `only (?:supports? )?text`, `content must be a string`,
		`content[^.]*should be a valid string`, `unsupported content (?:type|part)`)
	badImageWords = words(`invalid image`, `unsupported image`, `image[^.]{0,60}(?:invalid|too large|too small|corrupt|could not|unable|failed|exceed|unsupported|not valid)`,
		`(?:could not|unable to|cannot|failed to) (?:process|decode|read|load|parse)[^.]{0,30}image`, `image_parse_error`, `invalid_image`)
	spentWords = words(`insufficient_quota`, `insufficient (?:balance|credit|fund|quota)`, `exceeded your current quota`, `out of credit`,
		`credit balance`, `more credits`, `payment required`, `billing`, `spending limit`, `quota exhausted`, `balance is too low`)
	limitedWords = words(`rate.?limit`, `too many requests`, `resource.?(?:has been )?exhausted`, `throttl`, `tokens per min`,
		`requests per`, `concurrency limit`)
	refusedWords = words(`api.?key`, `authenticat`, `unauthori[sz]ed`, `permission.?denied`, `access denied`, `invalid.?token`, `not allowed to access`)
	missingWords = words(`model_not_found`, `model[^.]{0,120}(?:not found|does not exist|doesn't exist|not exist|unknown|not available|no longer)`,
		`unknown model`, `no such model`, `invalid model`, `not a valid model`, `try pulling`, `unknown url`, `invalid url`)
	filterWords = words(`moderation`, `flagged`, `content_?filter`, `content.?policy`, `safety`)
)

// words returns a matcher. It is compiled when it is first used: a start of the
// program does not wait for what only trouble needs.
func words(patterns ...string) func(string) bool {
	compiled := pattern(strings.Join(patterns, "|"))
	return func(s string) bool { return compiled().MatchString(s) }
}

// pattern compiles an expression when it is first used.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// classify names the kind of a refusal by its status, 0 if there was none, and
// its words in lower case. timed says that the server asks to wait a while.
func classify(status int, said string, timed bool) Kind {
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return TooLong
	case status == http.StatusUnauthorized, status == http.StatusProxyAuthRequired:
		return Refused
	case status == http.StatusPaymentRequired:
		return Spent
	case tooLargeWords(said), status != http.StatusTooManyRequests && tooLongWords(said):
		return TooLong
	case status == http.StatusTooManyRequests:
		return limitedKind(said, timed)
	case noVisionWords(said):
		return NoVision
	case status >= 500:
		return Overloaded
	}
	return classifyWords(status, said, timed)
}

// limitedKind tells a rate from a quota: some call a rate a quota, but then
// they say when to come back.
func limitedKind(said string, timed bool) Kind {
	if spentWords(said) && !timed {
		return Spent
	}
	return Limited
}

func classifyWords(status int, said string, timed bool) Kind {
	switch {
	case spentWords(said), limitedWords(said):
		return limitedKind(said, timed)
	case filterWords(said):
		return Bad
	case status == http.StatusForbidden:
		return Refused
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusGone, missingWords(said):
		return Missing
	case refusedWords(said):
		return Refused
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status == 498, status == 499:
		return Overloaded
	case status >= 400 && status < 500:
		return Bad
	case strings.Contains(said, "invalid_request"):
		return Bad
	}
	return Overloaded // a server that fails in mid-stream and says nothing of use
}
