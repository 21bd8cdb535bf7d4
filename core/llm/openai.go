package llm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// openAI is a model at a server that speaks OpenAI's chat completions.
type openAI struct {
	cfg      Config
	url      string
	header   http.Header
	client   *http.Client
	scrub    *scrubber
	official bool // it is OpenAI's own server
	marks    bool // it takes marks for its prompt cache
	habits   atomic.Pointer[habits]
	tools    atomic.Pointer[toolText]
}

var _ Model = (*openAI)(nil)

// NewOpenAI returns the model that c describes. It connects to nothing. An
// error names the setting at fault and holds no secret.
func NewOpenAI(c Config) (Model, error) {
	c, u, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &openAI{
		cfg:      c,
		url:      u.String(),
		header:   newHeader(c),
		client:   newClient(c.Client, c.Limits),
		scrub:    newScrubber(c, u),
		official: u.Hostname() == "api.openai.com",
		marks:    strings.Contains(strings.ToLower(c.ID), "claude"),
	}
	h := firstHabits(c)
	m.habits.Store(&h)
	return m, nil
}

// Info describes the model. Vision turns false once the server refused a
// picture as such.
func (m *openAI) Info() Info {
	return Info{
		Name: m.cfg.Name, ID: m.cfg.ID, Strength: m.cfg.Strength,
		Context: m.cfg.Context, Output: m.cfg.Output,
		Vision: !m.habits.Load().blind, Price: m.cfg.Price,
	}
}

// String names the model and nothing secret.
func (m *openAI) String() string { return m.cfg.String() }

// GoString is String.
func (m *openAI) GoString() string { return m.cfg.String() }

// mostForms bounds in how many forms one request is sent.
const mostForms = 5

// Stream implements Model. A request that is refused for its form is sent again
// at once in another one, as long as nothing was streamed.
func (m *openAI) Stream(ctx context.Context, req Request, each func(Delta)) (Reply, error) {
	req.Messages = paired(req.Messages)
	begun := false
	tell := func(d Delta) {
		begun = true
		if each != nil {
			each(d)
		}
	}
	first := *m.habits.Load()
	h, again := first, true
	var err error
	for n := 0; again && !begun && n < mostForms; n++ {
		var reply Reply
		if reply, err = m.try(ctx, req, h, tell); err == nil {
			m.learned(first, h)
			reply.Notes = append(reply.Notes, pictureNotes(req, first, h)...)
			return reply, nil
		}
		h, again = h.adapt(err, req, m.cfg.Reasoning)
	}
	return Reply{}, err
}

// learned keeps the habits that worked.
func (m *openAI) learned(first, now habits) {
	if now = now.lasting(); now != first {
		m.habits.Store(&now)
	}
}

// pictureNotes tells the person that a picture was not shown to the model: when
// it was just sent, or was just refused.
func pictureNotes(req Request, first, now habits) []string {
	last := len(req.Messages) - 1
	sent := last >= 0 && req.Messages[last].Role == User && len(req.Messages[last].Images) > 0
	switch {
	case now.blank:
		return []string{"The model's server did not take a picture in this conversation, so the answer was made without looking at it."}
	case now.blind && hasImages(req) && (sent || !first.blind):
		return []string{"This model does not take pictures, so the answer was made without looking at them."}
	}
	return nil
}

// try sends the request once and reads its answer.
func (m *openAI) try(ctx context.Context, req Request, h habits, each func(Delta)) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	body, err := m.body(req, h)
	if err != nil {
		return Reply{}, &Error{Kind: Bad, Model: m.cfg.Name, Err: m.scrub.err(err)}
	}
	w := newWatch(ctx, m.cfg.Limits)
	defer w.stop()
	resp, err := m.post(w, body)
	if err != nil {
		return Reply{}, m.lost(ctx, w, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Reply{}, m.refusal(ctx, w, resp, req)
	}
	a := newAnswer(each)
	if err := a.read(resp.Body, w); err != nil {
		return Reply{}, m.failed(ctx, w, err, req)
	}
	sent := len(body)
	if !h.blind && !h.blank {
		sent -= imageBytes(req)
	}
	return m.finish(a, req, sent), nil
}

// refusal makes an error of a response that is no success.
func (m *openAI) refusal(ctx context.Context, w *watch, resp *http.Response, req Request) error {
	const most = 64 << 10
	w.ends(lastWords)
	body, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil && len(body) == 0 && (ctx.Err() != nil || w.silent()) {
		return m.lost(ctx, w, err)
	}
	return m.failed(ctx, w, refused(resp, body), req)
}

// failed makes an error of a fault, or of a body that broke off.
func (m *openAI) failed(ctx context.Context, w *watch, err error, req Request) error {
	var f *fault
	if !errors.As(err, &f) {
		return m.lost(ctx, w, err)
	}
	if f.kind == NoVision && !hasImages(req) {
		f.kind = Bad
	}
	if len(req.Tools) > 0 && strings.HasPrefix(m.cfg.ID, "gpt-6") && f.kind == Bad {
		f.words += " (this model may take tools over the Responses API only; gpt-6-sol and gpt-6-luna take them here without reasoning)"
	}
	return m.asError(f)
}

// finish makes the reply. Where the provider counted nothing, sent is the size
// of the request without its pictures.
func (m *openAI) finish(a *answer, req Request, sent int) Reply {
	r := a.reply(usedIDs(req.Messages))
	if r.Model, r.ModelID = m.cfg.Name, m.cfg.ID; !a.known {
		r.Usage = guess(r, sent)
	}
	r.Cost = m.cfg.Price.Cost(r.Usage)
	if m.cfg.Price == (Price{}) {
		r.Cost = max(0, a.cost)
	}
	return r
}

// guess counts four bytes as a token.
func guess(r Reply, sent int) Usage {
	const perToken = 4
	out := len(r.Text) + len(r.Reasoning)
	for _, c := range r.Calls {
		out += len(c.Name) + len(c.Args)
	}
	return Usage{
		Input: max(0, sent) / perToken, Output: (out + perToken - 1) / perToken,
		Reasoning: len(r.Reasoning) / perToken, Guessed: true,
	}
}

// imageBytes is what the pictures take up in a request's JSON; as tokens they
// are far fewer.
func imageBytes(req Request) int {
	n := 0
	for _, row := range req.Messages {
		for _, img := range row.Images {
			n += len(img.Data) * 4 / 3
		}
	}
	return n
}
