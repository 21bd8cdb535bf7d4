package chat

// Level grades a Finding.
type Level string

const (
	Good Level = "ok"
	Warn Level = "warn" // it works, but somebody should know
	Fail Level = "fail" // it does not work
	Off  Level = "off"  // not configured
)

// Finding is one line of a self-report: what `parley check` and `parley
// doctor` print, each part of the program speaking for itself.
type Finding struct {
	Part   string `json:"part"` // "store", "model main", "telegram"
	Level  Level  `json:"level"`
	Says   string `json:"says"`             // one sentence
	Remedy string `json:"remedy,omitempty"` // what to do about it, one sentence
}
