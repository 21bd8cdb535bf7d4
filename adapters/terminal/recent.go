package terminal

// remembered is how many messages a recent keeps: far more than can be under
// way at once.
const remembered = 512

// recent is what was shown under an id, for the newest ids only. The zero
// value is empty; it is not safe for concurrent use.
type recent struct {
	text  map[string]string
	order []string
}

func (r *recent) put(id, text string) {
	if r.text == nil {
		r.text = map[string]string{}
	}
	if _, known := r.text[id]; !known {
		r.order = append(r.order, id)
	}
	r.text[id] = text
	if len(r.order) > remembered {
		delete(r.text, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *recent) has(id string) bool {
	_, known := r.text[id]
	return known
}

// or returns what was shown under id, otherwise if that is not known.
func (r *recent) or(id, otherwise string) string {
	if text, known := r.text[id]; known {
		return text
	}
	return otherwise
}
