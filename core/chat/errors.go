package chat

import (
	"errors"
	"fmt"
	"time"
)

// ErrPermanent marks an error that trying again will never heal. From Run the
// core stops the adapter and shows why; from Deliver, Edit or Render it makes
// the post a dead letter and goes on with the next.
var ErrPermanent = errors.New("permanent")

// RetryAfter is the wait a platform asks for. Nothing is sent in its scope
// until it is over, and the same call is then made again.
type RetryAfter time.Duration

// Error says how long.
func (r RetryAfter) Error() string {
	return fmt.Sprintf("platform asks to wait %s", time.Duration(r))
}

// Relocated says that the chat lives under another key now. The core moves
// what it holds for the old key and tries again there.
type Relocated struct{ To Key }

// Error names the new key.
func (r Relocated) Error() string {
	return fmt.Sprintf("chat moved to %s", r.To)
}
