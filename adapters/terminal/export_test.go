package terminal

// Clean and Decode are under fuzz.
var Clean = clean

// Decoded is a key as the fuzz test sees it: what it is and its text.
type Decoded struct {
	Code int
	Text string
}

// Decode feeds pieces to one decoder.
func Decode(pieces ...[]byte) []Decoded {
	var d decoder
	var out []Decoded
	for _, p := range pieces {
		for _, k := range d.feed(p) {
			out = append(out, Decoded{int(k.code), k.text})
		}
	}
	return out
}

// Rendered lays a Markdown text out without attributes, row by row.
func Rendered(text string, open bool, width int) []string {
	var d document
	d.set(trim(clean(text)), open)
	var rows []string
	for _, r := range wrap(d.lines, width, false) {
		rows = append(rows, r.text)
	}
	return rows
}

// LongestLine is the limit for a message on a pipe.
const LongestLine = longestLine
