package outbox

// Lines returns how many chats are being served.
func (o *Outbox) Lines() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.lines)
}
