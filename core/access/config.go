package access

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/core/chat"
)

// Door is what happens to unknown people in a private chat.
type Door string

const (
	Pairing   Door = "pairing"   // they get a code that an owner or admin approves
	Allowlist Door = "allowlist" // they are refused
	Open      Door = "open"      // they talk as guests, also in allowed groups
)

// Config is the access section of config.yaml. The zero value lets nobody in
// but by pairing and claim.
type Config struct {
	// Owners are accounts that are owners whatever commands say, written as
	// platform:ID ("telegram:123456"). /whoami tells an account its id.
	Owners []chat.UserID
	// Members are accounts that are at least members.
	Members []chat.UserID
	// DM is what happens to unknown people in private chats: pairing (the
	// default), allowlist or open.
	DM Door
	// Groups is when parley listens in a group chat for which /mention has
	// not said otherwise: mention (the default), always or off.
	Groups Mode
	// Chats are the group chats where parley answers, as "telegram:-100123";
	// threads belong to their chat. Owners and admins can add a chat by
	// sending /mention there. Empty: none.
	Chats []string
	// Approvers say who may approve tool calls: roles (owner, admin, member)
	// and accounts (platform:ID). Empty: owner and admin. Who is named by
	// account alone may not approve what they asked for themselves.
	Approvers []string
	// Bots are other bots that may talk, as guests or, with /role, members.
	// All other bots are ignored.
	Bots []chat.UserID

	// Local are the accounts of whoever sits at this machine. They are owners
	// like Owners, but parley still has to be claimed by an owner who can be
	// reached from outside.
	Local []chat.UserID
	// Now is the clock, nil for time.Now.
	Now func() time.Time
	// Rand is where codes come from, nil for crypto/rand. It must be safe for
	// concurrent use.
	Rand io.Reader
}

// Validate reports everything that is wrong, each problem with its key and the
// remedy.
func (c Config) Validate() error {
	var wrong []error
	wrong = append(wrong, checkIDs("owners", c.Owners)...)
	wrong = append(wrong, checkIDs("members", c.Members)...)
	wrong = append(wrong, checkIDs("bots", c.Bots)...)
	wrong = append(wrong, checkIDs("local", c.Local)...)
	wrong = append(wrong, c.checkWords()...)
	wrong = append(wrong, c.checkChats()...)
	wrong = append(wrong, c.checkApprovers()...)
	wrong = append(wrong, c.checkBots()...)
	return errors.Join(wrong...)
}

func checkIDs(key string, ids []chat.UserID) []error {
	var wrong []error
	for i, id := range ids {
		if problem := idProblem(string(id)); problem != "" {
			wrong = append(wrong, fmt.Errorf("access.%s[%d]: %s", key, i, problem))
		}
	}
	return wrong
}

func (c Config) checkWords() []error {
	var wrong []error
	switch c.DM {
	case "", Pairing, Allowlist, Open:
	default:
		wrong = append(wrong, fmt.Errorf("access.dm: %q is none of pairing, allowlist, open", c.DM))
	}
	switch c.Groups {
	case "", Mention, Always, Off:
	default:
		wrong = append(wrong, fmt.Errorf("access.groups: %q is none of mention, always, off", c.Groups))
	}
	return wrong
}

// checkChats refuses threads rather than dropping them: whoever lists one means
// that thread alone, which is not to be had.
func (c Config) checkChats() []error {
	var wrong []error
	for i, text := range c.Chats {
		k, err := chat.ParseKey(text)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("access.chats[%d]: %q is no chat; write platform:ID, as /whoami in that chat tells it", i, text))
		case k.Thread != "":
			wrong = append(wrong, fmt.Errorf("access.chats[%d]: %q names a thread; write its chat, %q", i, text, room(k)))
		}
	}
	return wrong
}

// checkApprovers refuses guests: with an open door they are anybody.
func (c Config) checkApprovers() []error {
	var wrong []error
	for i, text := range c.Approvers {
		if r, ok := ParseRole(text); ok {
			if r.below(Member) {
				wrong = append(wrong, fmt.Errorf("access.approvers[%d]: %q may not approve; name owner, admin, member or an account", i, text))
			}
		} else if problem := idProblem(text); problem != "" {
			wrong = append(wrong, fmt.Errorf("access.approvers[%d]: %s; a role (owner, admin, member) is fine, too", i, problem))
		}
	}
	return wrong
}

func (c Config) checkBots() []error {
	people := make(map[chat.UserID]bool)
	for _, id := range c.Owners {
		people[id] = true
	}
	var wrong []error
	for i, id := range c.Bots {
		if people[id] {
			wrong = append(wrong, fmt.Errorf("access.bots[%d]: %q is listed in access.owners; a bot cannot be an owner, take it out of one of the two", i, id))
		}
	}
	return wrong
}

// maxID is the longest account or chat id in bytes; platforms use a fifth of
// it.
const maxID = 128

// idProblem says what keeps a text from naming an account, "" for nothing.
func idProblem(id string) string {
	platform, rest, found := strings.Cut(id, ":")
	switch {
	case id == "":
		return "it is empty; write the numeric id as platform:ID, /whoami tells it"
	case len(id) > maxID:
		return fmt.Sprintf("it is longer than %d bytes; write the numeric id as platform:ID, /whoami tells it", maxID)
	case strings.HasPrefix(id, "@") || strings.HasPrefix(rest, "@"):
		return fmt.Sprintf("%q is a handle, which can change hands; write the numeric id as platform:ID, /whoami tells it", id)
	case !found || rest == "" || !isPlatform(platform) || strings.ContainsFunc(rest, badInID):
		return fmt.Sprintf("%q is no account; write the numeric id as platform:ID, /whoami tells it", id)
	default:
		return ""
	}
}

// isPlatform reports whether a text can be an adapter's name in config.yaml.
func isPlatform(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// badInID reports characters that no platform has in its ids, and that would
// let an id pass for something else in a line of text.
func badInID(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError || r == '`'
}
