package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// How long a command may take, in seconds.
const (
	defaultTimeout = 120
	maxTimeout     = 600
)

// maxCommand is less than what the kernel takes as one argument.
const maxCommand = 100_000

const schema = `{
	"type": "object",
	"properties": {
		"command": {"type": "string", "minLength": 1, "description": "the command line"},
		"workdir": {"type": "string", "description": "the directory to run it in, the working directory by default"},
		"timeout": {"type": "integer", "minimum": 1, "maximum": 600, "description": "seconds until it is ended, 120 by default"},
		"description": {"type": "string", "description": "what it is for, in a few words"}
	},
	"required": ["command"],
	"additionalProperties": false
}`

// args are the arguments of a call.
type args struct {
	Command     string `json:"command"`
	Workdir     string `json:"workdir"`
	Timeout     int    `json:"timeout"`
	Description string `json:"description"`
}

func parse(raw json.RawMessage) (args, error) {
	a := args{Timeout: defaultTimeout}
	if err := json.Unmarshal(raw, &a); err != nil {
		return args{}, fmt.Errorf("reading the arguments: %w", err)
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return args{}, errors.New("command is empty")
	case strings.ContainsRune(a.Command, 0):
		return args{}, errors.New("command contains a NUL character, which no shell takes")
	case len(a.Command) > maxCommand:
		return args{}, fmt.Errorf("command has %d bytes, more than %d: write it to a file and run that", len(a.Command), maxCommand)
	case a.Timeout < 1 || a.Timeout > maxTimeout:
		return args{}, fmt.Errorf("timeout is %d, it must be 1 to %d seconds", a.Timeout, maxTimeout)
	}
	return a, nil
}

func (a args) timeout() time.Duration { return time.Duration(a.Timeout) * time.Second }

// shown returns the command as a person must see it before they allow it:
// what a screen would not show, or would show in another order, is spelt out.
func (a args) shown() string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(a.Command, "\uFFFD") {
		if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			fmt.Fprintf(&b, `\u{%X}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
