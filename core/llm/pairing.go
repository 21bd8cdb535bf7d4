package llm

// interrupted stands where a call has no result. The session sees to it that
// this does not happen; a prompt must not be refused for ever if it does.
const interrupted = "There is no result: the call was interrupted."

// paired returns rows in which every call is followed at once by exactly one
// result, and no result is without its call: a missing one is made up, one that
// stands too late is moved up, a second one or one without a call is dropped.
// Rows that are in order already are returned as they are.
func paired(rows []Message) []Message {
	if inOrder(rows) {
		return rows
	}
	out := make([]Message, 0, len(rows)+1)
	for i, m := range rows {
		if m.Role == Tool {
			continue // it was taken with its call, or has none
		}
		out = append(out, m)
		for _, c := range m.Calls {
			out = append(out, resultOf(c.ID, rows[i+1:]))
		}
	}
	return out
}

// inOrder says whether every call's results follow it, each once.
func inOrder(rows []Message) bool {
	open := map[string]bool{}
	for _, m := range rows {
		if m.Role == Tool {
			if !open[m.CallID] {
				return false
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			return false
		}
		for _, c := range m.Calls {
			if open[c.ID] {
				return false
			}
			open[c.ID] = true
		}
	}
	return len(open) == 0
}

// resultOf returns the result of a call among the rows before the next answer.
func resultOf(id string, rows []Message) Message {
	for _, m := range rows {
		if m.Role == Assistant {
			break
		}
		if m.Role == Tool && m.CallID == id {
			return m
		}
	}
	return Message{Role: Tool, CallID: id, Text: interrupted, CallFailed: true}
}
