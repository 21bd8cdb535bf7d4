package llm

import "io"

// Events returns the data of all events of a body, and what ended it.
func Events(r io.Reader) ([]string, error) {
	s := newEvents(r)
	var all []string
	for {
		ev, err := s.next()
		if err != nil {
			return all, err
		}
		all = append(all, ev.name+":"+string(ev.data))
	}
}

// Think feeds pieces through the think filter.
func Think(pieces []string, typed, calls bool, each func(Delta)) (text, reasoning string) {
	t := newThink(each)
	if typed {
		t.reasoned("typed")
	}
	for _, p := range pieces {
		t.write(p)
	}
	t.end(calls)
	return t.text.String(), t.reasoning.String()
}

// ParseArgs is parseArgs.
func ParseArgs(raw string) (string, error) {
	args, err := parseArgs([]byte(raw))
	return string(args), err
}
