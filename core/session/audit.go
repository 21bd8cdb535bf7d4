package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/core/ask"
	"parley/core/chat"
	"parley/storage"
	"parley/tools"
)

// AuditStream is the log of what was decided about calls and what came of
// them, of all conversations.
const AuditStream = "audit"

// AuditKept is how long a line of it is kept.
const AuditKept = 90 * 24 * time.Hour

// Audit is one line of the audit stream.
type Audit struct {
	At       time.Time      `json:"at"`
	Session  string         `json:"session"`
	Key      chat.Key       `json:"key"`
	Call     string         `json:"call"`
	Tool     string         `json:"tool"`
	Category tools.Category `json:"category,omitempty"`
	Label    string         `json:"label,omitempty"`
	Decision string         `json:"decision"` // allowed, denied, asked, answered, done, failed, changed, refused, …
	Why      string         `json:"why,omitempty"`
	By       chat.User      `json:"by,omitzero"` // for whom, or who decided
}

// audit is a line about a call.
func (t *turn) audit(j *job, decision, why string) Audit {
	return Audit{
		Session: t.sid, Key: t.key, Call: j.call.ID, Tool: j.call.Name, Category: j.spec.Category,
		Label: t.host.toolbox.redact(j.label), Decision: decision, Why: why, By: t.by,
	}
}

// auditOf is a line about a request.
func (a *actor) auditOf(r ask.Request, decision, why string) Audit {
	by := r.Answer.By
	if by.ID == "" {
		by = r.For
	}
	if r.State == ask.Answered {
		decision = string(r.Answer.Verdict)
	}
	return Audit{
		Session: a.session, Key: a.key, Call: r.Call, Tool: r.Tool, Category: r.Category,
		Label: r.Title, Decision: decision, Why: why, By: by,
	}
}

// audit adds lines to what a batch commits.
func (b *batch) audit(lines ...Audit) { b.lines = append(b.lines, lines...) }

// auditOp numbers the lines of a batch by the place of their conversation.
func (a *actor) auditOp(lines []Audit) (storage.Op, error) {
	op := storage.Append{Stream: AuditStream, After: storage.Anywhere}
	for i, line := range lines {
		line.At = a.host.now()
		data, err := json.Marshal(line)
		if err != nil {
			return nil, fmt.Errorf("encoding audit line: %w", err)
		}
		a.audits++
		id := fmt.Sprintf("%s.%d.%d", a.name, a.audits, i)
		op.Entries = append(op.Entries, storage.Entry{ID: id, Data: data})
	}
	return op, nil
}

// Record is the op that adds a line from outside a conversation: a change of
// the rules, a caller who was turned away.
func Record(line Audit) storage.Op {
	data, err := json.Marshal(line)
	if err != nil {
		panic(fmt.Sprintf("session: encoding audit line: %v", err)) // it holds nothing that JSON cannot
	}
	return storage.Append{Stream: AuditStream, After: storage.Anywhere, Entries: []storage.Entry{{ID: newID(), Data: data}}}
}

// ReadAudit returns the newest n lines of the audit stream, in order. One that
// cannot be read says so in its place: it does not hide the others.
func ReadAudit(ctx context.Context, store storage.Log, n int) ([]Audit, error) {
	records, err := store.Tail(ctx, AuditStream, n)
	if err != nil {
		return nil, fmt.Errorf("reading the audit stream: %w", err)
	}
	lines := make([]Audit, 0, len(records))
	for _, r := range records {
		var line Audit
		if err := json.Unmarshal(r.Data, &line); err != nil {
			line = Audit{Decision: "unreadable", Why: fmt.Sprintf("line %d of the stream cannot be read", r.Seq)}
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// AuditStore is what trimming needs of a store.
type AuditStore interface {
	storage.Log
	storage.Applier
}

// TrimAudit removes the lines that are older than [AuditKept], in small steps.
// The newest line of all stays, however old it is: the store goes on counting
// from it.
func TrimAudit(ctx context.Context, store AuditStore, now time.Time) error {
	const step = 500
	for {
		records, err := store.Read(ctx, AuditStream, 1, step)
		if err != nil {
			return fmt.Errorf("reading the audit stream: %w", err)
		}
		through := outlived(records, now.Add(-AuditKept))
		if through == 0 || len(records) == 1 {
			return nil
		}
		if err := store.Apply(ctx, storage.Trim{Stream: AuditStream, Through: through}); err != nil {
			return fmt.Errorf("trimming the audit stream: %w", err)
		}
		if len(records) < step || through < records[len(records)-1].Seq {
			return nil
		}
	}
}

// outlived returns the last of the records that are older than a time, 0 for
// none. One that cannot be read goes with the next that can.
func outlived(records []storage.Record, before time.Time) (through uint64) {
	for _, r := range records {
		var line struct{ At time.Time }
		switch {
		case json.Unmarshal(r.Data, &line) != nil || line.At.IsZero():
		case line.At.Before(before):
			through = r.Seq
		default:
			return through
		}
	}
	return through
}
