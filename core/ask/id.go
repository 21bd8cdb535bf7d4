package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/storage"
)

// alphabet has 32 letters, so that each carries five bits, and none that is
// read as another: what people type as o, i or l is taken for the digit.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// idLength makes thirty bits. That is enough against guessing, since an id
// alone is of no use: who answers must be among the answerers.
const idLength = 6

// freshID makes an id that no row has, and so none that was settled within the
// last seven days.
func (a *Asks) freshID(ctx context.Context) (string, error) {
	const tries = 20
	for range tries {
		var b [idLength]byte
		if _, err := io.ReadFull(a.rand, b[:]); err != nil {
			return "", fmt.Errorf("reading random bytes: %w", err)
		}
		for i := range b {
			b[i] = alphabet[b[i]%byte(len(alphabet))]
		}
		id := string(b[:])
		_, err := a.store.Get(ctx, string(rows), id)
		if errors.Is(err, storage.ErrNotFound) {
			return id, nil
		}
		if err != nil {
			return "", fmt.Errorf("looking for a free id: %w", err)
		}
	}
	return "", fmt.Errorf("finding no free id in %d tries", tries)
}

// normal reads an id as a person types it. A text that cannot be an id becomes
// "".
func normal(typed string) string {
	id, rest, ok := CutID(typed)
	if !ok || rest != "" {
		return ""
	}
	return id
}

// CutID reads the id at the beginning of what was typed and returns the rest,
// trimmed. Case does not matter, nor do spaces, dashes and # around and in the
// id, nor what a copied id brings along from the text around it. An id ends
// where a word does.
func CutID(typed string) (id, rest string, ok bool) {
	var b strings.Builder
	for i, r := range typed {
		switch l := letter(r); {
		case b.Len() == idLength:
			rest = strings.TrimLeft(typed[i:], "`*,:;.")
			next, _ := utf8.DecodeRuneInString(rest)
			return b.String(), strings.TrimSpace(rest), rest == "" || unicode.IsSpace(next)
		case l != 0:
			b.WriteByte(l)
		case !unicode.IsSpace(r) && !strings.ContainsRune("#`*-_‐‑–—", r):
			return "", "", false
		}
	}
	return b.String(), "", b.Len() == idLength
}

// letter is the letter of the alphabet that is meant, 0 for none.
func letter(r rune) byte {
	switch r = unicode.ToLower(r); {
	case r == 'o':
		return '0'
	case r == 'i', r == 'l':
		return '1'
	case r < utf8.RuneSelf && strings.IndexByte(alphabet, byte(r)) >= 0:
		return byte(r)
	default:
		return 0
	}
}
