package api

import "net/http"

// Error is a refusal or failure that people read: what is wrong, and what to
// do about it. Host funcs return it for what is expected (an unknown code); the
// client returns it for every answer that is not 200.
type Error struct {
	Status int    `json:"-"`     // HTTP status, 0: 400
	Says   string `json:"error"` // lower case, no full stop
	Remedy string `json:"remedy,omitempty"`
}

// Error joins the two into one sentence.
func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Says
	}
	return e.Says + "; " + e.Remedy
}

func (e *Error) status() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}
