package ask

import (
	"time"

	"parley/core/chat"
	"parley/tools"
)

// Kind is what is asked for.
type Kind string

const (
	Approval      Kind = "approval"      // may this call run?
	Clarification Kind = "clarification" // the agent wants to know something
	Elicitation   Kind = "elicitation"   // an MCP server does
	Secret        Kind = "secret"        // a value that only the secret store sees
)

// State is where a request is in its life. Nothing follows the last three.
type State string

const (
	Open      State = "open"
	Answered  State = "answered"
	Expired   State = "expired"   // nobody answered in time
	Withdrawn State = "withdrawn" // the answer is of no use any more
)

// Request is one question, durable from before it is shown. Who opens it fills
// in what is asked, of whom and where; [Asks.Open] does the rest.
type Request struct {
	ID   string `json:"id"` // "k7f39q": what people type
	Kind Kind   `json:"kind"`

	Session string   `json:"session"`
	Key     chat.Key `json:"key,omitzero"` // the chat that the session is in
	Turn    string   `json:"turn,omitempty"`
	Frame   string   `json:"frame,omitempty"`
	Call    string   `json:"call,omitempty"`

	// Digest is what an approval is bound to, see [Digest].
	Digest   string         `json:"digest,omitempty"`
	Tool     string         `json:"tool,omitempty"`
	Category tools.Category `json:"category,omitempty"`
	Server   string         `json:"server,omitempty"` // the MCP server of the tool, or the one that asks

	Title    string   `json:"title,omitempty"`    // one line: the call's label, the question in short, the secret's name
	Question string   `json:"question,omitempty"` // Markdown; shown as quoted
	Choices  []string `json:"choices,omitempty"`  // suggested answers
	Details  Details  `json:"details,omitzero"`

	Answerers []chat.UserID `json:"answerers"` // who may answer: every account of each of them
	For       chat.User     `json:"for,omitzero"`
	Asked     time.Time     `json:"asked"`
	Expires   time.Time     `json:"expires"`

	State  State  `json:"state"`
	Answer Answer `json:"answer,omitzero"` // of a request that is not open
	Cards  []Card `json:"cards,omitempty"` // wherever it is shown
}

// Details is what a card shows about the call and about who asks.
type Details struct {
	// Args are the exact arguments as [Pretty] writes them. Leave them out
	// where the preview says all of it.
	Args string `json:"args,omitempty"`
	// Target is the resolved path that the call is about.
	Target string `json:"target,omitempty"`
	// Preview is what the call would do. Its State is kept for the run.
	Preview tools.Preview `json:"preview,omitzero"`
	// Files hold in full what is too long for the card, see
	// [Details.Overlong].
	Files []chat.File `json:"files,omitempty"`
	Agent string      `json:"agent,omitempty"`
	Chat  string      `json:"chat,omitempty"` // the title of the chat or task that asks
	// ArgsCut and TextCut are how many bytes of Args and of Preview.Text
	// [Asks.Open] has cut off.
	ArgsCut int `json:"args_cut,omitempty"`
	TextCut int `json:"text_cut,omitempty"`
}

// Card is one place where a request is shown.
type Card struct {
	Key  chat.Key `json:"key"`
	Post string   `json:"post"` // the id of the post, given by Open and Show
	// Waiting marks the card of a chat in which nobody may answer: it says
	// that somebody elsewhere was asked.
	Waiting bool `json:"waiting,omitempty"`
}

// Verdict is what somebody decided.
type Verdict string

const (
	Approved Verdict = "approved"
	Rejected Verdict = "rejected" // also: declined to answer
	Replied  Verdict = "replied"
	Stored   Verdict = "stored" // the secret store has the value
)

// Span is how long an approval holds.
type Span string

const (
	Once         Span = "" // for this call alone
	QuarterHour  Span = "15m"
	WholeSession Span = "session"
)

// Scope is which calls an approval that holds for longer covers.
type Scope string

const (
	ThisTool     Scope = "" // also the only scope of Once
	ThisCategory Scope = "category"
	ThisServer   Scope = "server"
	AllTools     Scope = "all"
)

// Bypass is an approval that reaches beyond its call. The zero Bypass does
// not.
type Bypass struct {
	Span  Span  `json:"span,omitempty"`
	Scope Scope `json:"scope,omitempty"`
}

// Answer is how a request was settled.
type Answer struct {
	Verdict Verdict   `json:"verdict,omitempty"`
	Choice  int       `json:"choice,omitempty"` // 1 for the first, 0: none of them
	Text    string    `json:"text,omitempty"`   // the answer; the reason of a rejection or withdrawal
	Bypass  Bypass    `json:"bypass,omitzero"`
	By      chat.User `json:"by,omitzero"`
	Event   string    `json:"event,omitempty"` // the event that brought it
	At      time.Time `json:"at,omitzero"`
}

// Approved reports whether the call may go to the rules once more.
func (r Request) Approved() bool {
	return r.Kind == Approval && r.State == Answered && r.Answer.Verdict == Approved
}

// Report is what the model reads about a settled request, "" for an open one.
// What a person wrote stands in it as they wrote it.
func (r Request) Report() string {
	by := clean(r.Answer.By.Label(), longestName)
	switch {
	case r.State == Withdrawn:
		return because("the request was withdrawn before anybody answered", r.Answer.Text)
	case r.State == Expired && r.Kind == Approval:
		return "nobody decided in time, which counts as a rejection"
	case r.State == Expired:
		return "nobody answered in time"
	case r.State != Answered:
		return ""
	case r.Answer.Verdict == Approved:
		return "approved by " + by
	case r.Answer.Verdict == Stored:
		return by + " has stored the secret"
	case r.Answer.Verdict == Replied:
		return r.Answer.Text
	case r.Kind == Approval:
		return because("rejected by "+by, r.Answer.Text)
	default:
		return because(by+" declined to answer", r.Answer.Text)
	}
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}
