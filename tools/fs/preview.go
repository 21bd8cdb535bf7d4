package fs

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"parley/tools"
)

// How much is compared and how much of the outcome is shown.
const (
	maxCompared = 1 << 20   // bytes, old and new together
	maxDiff     = 256 << 10 // bytes
	maxHead     = 4 << 10   // bytes, where there is nothing to compare
)

// preview shows what a plan makes of a file.
func preview(name string, was present, now plan) tools.Preview {
	v := tools.Preview{Kind: tools.PreviewDiff, State: was.state}
	from := clean(name)
	if !was.exists {
		from = "/dev/null"
	}
	why := ""
	switch {
	case was.exists && was.data == nil:
		why = fmt.Sprintf("It replaces a file of %s.", amount(was.info.Size()))
	case was.kind != "":
		why = fmt.Sprintf("It replaces a file that is not text: %s, %s.", was.kind, amount(was.info.Size()))
	case binary(now.data) != "":
		why = "The new content is not text."
	case len(was.data)+len(now.data) > maxCompared:
		why = fmt.Sprintf("It is too much to compare: %s become %s.", amount(int64(len(was.data))), amount(int64(len(now.data))))
	}
	if why != "" {
		v.Text = fmt.Sprintf("--- %s\n+++ %s\n%s", from, clean(name), head(now.data))
		v.Note = why + " Only how the new content begins is shown."
		return v
	}
	v.Text, v.Note = compare(from, clean(name), string(was.data), string(now.data))
	return v
}

// compare makes a unified diff of a size that can be sent to a chat.
func compare(from, to, old, new string) (diff, note string) {
	diff, err := udiff.ToUnified(from, to, old, udiff.Lines(old, new), udiff.DefaultContextLines)
	switch {
	case err != nil:
		return "", "What would change could not be worked out: " + err.Error()
	case diff == "" && from != to:
		return fmt.Sprintf("--- %s\n+++ %s\n", from, to), "It makes an empty file."
	case diff == "":
		return "", "It changes nothing."
	case len(diff) <= maxDiff:
		return diff, ""
	}
	cut := strings.LastIndexByte(diff[:maxDiff], '\n') + 1
	return diff[:cut], fmt.Sprintf("Only the first %s of the changes are shown; %s more follow.", amount(int64(cut)), amount(int64(len(diff)-cut)))
}

// head is how new content begins, as lines that are added.
func head(data []byte) string {
	cut := data[:min(len(data), maxHead)]
	var b strings.Builder
	for row := range strings.Lines(string(cut)) {
		b.WriteString("+" + line([]byte(strings.TrimRight(row, "\r\n")), maxHit, 0) + "\n")
	}
	if left := len(data) - len(cut); left > 0 {
		fmt.Fprintf(&b, "… (%s more)\n", amount(int64(left)))
	}
	return b.String()
}
