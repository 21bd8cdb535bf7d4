package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"parley/core/llm"
)

// illFormed says what a provider would refuse a request for, "" for nothing.
func illFormed(req llm.Request) string {
	rows := req.Messages
	if len(rows) < 2 || rows[0].Role != llm.System {
		return "it does not begin with the system row"
	}
	if rows[len(rows)-1].Role != llm.User {
		return "it does not end with a user row"
	}
	for i := 0; i < len(rows); i++ {
		row := rows[i]
		if problem := illFormedRow(rows, i); problem != "" {
			return fmt.Sprintf("row %d: %s", i, problem)
		}
		for n, call := range row.Calls {
			if i+1+n >= len(rows) || rows[i+1+n].Role != llm.Tool || rows[i+1+n].CallID != call.ID {
				return fmt.Sprintf("call %s of row %d has no result behind it", call.ID, i)
			}
		}
		i += len(row.Calls)
	}
	return ""
}

func illFormedRow(rows []llm.Message, i int) string {
	row := rows[i]
	switch {
	case row.Role == llm.Tool:
		return "a result without its call"
	case strings.TrimSpace(row.Text) == "" && len(row.Calls) == 0:
		return "it is blank"
	case i > 0 && row.Role == llm.System:
		return "a second system row"
	case i > 0 && row.Role == rows[i-1].Role:
		return "two " + string(row.Role) + " rows in a row"
	}
	for _, c := range row.Calls {
		if !json.Valid(c.Args) || !strings.HasPrefix(strings.TrimSpace(string(c.Args)), "{") {
			return fmt.Sprintf("the arguments of call %s are no object: %q", c.ID, c.Args)
		}
	}
	return ""
}

// written lists the rows of a request for a failure message.
func written(req llm.Request) string {
	var b strings.Builder
	for i, row := range req.Messages {
		fmt.Fprintf(&b, "  %d %s %.120q", i, row.Role, row.Text)
		for _, c := range row.Calls {
			fmt.Fprintf(&b, " call %s", c.ID)
		}
		if row.CallID != "" {
			fmt.Fprintf(&b, " result of %s", row.CallID)
		}
		b.WriteString("\n")
	}
	return b.String()
}
