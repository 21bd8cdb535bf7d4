package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"strings"
	"time"

	"parley/core/chat"
	"parley/storage"
)

// alphabet has 32 letters, so that each carries five bits, and none that is
// read as another: what people type as O, I or L is taken for the digit.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// codeLength makes forty bits, which the limits on guessing make plenty.
const codeLength = 8

// newCode makes a code in the form in which it is shown, "K7F3-9QX2".
func (a *Access) newCode() (string, error) {
	var b [codeLength]byte
	if _, err := io.ReadFull(a.rand, b[:]); err != nil {
		return "", fmt.Errorf("reading random bytes: %w", err)
	}
	for i := range b {
		b[i] = alphabet[b[i]%byte(len(alphabet))]
	}
	return string(b[:codeLength/2]) + "-" + string(b[codeLength/2:]), nil
}

// normal reads a code as a person types it: case, spaces and dashes do not
// matter. A text that cannot be a code becomes "".
func normal(typed string) string {
	if len(typed) > 8*codeLength {
		return ""
	}
	code := strings.Map(normalLetter, typed)
	if len(code) != codeLength {
		return ""
	}
	return code
}

// normalLetter drops what people put between letters, and what a copied code
// brings along from the Markdown around it.
func normalLetter(r rune) rune {
	switch r {
	case ' ', '\t', '\n', '\r', '-', '_', '–', '—', '‐', '‑', '`', '*', '\u00a0':
		return -1
	case 'o', 'O':
		return '0'
	case 'i', 'I', 'l', 'L':
		return '1'
	}
	if r >= 'a' && r <= 'z' {
		r -= 'a' - 'A'
	}
	return r
}

// sameCode compares in constant time. Texts that are no codes never match.
func sameCode(a, b string) bool {
	a, b = normal(a), normal(b)
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// codeRow is a code that nobody needs to read again: its salted hash.
type codeRow struct {
	Salt    []byte      `json:"salt"`
	Hash    []byte      `json:"hash"`
	Expires time.Time   `json:"expires,omitzero"` // zero: it stands until it is replaced
	By      chat.UserID `json:"by,omitempty"`     // who made it
	At      chat.Key    `json:"at,omitzero"`      // and where
}

const (
	codes    = storage.Typed[codeRow]("access_codes")
	claimKey = "claim"
	linkKey  = "link/" // and the person's id
)

// hashed makes the row of a code.
func (a *Access) hashed(code string) (codeRow, error) {
	salt := make([]byte, 16)
	if _, err := io.ReadFull(a.rand, salt); err != nil {
		return codeRow{}, fmt.Errorf("reading random bytes: %w", err)
	}
	return codeRow{Salt: salt, Hash: digest(salt, code)}, nil
}

// fits reports whether a typed code is the one, in constant time.
func (r codeRow) fits(typed string) bool {
	typed = normal(typed)
	return typed != "" && len(r.Hash) > 0 && subtle.ConstantTimeCompare(r.Hash, digest(r.Salt, typed)) == 1
}

func (r codeRow) expired(now time.Time) bool {
	return !r.Expires.IsZero() && !now.Before(r.Expires)
}

// digest hashes a code in its normal form, so that it does not matter how it was
// typed.
func digest(salt []byte, code string) []byte {
	h := sha256.New()
	h.Write(salt)
	h.Write([]byte(normal(code)))
	return h.Sum(nil)
}

// Limits on wrong codes. Those of one account stop somebody who tries; the one
// of all strangers together stops somebody with many accounts.
const (
	guessesEach = 5
	guessesAll  = 50
	guessWindow = time.Hour
)

// guessRow counts wrong codes of one kind within a window. It is swapped, so
// that guessing in several chats at once does not get around it.
type guessRow struct {
	Since time.Time           `json:"since"`
	Total int                 `json:"total"` // of strangers
	By    map[chat.UserID]int `json:"by,omitempty"`
}

const guesses = storage.Typed[guessRow]("access_guesses")

// guess is one attempt at a code.
type guess struct {
	key   string
	row   guessRow
	rev   uint64
	who   chat.UserID
	known bool // people with a role are not held up by what strangers do
}

// guess reads how often codes of that kind were guessed wrong within the window,
// which begins with the first wrong one.
func (a *Access) guess(ctx context.Context, key string, who chat.UserID, known bool) (guess, error) {
	row, rev, err := guesses.Get(ctx, a.store, key)
	if err != nil {
		return guess{}, err
	}
	if !a.now().Before(row.Since.Add(guessWindow)) {
		row = guessRow{Since: a.now()}
	}
	return guess{key, row, rev, who, known}, nil
}

// blocked reports whether an attempt is refused without a look at its code.
func (g guess) blocked() bool {
	return g.row.By[g.who] >= guessesEach || !g.known && g.row.Total >= guessesAll
}

// wrong is the refusal of a wrong code, and counts it.
func (a *Access) wrong(g guess, reply string) (Change, error) {
	id, err := a.nonce()
	if err != nil {
		return Change{}, err
	}
	by := make(map[chat.UserID]int, len(g.row.By)+1)
	for who, n := range g.row.By {
		by[who] = n
	}
	by[g.who]++
	g.row.By = by
	if !g.known {
		g.row.Total++
	}
	c := refuse("wrong "+g.key+" code", reply)
	c.Ops = []storage.Op{guesses.Swap(g.key, g.row, g.rev, id)}
	return c, nil
}
