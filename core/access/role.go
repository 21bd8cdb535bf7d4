package access

import "strings"

// Role is what a person may do here. Each role gives the permission group of
// its name.
type Role string

const (
	None   Role = ""       // not let in, or removed
	Guest  Role = "guest"  // may talk
	Member Role = "member" // may talk and use what the rules give members
	Admin  Role = "admin"  // may also let people in and open group chats
	Owner  Role = "owner"  // may do everything
)

// roles is every role, in rising order.
var roles = [...]Role{None, Guest, Member, Admin, Owner}

// ParseRole reads a role as a person types it, "none" included. It reports
// whether the word is one.
func ParseRole(word string) (Role, bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	if word == "none" {
		return None, true
	}
	for _, r := range roles[1:] {
		if word == string(r) {
			return r, true
		}
	}
	return None, false
}

// Group returns the name of the permission group that a role gives: the role's
// own name, and "none" for people without one.
func Group(r Role) string {
	if r.rank() == 0 {
		return "none"
	}
	return string(r)
}

// rank orders roles. A word that is no role, left by another version in the
// store, ranks as None.
func (r Role) rank() int {
	for i, known := range roles {
		if r == known {
			return i
		}
	}
	return 0
}

// below reports whether r may do less than o.
func (r Role) below(o Role) bool { return r.rank() < o.rank() }

// Reaches reports whether the role is least or above it.
func (r Role) Reaches(least Role) bool { return !r.below(least) }

// phrase is the role in a sentence: "an owner".
func (r Role) phrase() string {
	switch r {
	case Owner, Admin:
		return "an " + string(r)
	case Member, Guest:
		return "a " + string(r)
	default:
		return "nobody"
	}
}

// higher is the role that may do more; of two that rank alike, the first.
func higher(a, b Role) Role {
	if a.below(b) {
		return b
	}
	return a
}

// mayRule reports whether somebody of role by may change a person from one
// role to another: owners do everything, admins what is below them.
func mayRule(by, from, to Role) bool {
	return by == Owner || by == Admin && from.below(Admin) && to.below(Admin)
}

// Mode is when parley listens in a group chat.
type Mode string

const (
	Mention Mode = "mention" // when it is mentioned, replied to, pressed or commanded
	Always  Mode = "always"  // to every message
	Off     Mode = "off"     // to commands only
)

// ParseMode reads a mode as a person types it. It reports whether the word is
// one.
func ParseMode(word string) (Mode, bool) {
	m := Mode(strings.ToLower(strings.TrimSpace(word)))
	return m, m == Mention || m == Always || m == Off
}

// phrase is the mode in a sentence.
func (m Mode) phrase() string {
	switch m {
	case Always:
		return "I listen to every message here"
	case Off:
		return "I listen to commands only here"
	default:
		return "I listen here when I am mentioned, replied to or commanded"
	}
}
