package fs_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/tools"
	filetools "parley/tools/fs"
)

// args are the arguments of a call.
type args map[string]any

// world is a working directory and what lies around it.
type world struct {
	t     testing.TB
	top   string
	reach tools.Reach
	tools map[string]tools.Tool
}

// newWorld makes ws, the working directory, and the files given. A text that
// begins with -> is where a link points; TOP in it is the world's directory.
func newWorld(t testing.TB, what map[string]string) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, top: top, tools: map[string]tools.Tool{}}
	w.reach.Dir = w.at("ws")
	w.use(filetools.Options{})
	w.mkdir("ws")
	for name, text := range what {
		w.put(name, text)
	}
	return w
}

// use takes the tools as these options make them.
func (w *world) use(o filetools.Options) {
	for _, tool := range filetools.Tools(o) {
		w.tools[tool.Spec().Name] = tool
	}
}

func (w *world) at(name string) string { return filepath.Join(w.top, name) }

func (w *world) mkdir(name string) {
	w.t.Helper()
	if err := os.MkdirAll(w.at(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(name, text string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(name))
	err := error(nil)
	if to, link := strings.CutPrefix(text, "->"); link {
		err = os.Symlink(strings.ReplaceAll(to, "TOP", w.top), w.at(name))
	} else {
		err = os.WriteFile(w.at(name), []byte(text), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.at(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// call is what the session would hand to the tool.
func (w *world) call(name string, a args) tools.Call {
	data, err := json.Marshal(a)
	if err != nil {
		w.t.Fatal(err)
	}
	return tools.Call{
		ID: "c1", Name: name, Args: data, Reach: w.reach,
		Ask:      func(context.Context, tools.Question) (tools.Answer, error) { return tools.Answer{None: true}, nil },
		Progress: func(string) {},
	}
}

// run calls a tool. The deadline is a net for calls that hang.
func (w *world) run(name string, a args) tools.Outcome {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o := tools.Drive(ctx, w.tools[name].Run(ctx, w.call(name, a)))
	if o.State == tools.Cancelled || o.Stack != nil {
		w.t.Fatalf("%s %v: %s: %s\n%s", name, a, o.State, o.Text, o.Stack)
	}
	return o
}

// done calls a tool that must succeed and returns what it says.
func (w *world) done(name string, a args) string {
	w.t.Helper()
	o := w.run(name, a)
	if o.State != tools.Completed {
		w.t.Fatalf("%s %v: %s", name, a, o.Text)
	}
	return o.Text
}

// fails calls a tool that must fail and say all of these.
func (w *world) fails(name string, a args, say ...string) {
	w.t.Helper()
	o := w.run(name, a)
	if o.State != tools.Failed {
		w.t.Fatalf("%s %v: %s: %s", name, a, o.State, o.Text)
	}
	for _, s := range say {
		if !strings.Contains(o.Text, s) {
			w.t.Errorf("%s %v says %q, not %q", name, a, o.Text, s)
		}
	}
	if strings.Contains(o.Text, w.top) {
		w.t.Errorf("%s %v names a path of the machine: %q", name, a, o.Text)
	}
}

func (w *world) preview(name string, a args) (tools.Preview, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := w.tools[name].(tools.Previewer).Preview(ctx, w.call(name, a))
	if ctx.Err() != nil {
		w.t.Fatalf("the preview of %s %v hangs", name, a)
	}
	return p, err
}

// content is all that lies below a directory: names, modes and texts.
func (w *world) content(name string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.at(name), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[at] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(at)
			all[at] += " " + string(data)
			return err
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}
