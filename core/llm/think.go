package llm

import "strings"

// think tells the answer from the reasoning that a model writes into it. It is
// fed with pieces of any size, and where they are cut makes no difference.
//
// The rules, in the order in which they matter:
//
//   - Reasoning in a field of its own is believed. A block at the beginning of
//     the text is then hidden only once it is closed.
//   - A block that opens the text is hidden, and so is the next one after it.
//     One that is never closed is hidden to the end or to where a final tag
//     opens the answer.
//   - A closing tag without an opening one, alone on its line and followed by
//     an empty line, ends reasoning whose opening tag was in the prompt. What
//     was shown of it is taken back.
//   - Any other tag is text: an answer may speak of tags, or show them in code.
type think struct {
	each      func(Delta)
	text      strings.Builder
	reasoning strings.Builder

	mode  mode
	buf   string // not decided yet
	typed bool   // reasoning came in a field of its own
	block bool   // a block was hidden; later closing tags are text
	final bool   // the answer stands in a final tag
	fence bool   // inside a code fence of the answer
	start bool   // at the start of a line of the answer
	last  byte   // the last byte that was taken from buf
}

type mode int

const (
	opening mode = iota // only white space so far
	hidden              // in a block
	held                // in a block that is only believed once it is closed
	leading             // before the first line of a final tag's answer
	shown               // in the answer
)

// The tags that open and close reasoning, in lower case.
var (
	openTags = []string{"<think>", "<thinking>", "<thought>", "<thoughts>", "<reasoning>",
		"<antthinking>", "<seed:think>", "[think]", "◁think▷"}
	closeTags = []string{"</think>", "</thinking>", "</thought>", "</thoughts>", "</reasoning>",
		"</antthinking>", "</seed:think>", "[/think]", "◁/think▷"}
	finalOpen  = []string{"<final>", "<final_answer>"}
	finalClose = []string{"</final>", "</final_answer>"}
	startTags  = concat(openTags, closeTags, finalOpen)
	blockTags  = concat(closeTags, finalOpen)
)

func concat(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func newThink(each func(Delta)) *think {
	if each == nil {
		each = func(Delta) {}
	}
	return &think{each: each, start: true}
}

// reasoned takes reasoning that came in a field of its own.
func (t *think) reasoned(s string) {
	if s != "" {
		t.typed = true
		t.hide(s)
	}
}

// write takes a piece of the text.
func (t *think) write(s string) {
	if s == "" {
		return
	}
	t.buf += s
	for t.step(false) {
	}
}

// end decides what is left. calls says whether tools are asked for: then a
// closing tag at the very end closed reasoning, and there is no answer.
func (t *think) end(calls bool) {
	for t.step(true) {
	}
	switch {
	case t.mode == hidden:
		t.hide(t.buf)
	case t.mode == shown && calls && t.strayAtEnd():
		t.takeBack()
	case t.mode == opening && t.block: // white space after a block
	default:
		t.show(t.buf)
	}
	t.buf = ""
}

// step decides a part of buf and says whether it may go on. With last, no more
// text will come.
func (t *think) step(last bool) bool {
	switch t.mode {
	case opening:
		return t.open(last)
	case hidden:
		return t.inBlock(last)
	case held:
		return t.inHeld()
	case leading:
		t.buf = strings.TrimLeft(t.buf, "\r\n")
		return t.buf != "" && t.answer(t.buf)
	default:
		return t.inAnswer(last)
	}
}

// open looks for a tag at the beginning.
func (t *think) open(last bool) bool {
	body := strings.TrimLeft(t.buf, " \t\r\n")
	if body == "" {
		return false
	}
	tag := tagAt(body, startTags)
	if tag == "" && !last && mayBecome(body, startTags) {
		return false
	}
	rest := body[len(tag):]
	switch {
	case tag == "":
		return t.answer(body)
	case contains(finalOpen, tag):
		t.final, t.block, t.mode, t.buf = true, true, leading, rest
		return true
	case contains(closeTags, tag):
		t.block, t.buf = true, rest
		return true
	case !last && mayBeMention(rest):
		return false
	case isMention(rest):
		return t.answer(body)
	}
	t.last, t.mode, t.buf = '\n', hidden, rest
	if t.typed && !t.block {
		t.mode, t.buf = held, body
	}
	return true
}

// answer begins the visible text with body. White space before it stays where
// it is the provider's own and goes where it followed a block.
func (t *think) answer(body string) bool {
	if t.mode == opening && !t.block {
		body = t.buf
	}
	t.mode, t.buf, t.last = shown, body, '\n'
	return body != ""
}

// inBlock hides buf up to a tag that ends the block.
func (t *think) inBlock(last bool) bool {
	at, tag := find(t.buf, blockTags)
	if tag == "" {
		keep := 0
		if !last {
			keep = tail(t.buf, blockTags)
		}
		t.take(len(t.buf) - keep)
		return false
	}
	t.take(at)
	rest := t.buf[len(tag):]
	switch {
	case contains(closeTags, tag) && !quoted(t.last):
		t.mode, t.block, t.buf = opening, true, rest
	case contains(closeTags, tag):
		t.take(len(tag))
	case rest == "" && !last:
		return false
	case t.finalIsMention(rest):
		t.take(len(tag))
	default:
		t.final, t.block, t.mode, t.buf = true, true, leading, rest
	}
	return true
}

// take hides n bytes of buf.
func (t *think) take(n int) {
	if n > 0 {
		t.last = t.buf[n-1]
		t.hide(t.buf[:n])
		t.buf = t.buf[n:]
	}
}

// finalIsMention says whether a final tag in a block is only spoken of.
func (t *think) finalIsMention(rest string) bool {
	if quoted(t.last) {
		return true
	}
	return t.last == ' ' && rest != "" && strings.ContainsRune(" .,;:!?)`'\"", rune(rest[0]))
}

func quoted(before byte) bool { return before == '`' || before == '"' || before == '\'' }

// inHeld waits for the end of a block.
func (t *think) inHeld() bool {
	const most = 64 << 10
	at, tag := find(t.buf[:min(len(t.buf), most)], closeTags)
	if tag == "" {
		return len(t.buf) >= most && t.answer(t.buf)
	}
	t.hide(t.buf[len(tagAt(t.buf, openTags)):at])
	t.mode, t.block, t.buf = opening, true, t.buf[at+len(tag):]
	return true
}

// inAnswer shows buf, but for closing tags that mean something.
func (t *think) inAnswer(last bool) bool {
	if t.buf == "" {
		return false
	}
	if t.final {
		return t.inFinal(last)
	}
	if t.block || t.typed {
		return t.pass(len(t.buf))
	}
	if !t.start {
		return t.pass(lineLen(t.buf))
	}
	return t.line(last)
}

// line decides on the start of a line: a fence, a stray closing tag, or text.
func (t *think) line(last bool) bool {
	tag := tagAt(t.buf, closeTags)
	if tag == "" {
		if !last && (mayBecome(t.buf, closeTags) || mayBecome(t.buf, fences)) {
			return false
		}
		if tagAt(t.buf, fences) != "" {
			t.fence = !t.fence
		}
		return t.pass(lineLen(t.buf))
	}
	rest := strings.TrimLeft(t.buf[len(tag):], " \t\r")
	after, ok := strings.CutPrefix(rest, "\n")
	empty := strings.TrimLeft(after, " \t\r")
	switch {
	case t.fence, rest != "" && !ok, empty != "" && empty[0] != '\n':
		return t.pass(lineLen(t.buf))
	case empty != "":
		t.buf = empty
		t.takeBack()
		return true
	}
	return false
}

var fences = []string{"```", "~~~"}

// strayAtEnd says whether buf is a closing tag and nothing else.
func (t *think) strayAtEnd() bool {
	tag := tagAt(t.buf, closeTags)
	return tag != "" && strings.TrimSpace(t.buf[len(tag):]) == ""
}

// takeBack turns what was shown into reasoning.
func (t *think) takeBack() {
	was := t.text.String()
	t.text.Reset()
	t.each(Delta{Restart: true})
	t.hide(was)
	t.mode, t.block = opening, true
}

// inFinal shows buf up to the tag that ends the answer, which it drops.
func (t *think) inFinal(last bool) bool {
	at, tag := find(t.buf, finalClose)
	if tag == "" {
		keep := 0
		if !last {
			keep = tail(t.buf, finalClose)
		}
		t.pass(len(t.buf) - keep)
		return false
	}
	t.pass(at)
	if quoted(t.last) {
		return t.pass(len(tag))
	}
	t.final, t.buf = false, t.buf[len(tag):]
	return true
}

// pass shows n bytes of buf.
func (t *think) pass(n int) bool {
	if n == 0 {
		return false
	}
	t.last = t.buf[n-1]
	t.start = t.last == '\n'
	t.show(t.buf[:n])
	t.buf = t.buf[n:]
	return true
}

func (t *think) show(s string) {
	if s != "" {
		t.text.WriteString(s)
		t.each(Delta{Text: s})
	}
}

func (t *think) hide(s string) {
	if s != "" {
		t.reasoning.WriteString(s)
		t.each(Delta{Reasoning: s})
	}
}
