package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"parley/cmd/parley/config"
	"parley/cmd/parley/redact"
)

// logTo is where log lines go.
type logTo struct {
	config config.Log
	zone   *time.Location
	redact *redact.Redactor
	screen io.Writer // standard error, nil: not there
	color  bool
}

// open makes the logger and what closes it. The redactor stands in front of
// every writer, and zerolog hands it whole lines. It blocks for the opening of
// a file; its error is a sentence.
func (l logTo) open() (zerolog.Logger, io.Closer, error) {
	var writers []io.Writer
	if l.screen != nil {
		writers = append(writers, lossy{l.onScreen()})
	}
	var file io.Closer = io.NopCloser(nil)
	if l.config.File != "" {
		f, err := openLogFile(l.config.File, int64(l.config.MaxSize))
		if err != nil {
			return zerolog.Nop(), file, err
		}
		file = f
		writers = append(writers, lossy{l.redact.Writer(f)})
	}
	level, err := zerolog.ParseLevel(l.config.Level)
	if err != nil {
		return zerolog.Nop(), file, fmt.Errorf("reading log.level: %w", err)
	}
	logger := zerolog.New(zerolog.MultiLevelWriter(writers...)).Level(level).With().Timestamp().Logger()
	return logger, file, nil
}

// lossy drops lines that cannot be written (the disk is full, nobody reads). The
// logger would tell each on standard error, in the middle of a chat's screen.
type lossy struct{ io.Writer }

// Write always takes the line.
func (l lossy) Write(line []byte) (int, error) {
	_, _ = l.Writer.Write(line)
	return len(line), nil
}

func (l logTo) onScreen() io.Writer {
	out := l.redact.Writer(l.screen)
	if l.config.Format == "json" {
		return out
	}
	return zerolog.ConsoleWriter{Out: out, NoColor: !l.color, TimeFormat: time.DateTime, TimeLocation: l.zone}
}

// logFile appends to a file of bounded size: when a line would make it larger,
// the file becomes FILE.1, over the one before, and a new one begins. It is
// safe for concurrent use.
type logFile struct {
	path string
	most int64

	mu   sync.Mutex
	file *os.File
	size int64
}

// openLogFile opens or makes the file, for this user alone.
func openLogFile(path string, most int64) (*logFile, error) {
	f := &logFile{path: path, most: most}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = f.begin()
	}
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, &failure{fmt.Sprintf("log.file %q may not be written by this user", path), "give it the right (chown, chmod) or set another file"}
	}
	var detail *fs.PathError
	if errors.As(err, &detail) {
		err = detail.Err
	}
	return nil, &failure{fmt.Sprintf("log.file %q cannot be opened (%v)", path, err), "set another file"}
}

func (f *logFile) begin() error {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return err
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write appends one line.
func (f *logFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > 0 && f.size+int64(len(line)) > f.most {
		if err := f.turn(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(line)
	f.size += int64(n)
	return n, err
}

// turn sets the full file aside. If that fails, it grows on: a line is worth
// more than the limit.
func (f *logFile) turn() error {
	if err := os.Rename(f.path, f.path+".1"); err != nil {
		f.size = 0
		return nil
	}
	full := f.file
	if err := f.begin(); err != nil {
		return err
	}
	return full.Close()
}

// Close closes the file.
func (f *logFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}
