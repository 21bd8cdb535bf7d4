package ask

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/core/chat"
	"parley/storage"
)

// Expiry is how long a request stays open if nothing else is said, and Kept how
// long it is remembered once it is settled.
const (
	Expiry = 24 * time.Hour
	Kept   = 7 * 24 * time.Hour
)

// ErrNobody is returned by Open for a request that nobody may answer. There is
// no point in showing it: the caller says so instead of waiting.
var ErrNobody = errors.New("nobody may answer")

// Asks finds requests and works out what becomes of them. It holds no state;
// its methods are safe for concurrent use, block only on the store, and end
// with their context.
type Asks struct {
	store  storage.Table
	now    func() time.Time
	rand   io.Reader
	expiry time.Duration
}

// Options of [New]. The zero value is good.
type Options struct {
	Now    func() time.Time // the clock; time.Now by default
	Rand   io.Reader        // what ids are made of; crypto/rand by default
	Expiry time.Duration    // how long requests stay open; [Expiry] by default
}

// New returns an Asks that reads from store. It touches nothing.
func New(store storage.Table, o Options) *Asks {
	a := &Asks{store: store, now: o.Now, rand: o.Rand, expiry: o.Expiry}
	if a.now == nil {
		a.now = time.Now
	}
	if a.rand == nil {
		a.rand = rand.Reader
	}
	if a.expiry <= 0 {
		a.expiry = Expiry
	}
	return a
}

// rows holds the requests by id; index finds them: its keys are made by the
// functions below and end in an id. An entry may outlive what it says, so
// whoever follows one looks at the row.
const (
	rows  = storage.Typed[Request]("asks")
	index = storage.Typed[struct{}]("ask_index")
)

const dueAt, keptTill = "due/", "kept/"

func inChat(k chat.Key) string        { return "chat/" + k.String() + " " }
func inSession(session string) string { return "session/" + session + " " }
func due(t time.Time) string          { return dueAt + moment(t) + " " }
func keptUntil(t time.Time) string    { return keptTill + moment(t) + " " }
func moment(t time.Time) string       { return fmt.Sprintf("%020d", max(0, t.UnixNano())) }

// enter is an entry of the index.
func enter(place, id string) storage.Op { return index.Set(place+id, struct{}{}) }

// entered is the id at the end of an index key.
func entered(key string) string { return key[max(0, len(key)-idLength):] }

// due reports whether nobody has answered and nobody may any more.
func (r Request) due(t time.Time) bool { return r.State == Open && !t.Before(r.Expires) }

// end is when a settled request is forgotten.
func (r Request) end() time.Time { return r.Answer.At.Add(Kept) }

// Open works out a new request: it fills in ID, Asked, State, the ids of the
// posts of Cards, and Expires unless that is set, and cuts Title, Question and
// Details to what a card shows. The ops are unconditional. The caller applies them together with
// the log entry and the posts that [CardPost] makes.
func (a *Asks) Open(ctx context.Context, r Request) (Request, []storage.Op, error) {
	if err := r.check(); err != nil {
		return Request{}, nil, fmt.Errorf("opening %s: %w", r.Kind, err)
	}
	id, err := a.freshID(ctx)
	if err != nil {
		return Request{}, nil, err
	}
	r.ID, r.State, r.Answer = id, Open, Answer{}
	r.Asked = a.now().Round(0)
	if r.Expires.IsZero() {
		r.Expires = r.Asked.Add(a.expiry)
	}
	r = r.bounded()
	cards := r.Cards
	r.Cards = nil
	for _, c := range cards {
		if r.shownIn(c.Key) == 0 {
			r.Cards = append(r.Cards, r.card(c.Key, c.Waiting))
		}
	}
	ops := []storage.Op{
		rows.Set(id, r),
		enter(inSession(r.Session), id),
		enter(due(r.Expires), id),
	}
	for _, k := range r.keys() {
		ops = append(ops, enter(inChat(k), id))
	}
	return r, ops, nil
}

// bounded cuts what a card does not show, so that a row has a sensible size.
func (r Request) bounded() Request {
	r.Title, r.Question = short(r.Title, 2*longestTitle), short(r.Question, longestQuestion)
	r.Details = r.Details.trimmed()
	r.Details.Agent, r.Details.Chat = short(r.Details.Agent, longestTitle), short(r.Details.Chat, longestTitle)
	r.Details.Preview.Note = short(r.Details.Preview.Note, 4*longestTitle)
	return r
}

func (r Request) check() error {
	switch r.Kind {
	case Approval, Clarification, Elicitation, Secret:
	default:
		return fmt.Errorf("unknown kind %q", r.Kind)
	}
	if r.Session == "" {
		return errors.New("it belongs to no session")
	}
	if len(r.Answerers) == 0 {
		return ErrNobody
	}
	return nil
}

// keys are the chats in which the request is at home or shown.
func (r Request) keys() []chat.Key {
	var keys []chat.Key
	if !r.Key.IsZero() {
		keys = append(keys, r.Key)
	}
	for _, c := range r.Cards {
		if !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// shownIn counts the cards in a chat.
func (r Request) shownIn(k chat.Key) int {
	n := 0
	for _, c := range r.Cards {
		if c.Key == k {
			n++
		}
	}
	return n
}

// card is one more card in that chat. A further one there is another post.
func (r Request) card(k chat.Key, waiting bool) Card {
	sum := sha256.Sum256([]byte(k.String()))
	post := "ask/" + r.ID + "/card/" + hex.EncodeToString(sum[:6])
	if n := r.shownIn(k); n > 0 {
		post = fmt.Sprintf("%s.%d", post, n+1)
	}
	return Card{Key: k, Post: post, Waiting: waiting}
}

// OfPost returns the id of the request that a post is a card of. A reply to a
// card is an answer to its request.
func OfPost(post string) (id string, ok bool) {
	rest, found := strings.CutPrefix(post, "ask/")
	id, rest, _ = strings.Cut(rest, "/")
	if !found || normal(id) != id || !strings.HasPrefix(rest, "card/") && !strings.HasPrefix(rest, "settled/") {
		return "", false
	}
	return id, true
}

// How much of the arguments and of the preview a card shows, in bytes. Both
// together with all the rest fit into one message of the platforms we know.
const (
	longestText  = 2200
	longestArgs  = 900
	longestAlone = 2600 // arguments without a preview
)

func (d Details) argsLimit() int {
	if d.Preview.Text == "" {
		return longestAlone
	}
	return longestArgs
}

// Overlong reports what is too long for a card. The caller puts the whole of it
// into Files before it calls Open.
func (d Details) Overlong() (args, preview bool) {
	return len(d.Args) > d.argsLimit(), len(d.Preview.Text) > longestText
}

// trimmed keeps the heads.
func (d Details) trimmed() Details {
	limit := d.argsLimit()
	d.Args, d.ArgsCut = head(d.Args, limit)
	d.Preview.Text, d.TextCut = head(d.Preview.Text, longestText)
	return d
}

// head returns the beginning of a text, up to a line's end if there is one in
// its second half, and how many bytes that leaves out.
func head(s string, limit int) (string, int) {
	if len(s) <= limit {
		return s, 0
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if i := strings.LastIndexByte(s[:n], '\n'); i >= limit/2 {
		n = i
	}
	return s[:n], len(s) - n
}
