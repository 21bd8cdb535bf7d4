package llm

import (
	"errors"
	"fmt"
	"time"
)

// trouble is how a kind reads in words: the clause follows a model's name, the
// remedy is a sentence.
type trouble struct{ clause, remedy string }

var troubles = map[Kind]trouble{
	Unreachable: {"could not be reached", "Check that its server runs and that base_url is right, or choose another model with /models."},
	Silent:      {"did not answer in time", "Check that its server runs, or choose another model with /models."},
	Cut:         {"broke off in the middle of its answer", "Send the message once more, or choose another model with /models."},
	Refused:     {"refused the key", "Check api_key in the configuration, and that the key may use this model."},
	Missing:     {"was not found at its server", "Check model and base_url in the configuration, or choose another model with /models."},
	Limited:     {"takes no more requests for now", "Wait a little, or choose another model with /models."},
	Spent:       {"has no credit left", "Top up the account at the provider, or choose another model with /models."},
	Overloaded:  {"is in trouble at its server", "Try again in a few minutes, or choose another model with /models."},
	Garbage:     {"gave an answer that cannot be read", "Check that base_url leads to an OpenAI-compatible server, or choose another model with /models."},
	TooLong:     {"cannot read a conversation this long", "/compact shortens it, /new begins a fresh one, and /models shows models with more room."},
	NoVision:    {"does not take pictures", "Send the message without the picture, or choose another model with /models."},
	Bad:         {"did not accept the request", "The log has the reason; /models chooses another model."},
}

// troubleOf never is empty, whatever the kind.
func troubleOf(k Kind) trouble {
	if t, ok := troubles[k]; ok {
		return t
	}
	return trouble{"failed", "The log has the reason; /models chooses another model."}
}

// Sentence says in plain words what happened and what helps. It holds no
// address, no key and none of the server's own words.
func (e *Error) Sentence() string {
	t := troubleOf(e.Kind)
	clause := t.clause
	switch {
	case e.Kind == Silent && e.Waited > 0:
		clause = "did not answer within " + inWords(e.Waited)
	case e.Kind == Limited && e.After > 0:
		clause += " and asks to wait " + inWords(e.After)
	}
	return fmt.Sprintf("The model %q %s. %s", e.Model, clause, t.remedy)
}

// Sentence says in plain words what an error of Model.Stream or Pool.Answer
// means to the person. It is "" for nil.
func Sentence(err error) string {
	var all *AllFailed
	var one *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &all):
		return all.Sentence()
	case errors.As(err, &one):
		return one.Sentence()
	}
	return "Something went wrong while asking the model. The log has the reason."
}

// inWords rounds a wait to what a person would say.
func inWords(d time.Duration) string {
	switch {
	case d <= time.Second:
		return "a second"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d seconds", (d+time.Second-1)/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", (d+time.Minute-1)/time.Minute)
	}
	return fmt.Sprintf("%d hours", (d+time.Hour-1)/time.Hour)
}
