package ask

import (
	"fmt"

	"parley/core/chat"
)

// mostChoices is how many suggested answers get a button: with the row of the
// others they make five rows, which is what the narrowest platform shows.
const mostChoices = 12

func (r Request) buttons() [][]chat.Button {
	switch r.Kind {
	case Approval:
		return [][]chat.Button{
			{r.approve("Approve"), r.reject("Reject", "Why not? (- for no reason)")},
			{
				{Label: "15 min", Line: "/approve " + r.ID + " 15m"},
				{Label: "Session", Line: "/approve " + r.ID + " session"},
			},
		}
	case Secret:
		return [][]chat.Button{{r.reply("Set …"), r.decline("Decline")}}
	case Clarification:
		return append(r.suggestions(), []chat.Button{r.reply("Answer …")})
	default:
		return append(r.suggestions(), []chat.Button{r.reply("Answer …"), r.decline("Decline")})
	}
}

func (r Request) approve(label string) chat.Button {
	return chat.Button{Label: label, Line: "/approve " + r.ID, Style: chat.Primary}
}

func (r Request) reject(label, prompt string) chat.Button {
	return chat.Button{Label: label, Line: "/reject " + r.ID, Prompt: prompt, Style: chat.Danger}
}

func (r Request) decline(label string) chat.Button {
	return chat.Button{Label: label, Line: "/reject " + r.ID}
}

// reply asks for the answer in words.
func (r Request) reply(label string) chat.Button {
	prompt := clean(r.Title, longestLabel)
	if prompt == "" {
		prompt = "Your answer"
	}
	return chat.Button{Label: label, Line: "/answer " + r.ID, Prompt: prompt}
}

// suggestions are the choices in at most four rows.
func (r Request) suggestions() [][]chat.Button {
	n := min(len(r.Choices), mostChoices)
	wide := max(1, (n+3)/4)
	var rows [][]chat.Button
	for i, c := range r.Choices[:n] {
		if i%wide == 0 {
			rows = append(rows, nil)
		}
		last := len(rows) - 1
		rows[last] = append(rows[last], chat.Button{Label: label(c), Line: fmt.Sprintf("/answer %s #%d", r.ID, i+1)})
	}
	return rows
}

// label is a suggested answer as a button shows it.
func label(choice string) string {
	return orElse(clean(choice, longestLabel), "…")
}
