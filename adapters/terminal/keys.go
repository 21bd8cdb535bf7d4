package terminal

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// key is what somebody pressed, or text that was typed or pasted.
type key struct {
	code keyCode
	text string // of keyText and keyPaste
	cut  bool   // the paste was longer than longestPaste
}

type keyCode int

const (
	keyNone keyCode = iota // nothing we know: ignored
	keyText
	keyPaste
	keyEnter
	keyNewline
	keyTab
	keyBackspace
	keyDelete
	keyLeft
	keyRight
	keyUp
	keyDown
	keyHome
	keyEnd
	keyWordLeft
	keyWordRight
	keyKillWord
	keyKillWordRight
	keyKillEnd
	keyKillStart
	keyYank
	keyInterrupt
	keyEOF
	keyClear
)

// controls are the single bytes that are keys.
var controls = map[byte]keyCode{
	'A' - 64: keyHome, 'B' - 64: keyLeft, 'C' - 64: keyInterrupt, 'D' - 64: keyEOF,
	'E' - 64: keyEnd, 'F' - 64: keyRight, 'H' - 64: keyBackspace, 'K' - 64: keyKillEnd,
	'L' - 64: keyClear, 'N' - 64: keyDown, 'P' - 64: keyUp, 'U' - 64: keyKillStart,
	'W' - 64: keyKillWord, 'Y' - 64: keyYank,
	'\t': keyTab, '\r': keyEnter, '\n': keyEnter, 0x7f: keyBackspace,
}

// alts are what follows an escape when Alt is held.
var alts = map[byte]keyCode{
	'b': keyWordLeft, 'f': keyWordRight, 'd': keyKillWordRight,
	0x7f: keyKillWord, 'H' - 64: keyKillWord, '\r': keyNewline, '\n': keyNewline,
}

// sequences are what follows "ESC [" or "ESC O".
var sequences = map[string]keyCode{
	"A": keyUp, "B": keyDown, "C": keyRight, "D": keyLeft, "H": keyHome, "F": keyEnd,
	"1~": keyHome, "7~": keyHome, "4~": keyEnd, "8~": keyEnd, "3~": keyDelete,
	"1;5C": keyWordRight, "1;5D": keyWordLeft, "1;3C": keyWordRight, "1;3D": keyWordLeft,
	"3;5~": keyKillWordRight, "3;3~": keyKillWordRight, "M": keyEnter,
	"13;2u": keyNewline, "13;3u": keyNewline, "27;2;13~": keyNewline, "27;3;13~": keyNewline,
}

const (
	pasteBegin = "200~"
	pasteEnd   = "\x1b[201~"
	// longestPaste is how much of one paste is taken, in bytes.
	longestPaste = 1 << 20
	// longestSequence is where we stop believing in a control sequence.
	longestSequence = 64
)

// decoder turns the bytes of a terminal into keys. Bytes may be split anywhere
// between two calls. It is not safe for concurrent use.
type decoder struct {
	buf     []byte
	pasting bool
	pasted  []byte
	cut     bool // bytes of this paste were left out
}

// feed takes the next bytes and returns the keys that are complete. Text that
// arrived in one piece is one key.
func (d *decoder) feed(b []byte) []key {
	if len(d.buf) == 1 && d.buf[0] == 0x1b && len(b) > 0 && b[0] != '[' && b[0] != 'O' {
		d.buf = d.buf[:0] // the Escape key, pressed some time ago
	}
	d.buf = append(d.buf, b...)
	var keys []key
	rest := d.buf
	for len(rest) > 0 {
		k, n := d.next(rest)
		if n == 0 {
			break
		}
		rest = rest[n:]
		keys = add(keys, k)
	}
	d.buf = append(d.buf[:0], rest...)
	return keys
}

func add(keys []key, k key) []key {
	if k.code == keyNone {
		return keys
	}
	if last := len(keys) - 1; k.code == keyText && last >= 0 && keys[last].code == keyText {
		keys[last].text += k.text
		return keys
	}
	return append(keys, k)
}

// next decodes what b begins with and returns how many bytes that took, 0 if
// more are needed.
func (d *decoder) next(b []byte) (key, int) {
	switch c := b[0]; {
	case d.pasting:
		return d.paste(b)
	case c == 0x1b:
		return d.escape(b)
	case c < ' ' || c == 0x7f:
		return key{code: controls[c]}, 1
	default:
		return letters(b)
	}
}

// letters takes all text up to the next control byte.
func letters(b []byte) (key, int) {
	n := 0
	for n < len(b) && b[n] >= ' ' && b[n] != 0x7f {
		if !utf8.FullRune(b[n:]) {
			break
		}
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	if n == 0 {
		return key{}, 0
	}
	text := typed(string(b[:n]))
	if text == "" {
		return key{}, n
	}
	return key{code: keyText, text: text}, n
}

func (d *decoder) escape(b []byte) (key, int) {
	switch {
	case len(b) == 1:
		return key{}, 0
	case b[1] == '[' || b[1] == 'O':
		return d.sequence(b)
	case b[1] == 0x1b:
		return key{}, 1
	default:
		if code := alts[b[1]]; code != keyNone || b[1] >= ' ' && b[1] < utf8.RuneSelf {
			return key{code: code}, 2
		}
		return key{}, 1
	}
}

// sequence takes a control sequence: parameters, then one final byte. One that
// is cut short by something else is dropped.
func (d *decoder) sequence(b []byte) (key, int) {
	n := 2
	for n < len(b) && b[n] >= ' ' && b[n] < '@' {
		n++
	}
	switch {
	case n > longestSequence:
		return key{}, n
	case n == len(b):
		return key{}, 0
	case b[n] < ' ' || b[n] > '~':
		return key{}, n
	}
	name := string(b[2 : n+1])
	if name == pasteBegin && b[1] == '[' {
		d.pasting, d.pasted, d.cut = true, nil, false
	}
	return key{code: sequences[name]}, n + 1
}

// paste collects until the end of a bracketed paste; everything in between is
// text, whatever it looks like.
func (d *decoder) paste(b []byte) (key, int) {
	end := bytes.Index(b, []byte(pasteEnd))
	if end < 0 {
		n := max(0, len(b)-len(pasteEnd)+1)
		d.keep(b[:n])
		return key{}, n
	}
	d.keep(b[:end])
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(d.pasted))
	d.pasting, d.pasted = false, nil
	return key{code: keyPaste, text: typed(text), cut: d.cut}, end + len(pasteEnd)
}

func (d *decoder) keep(b []byte) {
	room := longestPaste - len(d.pasted)
	d.cut = d.cut || len(b) > room
	d.pasted = append(d.pasted, b[:min(len(b), room)]...)
}

// typed drops what nobody means to type: control characters but line breaks
// and tabs, and bytes that are no text.
func typed(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' || reorders(r) {
			return -1
		}
		return r
	}, s)
}
