package outbox

import (
	"fmt"
	"strings"

	"parley/core/chat"
)

// degrade turns what a chat cannot show into text: buttons become the lines
// that pressing them would have typed.
func degrade(p chat.Post, t chat.Traits) chat.Post {
	if t.Buttons || len(p.Buttons) == 0 {
		return p
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(p.Text, "\n"))
	if b.Len() > 0 {
		b.WriteString("\n\n")
	}
	n := 0
	for _, row := range p.Buttons {
		for _, button := range row {
			n++
			fmt.Fprintf(&b, "%d. %s: %s\n", n, button.Label, typed(button))
		}
	}
	p.Text, p.Buttons = strings.TrimRight(b.String(), "\n"), nil
	return p
}

// typed is a button's command line as somebody would type it.
func typed(b chat.Button) string {
	fence := "`"
	for strings.Contains(b.Line, fence) {
		fence += "`"
	}
	line, pad := b.Line, ""
	if len(fence) > 1 {
		pad = " "
	}
	if b.Prompt != "" {
		return fence + pad + line + " …" + pad + fence + " (" + b.Prompt + ")"
	}
	return fence + pad + line + pad + fence
}
