package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"parley/core/chat"
)

// platform is the smallest chat platform: events are polled behind an offset,
// parts are posted. It outlives the parley that talks to it.
type platform struct {
	server *httptest.Server

	mu       sync.Mutex
	events   []chat.Event
	released int           // how many of the events may be seen
	more     chan struct{} // closed when more are released
	polled   chan struct{} // gets one for each poll
	answered map[string]int
}

func newPlatform(t *testing.T, events []chat.Event) *platform {
	t.Helper()
	p := &platform{
		events: events, more: make(chan struct{}),
		polled: make(chan struct{}, 1), answered: make(map[string]int),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", p.poll)
	mux.HandleFunc("POST /parts", p.take)
	p.server = httptest.NewServer(mux)
	t.Cleanup(func() { p.server.CloseClientConnections(); p.server.Close() })
	return p
}

// release lets n more events be seen.
func (p *platform) release(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released = min(p.released+n, len(p.events))
	close(p.more)
	p.more = make(chan struct{})
}

// poll answers with the events behind an offset, as soon as there are any.
func (p *platform) poll(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.Atoi(r.FormValue("after"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case p.polled <- struct{}{}:
	default:
	}
	for {
		p.mu.Lock()
		ready, more := p.events[min(after, p.released):p.released], p.more
		p.mu.Unlock()
		if len(ready) > 0 {
			_ = json.NewEncoder(w).Encode(ready)
			return
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}

func (p *platform) take(_ http.ResponseWriter, r *http.Request) {
	var part chat.Part
	if err := json.NewDecoder(r.Body).Decode(&part); err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range part.Answers {
		p.answered[id]++
	}
}

// open lists the events that no part has answered.
func (p *platform) open() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []string
	for _, ev := range p.events {
		if p.answered[ev.ID] == 0 {
			ids = append(ids, ev.ID)
		}
	}
	return ids
}

// wire is the adapter of a platform.
type wire struct{ url string }

const wireCursor = "wire/offset"

// Run polls, hands over, and only then moves on.
func (w wire) Run(ctx context.Context, in chat.Inbound) error {
	offset := 0
	cursors, err := in.Cursors(ctx, wireCursor)
	if err != nil {
		return err
	}
	for _, c := range cursors {
		if offset, err = strconv.Atoi(c.Value); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		events, err := w.events(ctx, offset)
		if err != nil {
			break
		}
		offset += len(events)
		if err := in.Accept(ctx, chat.Cursor{Name: wireCursor, Value: strconv.Itoa(offset)}, events...); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (w wire) events(ctx context.Context, after int) ([]chat.Event, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/events?after=%d", w.url, after), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var events []chat.Event
	err = json.NewDecoder(response.Body).Decode(&events)
	return events, err
}

// Deliver posts a part.
func (w wire) Deliver(ctx context.Context, _ chat.Key, part chat.Part) ([]chat.MessageID, error) {
	body, err := json.Marshal(part)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/parts", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return []chat.MessageID{chat.MessageID(part.ID)}, nil
}

func (wire) Traits(chat.Key) chat.Traits { return chat.Traits{Private: true} }

func (wire) Render(_ chat.Key, p chat.Post) ([]chat.Part, error) {
	return []chat.Part{{ID: p.ID + "#0", Post: p.ID, Text: p.Text, Kind: p.Kind, Last: true, Answers: p.Answers}}, nil
}

func (wire) Edit(context.Context, chat.Key, chat.MessageID, chat.Part, chat.Part) error { return nil }
func (wire) Delete(context.Context, chat.Key, chat.MessageID) error                     { return nil }
func (wire) Signal(context.Context, chat.Key, chat.Signal) error                        { return nil }
func (wire) Fetch(context.Context, chat.File) (io.ReadCloser, error) {
	return nil, fmt.Errorf("this platform has no files")
}

// story is n messages over some chats, in a fixed but mixed order. Every
// stopsth of them is a /stop, none for 0.
func story(chats, n, stops int) []chat.Event {
	user := chat.User{ID: "wire:1", Name: "Ada"}
	var events []chat.Event
	for i := range n {
		text := fmt.Sprintf("message %d", i)
		if stops > 0 && i%stops == stops-1 {
			text = "/stop"
		}
		events = append(events, chat.Event{
			ID: fmt.Sprintf("wire/%03d", i), Key: chat.Key{Adapter: "wire", Chat: strconv.Itoa(i * 7 % chats)},
			From: user, At: time.Unix(int64(i), 0),
			Body: chat.Said{Message: chat.MessageID(strconv.Itoa(i)), Text: text, Private: true, Addressed: true},
		})
	}
	return events
}

// byChat lists the ids of the events of each chat, in order.
func byChat(events []chat.Event) map[chat.Key][]string {
	m := make(map[chat.Key][]string)
	for _, ev := range events {
		m[ev.Key] = append(m[ev.Key], ev.ID)
	}
	return m
}

func isStop(ev chat.Event) bool { return ev.Body.(chat.Said).Text == "/stop" }

func find(events []chat.Event, id string) int {
	return slices.IndexFunc(events, func(ev chat.Event) bool { return ev.ID == id })
}
