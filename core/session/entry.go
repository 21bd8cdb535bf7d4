package session

import (
	"encoding/json"
	"fmt"
	"time"

	"parley/core/ask"
	"parley/core/chat"
	"parley/core/llm"
)

// Entry is one record of a conversation's log: a header and what happened.
type Entry struct {
	Seq    uint64
	At     time.Time
	Frame  string // the sub-agent's frame, "" for the root
	Origin string // the event or job that caused it, "" for none
	Body   Body
}

// Body is what an entry records. The set is sealed: [TurnStarted], [UserSaid],
// [AssistantSaid], [ToolStated], [Asked], [Answered], [Noted], [ScratchpadSet],
// [ModelPicked], [Summarised], [Cleared], [Attempted], [Suspended] and
// [TurnEnded].
type Body interface{ entry() }

// TurnStarted opens a turn; its messages follow in the same commit.
type TurnStarted struct {
	Turn string    `json:"turn"`
	By   chat.User `json:"by"`
}

// UserSaid is a message that a person sent, as the turn took it.
type UserSaid struct {
	From    chat.User      `json:"from"`
	Message chat.MessageID `json:"message,omitempty"`
	Text    string         `json:"text,omitempty"`
	Files   []chat.File    `json:"files,omitempty"`
	Quoted  *chat.Quote    `json:"quoted,omitempty"`
	Private bool           `json:"private,omitempty"` // nobody else could read it
	Task    string         `json:"task,omitempty"`    // the result of this task, not a person's words
}

// AssistantSaid is one complete answer of the model: a round.
type AssistantSaid struct {
	Turn       string     `json:"turn"`
	Round      int        `json:"round"`
	Text       string     `json:"text,omitempty"`
	Reasoning  string     `json:"reasoning,omitempty"`
	ReasonedBy string     `json:"reasoned_by,omitempty"`
	Calls      []llm.Call `json:"calls,omitempty"`
	Finish     llm.Finish `json:"finish,omitempty"`
	Stopped    bool       `json:"stopped,omitempty"` // what had been shown when somebody said /stop
	Model      string     `json:"model,omitempty"`
	Usage      llm.Usage  `json:"usage,omitzero"`
	Cost       float64    `json:"cost,omitempty"`
	Estimate   int        `json:"estimate,omitempty"` // tokens that the prompt was thought to have
}

// State is how far a tool call has come, as the log spells it.
type State string

const (
	Pending   State = "pending"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Rejected  State = "rejected"
)

// Ended reports whether a call in this state has its result.
func (s State) Ended() bool { return s != Pending && s != Running }

// ToolStated is a step in a tool call's life. The one whose state has ended
// carries the result.
type ToolStated struct {
	Call   string `json:"call"`
	Name   string `json:"name"`
	State  State  `json:"state"`
	Label  string `json:"label,omitempty"`  // what the call does, in a line
	Target string `json:"target,omitempty"` // the resolved path that it is about
	Result string `json:"result,omitempty"`
	// Outside says that the result came from outside the conversation: the
	// model is to read it as data.
	Outside bool `json:"outside,omitempty"`
}

// Asked says that people were asked something on behalf of a call: whether it
// may run, or what its tool wants to know. The request itself is a row.
type Asked struct {
	Ask    string   `json:"ask"`
	Kind   ask.Kind `json:"kind"`
	Call   string   `json:"call"`
	Digest string   `json:"digest"`          // what an approval is bound to, or of the question
	Again  bool     `json:"again,omitempty"` // the call had been interrupted while it ran
}

// Answered says what became of an [Asked].
type Answered struct {
	Ask      string    `json:"ask"`
	Call     string    `json:"call"`
	Approved bool      `json:"approved,omitempty"`
	Text     string    `json:"text,omitempty"` // the answer, or why the call may not run, for the model
	None     bool      `json:"none,omitempty"` // nobody answered
	By       chat.User `json:"by,omitzero"`
	State    string    `json:"state,omitempty"` // what the target held when people looked
}

// ScratchpadSet replaces what the agent has noted down for itself.
type ScratchpadSet struct {
	Text string `json:"text"`
}

// Summarised stands for everything of its frame up to Through. It carries what
// the entries it replaces had set.
type Summarised struct {
	Through uint64    `json:"through"`
	Text    string    `json:"text"`
	Carried Carried   `json:"carried"`
	Model   string    `json:"model,omitempty"`
	Usage   llm.Usage `json:"usage,omitzero"`
	Cost    float64   `json:"cost,omitempty"`
}

// Cleared forgets what was said before it; settings stay.
type Cleared struct{}

// Noted is a fact about the conversation that the model should read: a message
// was edited or deleted after it was taken.
type Noted struct {
	Text string `json:"text"`
}

// ModelPicked says which model people want, "" for the configured order.
type ModelPicked struct {
	Model string `json:"model"`
}

// Attempted says that an unfinished turn was taken up again after a crash.
type Attempted struct {
	Turn string `json:"turn"`
}

// Suspended says that parley was shut down in mid-turn: no fault of the turn.
type Suspended struct {
	Turn string `json:"turn"`
}

// How says in which way a turn ended.
type How string

const (
	Final     How = "final"     // with an answer
	Stopped   How = "stopped"   // a person said /stop
	Exhausted How = "exhausted" // rounds or time were used up
	Broken    How = "failed"    // the model or parley failed
)

// TurnEnded closes a turn.
type TurnEnded struct {
	Turn   string `json:"turn"`
	How    How    `json:"how"`
	Reason string `json:"reason,omitempty"` // for the operator
}

func (TurnStarted) entry()   {}
func (UserSaid) entry()      {}
func (AssistantSaid) entry() {}
func (ToolStated) entry()    {}
func (Asked) entry()         {}
func (Answered) entry()      {}
func (ScratchpadSet) entry() {}
func (Summarised) entry()    {}
func (Cleared) entry()       {}
func (Noted) entry()         {}
func (ModelPicked) entry()   {}
func (Attempted) entry()     {}
func (Suspended) entry()     {}
func (TurnEnded) entry()     {}

// wire is the stored form of an entry; the sequence number is the record's.
type wire struct {
	At     time.Time       `json:"at"`
	Frame  string          `json:"frame,omitempty"`
	Origin string          `json:"origin,omitempty"`
	Kind   string          `json:"kind"`
	Body   json.RawMessage `json:"body"`
}

func encode(e Entry) ([]byte, error) {
	kind, err := kindOf(e.Body)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("encoding %s entry: %w", kind, err)
	}
	return json.Marshal(wire{e.At, e.Frame, e.Origin, kind, body})
}

func decode(seq uint64, data []byte) (Entry, error) {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return Entry{}, fmt.Errorf("decoding entry %d: %w", seq, err)
	}
	body, err := decodeBody(w.Kind, w.Body)
	if err != nil {
		return Entry{}, fmt.Errorf("decoding entry %d: %w", seq, err)
	}
	return Entry{seq, w.At, w.Frame, w.Origin, body}, nil
}

func kindOf(b Body) (string, error) {
	switch b.(type) {
	case TurnStarted:
		return "turn started", nil
	case UserSaid:
		return "user said", nil
	case AssistantSaid:
		return "assistant said", nil
	case ToolStated:
		return "tool", nil
	case Asked:
		return "asked", nil
	case Answered:
		return "answered", nil
	case ScratchpadSet:
		return "scratchpad set", nil
	case Summarised:
		return "summarised", nil
	case Cleared:
		return "cleared", nil
	case Noted:
		return "noted", nil
	case ModelPicked:
		return "model picked", nil
	case Attempted:
		return "attempted", nil
	case Suspended:
		return "suspended", nil
	case TurnEnded:
		return "turn ended", nil
	default:
		return "", fmt.Errorf("encoding entry: unknown body %T", b)
	}
}

func decodeBody(kind string, raw json.RawMessage) (Body, error) {
	switch kind {
	case "turn started":
		return as[TurnStarted](raw)
	case "user said":
		return as[UserSaid](raw)
	case "assistant said":
		return as[AssistantSaid](raw)
	case "tool":
		return as[ToolStated](raw)
	case "asked":
		return as[Asked](raw)
	case "answered":
		return as[Answered](raw)
	case "scratchpad set":
		return as[ScratchpadSet](raw)
	case "summarised":
		return as[Summarised](raw)
	case "cleared":
		return as[Cleared](raw)
	case "noted":
		return as[Noted](raw)
	case "model picked":
		return as[ModelPicked](raw)
	case "attempted":
		return as[Attempted](raw)
	case "suspended":
		return as[Suspended](raw)
	case "turn ended":
		return as[TurnEnded](raw)
	default:
		return nil, fmt.Errorf("unknown kind %q", kind)
	}
}

func as[T Body](raw json.RawMessage) (Body, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}
