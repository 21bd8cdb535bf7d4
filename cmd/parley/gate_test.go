package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"parley/core/api"
	"parley/core/policy"
	"parley/core/session"
	"parley/storage"
	"parley/tools"
)

// documented is the table of built-in tools in docs/tools.md: name to category,
// rule, audience and effect.
func documented(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| tool | what it does | category | rule | audience | effect |\n")
	if !found {
		t.Fatal("docs/tools.md has no table of built-in tools")
	}
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if name := regexp.MustCompile("^`([a-z_]+)`$").FindStringSubmatch(cells[0]); name != nil && len(cells) == 6 {
			rows[name[1]] = strings.Join(cells[2:], ", ")
		} else if !strings.HasPrefix(line, "|") {
			break
		}
	}
	return rows
}

// What docs/tools.md says of the built-in tools is so.
func TestDocsListTheTools(t *testing.T) {
	a := assembled(t, parsed(t, ""), zerolog.Nop())
	said, is := documented(t), map[string]string{}
	listed, err := a.listTools(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed {
		entry, known := a.tools.catalog.Find(t.Context(), tool.Name)
		if !known {
			t.Fatalf("%s is listed and not in the catalogue", tool.Name)
		}
		word := func(text, empty string) string {
			if text == "" {
				return empty
			}
			return text
		}
		is[tool.Name] = strings.Join([]string{
			word(tool.Category, "none"), tool.Rule, word(tool.Audience, "everyone"), word(string(entry.Effect), "once"),
		}, ", ")
	}
	for name := range said {
		if is[name] == "" {
			t.Errorf("docs/tools.md lists %s, which there is not", name)
		}
	}
	for name, row := range is {
		if said[name] != row {
			t.Errorf("docs/tools.md says of %s %q, but it is %q", name, said[name], row)
		}
	}
}

// Every built-in tool has rules of its own: none is left to the rule for
// everything else, which nobody thought of it in.
func TestToolsHaveRules(t *testing.T) {
	a := assembled(t, parsed(t, ""), zerolog.Nop())
	for _, group := range []string{policy.Default, "owner", "admin", "member", "guest"} {
		for _, entry := range a.tools.catalog.List(t.Context()) {
			who := policy.Who{Private: true, Role: group, Agent: session.MainAgent}
			run, err := a.tools.policy.ContextOf(t.Context(), who)
			if err != nil {
				t.Fatal(err)
			}
			call := policy.Call{Session: "s", Group: group, Agent: session.MainAgent, Tool: entry.Spec(), Context: run}
			if entry.Category == tools.Filesystem { // such a call is always about a path
				call.Path, call.Write = "/srv/x", entry.Effect != tools.ReadOnly
			}
			if v := a.tools.policy.Judge(t.Context(), call); v.Rule.Seed == "" || v.Rule.Tool == "*" {
				t.Errorf("%s has no rule in group %s: seed one in core/policy/seed.go (%s)", entry.Name, group, v.Why)
			}
		}
	}
}

// A caller who was turned away is in the audit stream; who tries without end
// fills the log alone.
func TestRefusedCallersAreAudited(t *testing.T) {
	var log bytes.Buffer
	a := assembled(t, parsed(t, ""), zerolog.New(&log))
	for i := range 3 * refusalsAtMost {
		a.refused(api.Refusal{PID: 1000 + i, UID: 7, Why: "the agent must not decide on its own requests"})
	}
	lines, err := a.listAudit(t.Context(), 1000)
	if err != nil || len(lines) != refusalsAtMost {
		t.Fatalf("%d lines, want %d (%v)", len(lines), refusalsAtMost, err)
	}
	want := api.Audit{
		At: lines[0].At, Decision: "refused", Label: "parley socket",
		Why: "process 1000 of user 7: the agent must not decide on its own requests",
	}
	if lines[0] != want || time.Since(lines[0].At) > time.Minute {
		t.Errorf("got %+v", lines[0])
	}
	if n := strings.Count(log.String(), "was refused"); n != 3*refusalsAtMost {
		t.Errorf("%d lines in the log", n)
	}
	r := refusals{}
	now := time.Now()
	for range refusalsAtMost {
		r.admits(now)
	}
	if r.admits(now.Add(refusalsEach-1)) || !r.admits(now.Add(refusalsEach)) {
		t.Error("the bound is not one of a minute")
	}
}

// The sweep keeps the audit for its time, and leaves requests to people alone
// until what sleeps has been resumed.
func TestSweepTrimsTheAudit(t *testing.T) {
	a := assembled(t, parsed(t, ""), zerolog.Nop())
	var ops []storage.Op
	for _, age := range []time.Duration{session.AuditKept + time.Hour, session.AuditKept + time.Minute, time.Hour} {
		ops = append(ops, session.Record(session.Audit{At: time.Now().Add(-age), Decision: fmt.Sprint(age)}))
	}
	if err := a.store.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	for _, resumed := range []bool{false, true} {
		if err := a.sweep(t.Context(), resumed); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := a.listAudit(t.Context(), 10)
	if err != nil || len(lines) != 1 || lines[0].Decision != fmt.Sprint(time.Hour) {
		t.Errorf("%+v, %v", lines, err)
	}
}

// check tells how the gate is.
func TestCheckTellsOfTheGate(t *testing.T) {
	a := assembled(t, parsed(t, "rules: [{tool: x, action: deny}]\n"), zerolog.Nop())
	findings, err := a.check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, f := range findings {
		parts = append(parts, f.Part)
		if f.Part == "rules" && !strings.HasSuffix(f.Says, "1 of them in config.yaml.") {
			t.Errorf("%+v", f)
		}
	}
	for _, part := range []string{"rules", "sandbox", "ctags"} {
		if !slices.Contains(parts, part) {
			t.Errorf("nothing is said of %s: %v", part, parts)
		}
	}
}
