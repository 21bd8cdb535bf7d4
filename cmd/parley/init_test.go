package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/cmd/parley/config"
)

func TestInit(t *testing.T) {
	p := parley{dir: t.TempDir(), stdin: "http://127.0.0.1:11434/v1\nsk-\"odd\" ${key}: #\nqwen3\n"}
	r := p.run(t, "init")
	if r.code != 0 || r.err != "" || !strings.Contains(r.out, "ok    model main  Answers.\nWrote config.yaml.") {
		t.Fatalf("got %+v", r)
	}
	path := filepath.Join(p.dir, "config.yaml")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	c, err := config.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Models[0]; m.BaseURL != "http://127.0.0.1:11434/v1" || m.APIKey.Reveal() != `sk-"odd" ${key}: #` || m.Model != "qwen3" {
		t.Errorf("got %+v", m)
	}
}

// Nobody answers: the shipped file as it is.
func TestInitWithoutAnswers(t *testing.T) {
	p := parley{dir: t.TempDir()}
	r := p.run(t, "init", "--config", "other.yaml")
	if r.code != 0 || !strings.Contains(r.out, "The model is off") {
		t.Errorf("got %+v", r)
	}
	p.run(t, "chat", "--config", "other.yaml").expect(t, 0, "", "")
}

func TestInitLeavesAFileAlone(t *testing.T) {
	p := parley{dir: t.TempDir()}
	p.write(t, "config.yaml", "models: []\n")
	for _, answer := range []string{"", "n\n", "\n"} {
		p.stdin = answer
		p.run(t, "init").expect(t, 1, "config.yaml exists. Write a new one in its place? [y/N]: \n", "parley: \"config.yaml\" was left as it is; name another file with --config\n")
	}
	p.stdin = "y\n"
	if r := p.run(t, "init"); r.code != 0 {
		t.Errorf("got %+v", r)
	}
}

// A wrong answer is told and asked again; so is a model that does not answer,
// unless the person wants it.
func TestInitAsksAgain(t *testing.T) {
	p := parley{dir: t.TempDir(), stdin: "nonsense\n\n\n" + "http://127.0.0.1:1/v1\nsk-invented\nbad\ny\n" + "http://127.0.0.1:1/v1\nsk-invented\nbad\nn\n"}
	r := p.run(t, "init")
	if r.code != 0 || strings.Count(r.out, "Refused the key [redacted].") != 2 || !strings.Contains(r.out, `models[0].base_url: "nonsense" is no web address`) {
		t.Errorf("got %+v", r)
	}
	p = parley{dir: t.TempDir(), stdin: "nonsense\n"}
	if r := p.run(t, "init"); r.code != 1 || !strings.Contains(r.err, `models[0].base_url: "nonsense" is no web address`) {
		t.Errorf("input that ends: %+v", r)
	}
	p.stdin = ""
}

// What cannot be written is told before anybody has answered a question.
func TestInitWhereItCannotWrite(t *testing.T) {
	p := unprivileged(t)
	if err := os.Mkdir(filepath.Join(p.dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		"gone/x.yaml": "the folder of \"gone/x.yaml\" does not exist; make it first",
		"folder":      "\"folder\" is a folder; name a file with --config",
	} {
		p.run(t, "init", "--config", path).expect(t, 1, "", "parley: "+says+"\n")
	}
	if p.as != nil { // the folder belongs to root
		p.run(t, "init").expect(t, 1, "", "parley: \"config.yaml\" may not be written by this user; name a file in a folder of yours with --config\n")
	}
}
