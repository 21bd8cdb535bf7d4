package terminal

import (
	"unicode"
	"unicode/utf8"
)

const (
	joiner   = '\u200d' // glues two emoji into one
	emojiful = '\ufe0f' // asks for the emoji form of what stands before
)

// cluster returns how many bytes the first user-perceived character of s has
// and how many columns it takes. It is a short form of the Unicode rules:
// marks, joined emoji, skin tones and flags stay together. s is not empty.
func cluster(s string) (size, width int) {
	if s[0] < utf8.RuneSelf && (s[0] < ' ' || len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, 1 // also for a tab or line break with a mark after it
	}
	first, size := utf8.DecodeRuneInString(s)
	width = columns(first)
	flag := regional(first)
	for size < len(s) {
		r, n := utf8.DecodeRuneInString(s[size:])
		switch {
		case r == joiner:
			size += n
			if size < len(s) {
				_, n = utf8.DecodeRuneInString(s[size:])
			} else {
				n = 0
			}
		case flag && regional(r):
			flag, width = false, 2
		case r == emojiful:
			width = 2
		case !extends(r):
			return size, width
		}
		size += n
	}
	return size, width
}

// backCluster returns the size of the last character of s, which is not empty.
// It looks at the line it is in from the start: there is no short way back.
func backCluster(s string) int {
	start := len(s) - 1
	for start > 0 && s[start-1] != '\n' {
		start--
	}
	size := 1
	for start < len(s) {
		size, _ = cluster(s[start:])
		start += size
	}
	return size
}

func regional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// extends reports whether r belongs to the character before it.
func extends(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r >= 0x1f3fb && r <= 0x1f3ff: // skin tones
		return true
	case r >= 0x1160 && r <= 0x11ff: // vowels and finals of Hangul
		return true
	case r >= 0xe0020 && r <= 0xe007f: // the letters of regional flags
		return true
	}
	return r != '\u200b' && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf)
}

func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case extends(r) && !(r >= 0x1f3fb && r <= 0x1f3ff), r == '\u200b':
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the characters of two columns: East Asian Width W and F of Unicode
// 16, neighbouring ranges with unassigned gaps joined.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x2329, 0x232a, 1}, {0x23e9, 0x23ec, 1},
		{0x23f0, 0x23f3, 3}, {0x25fd, 0x25fe, 1}, {0x2614, 0x2615, 1}, {0x2630, 0x2637, 1},
		{0x2648, 0x2653, 1}, {0x267f, 0x267f, 1}, {0x268a, 0x268f, 1}, {0x2693, 0x2693, 1},
		{0x26a1, 0x26a1, 1}, {0x26aa, 0x26ab, 1}, {0x26bd, 0x26be, 1}, {0x26c4, 0x26c5, 1},
		{0x26ce, 0x26d4, 6}, {0x26ea, 0x26ea, 1}, {0x26f2, 0x26f3, 1}, {0x26f5, 0x26fa, 5},
		{0x26fd, 0x26fd, 1}, {0x2705, 0x2705, 1}, {0x270a, 0x270b, 1}, {0x2728, 0x2728, 1},
		{0x274c, 0x274e, 2}, {0x2753, 0x2755, 1}, {0x2757, 0x2757, 1}, {0x2795, 0x2797, 1},
		{0x27b0, 0x27bf, 15}, {0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b55, 5}, {0x2e80, 0x303e, 1},
		{0x3041, 0x3247, 1}, {0x3250, 0xa4cf, 1}, {0xa960, 0xa97c, 1}, {0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1}, {0xfe10, 0xfe19, 1}, {0xfe30, 0xfe6f, 1}, {0xff01, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18d08, 1}, {0x1aff0, 0x1b2fb, 1}, {0x1d300, 0x1d356, 1}, {0x1d360, 0x1d376, 1},
		{0x1f004, 0x1f004, 1}, {0x1f0cf, 0x1f0cf, 1}, {0x1f18e, 0x1f18e, 1}, {0x1f191, 0x1f19a, 1},
		{0x1f200, 0x1f265, 1}, {0x1f300, 0x1f320, 1}, {0x1f32d, 0x1f335, 1}, {0x1f337, 0x1f37c, 1},
		{0x1f37e, 0x1f393, 1}, {0x1f3a0, 0x1f3ca, 1}, {0x1f3cf, 0x1f3d3, 1}, {0x1f3e0, 0x1f3f0, 1},
		{0x1f3f4, 0x1f3f4, 1}, {0x1f3f8, 0x1f43e, 1}, {0x1f440, 0x1f440, 1}, {0x1f442, 0x1f4fc, 1},
		{0x1f4ff, 0x1f53d, 1}, {0x1f54b, 0x1f54e, 1}, {0x1f550, 0x1f567, 1}, {0x1f57a, 0x1f57a, 1},
		{0x1f595, 0x1f596, 1}, {0x1f5a4, 0x1f5a4, 1}, {0x1f5fb, 0x1f64f, 1}, {0x1f680, 0x1f6c5, 1},
		{0x1f6cc, 0x1f6cc, 1}, {0x1f6d0, 0x1f6d2, 1}, {0x1f6d5, 0x1f6d7, 1}, {0x1f6dc, 0x1f6df, 1},
		{0x1f6eb, 0x1f6ec, 1}, {0x1f6f4, 0x1f6fc, 1}, {0x1f7e0, 0x1f7eb, 1}, {0x1f7f0, 0x1f7f0, 1},
		{0x1f90c, 0x1f93a, 1}, {0x1f93c, 0x1f945, 1}, {0x1f947, 0x1f9ff, 1}, {0x1fa70, 0x1faff, 1},
		{0x20000, 0x2fffd, 1}, {0x30000, 0x3fffd, 1},
	},
}
