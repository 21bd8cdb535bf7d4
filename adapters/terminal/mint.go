package terminal

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
	"time"

	"parley/core/chat"
)

// mint makes the events of one run. The ids hold a random part, so that they
// are new after every start. It is safe for concurrent use.
type mint struct {
	name string
	run  string
	user chat.User
	now  func() time.Time
	last atomic.Uint64
}

func newMint(c Config) *mint {
	var run [8]byte
	rand.Read(run[:]) // never fails
	return &mint{name: c.Name, run: hex.EncodeToString(run[:]), user: c.User, now: c.Now}
}

func (m *mint) said(text string) chat.Event {
	id := m.id()
	return m.event(id, chat.Said{
		Message: chat.MessageID(id), Text: text, Addressed: true, Private: true,
	})
}

func (m *mint) pressed(on chat.MessageID, line string) chat.Event {
	return m.event(m.id(), chat.Pressed{Message: on, Line: line, Private: true})
}

func (m *mint) id() string {
	return m.name + ":" + m.run + ":" + strconv.FormatUint(m.last.Add(1), 10)
}

func (m *mint) event(id string, b chat.Body) chat.Event {
	return chat.Event{
		ID: id, Key: chat.Key{Adapter: m.name, Chat: "local"},
		From: m.user, At: m.now(), Body: b,
	}
}
