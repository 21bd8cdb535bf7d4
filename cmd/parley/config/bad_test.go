package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/cmd/parley/config"
)

// Every bad input with the whole message it gets.
func TestBadInput(t *testing.T) {
	vars := env(map[string]string{"STRENGTH": "hihg", "MY_TOKEN": "tok-invented", "NUMBER": "many", "EMPTY": ""})
	for _, c := range []struct{ name, text, want string }{
		{"CFG-01 unknown key", "adapters:\n  telegramm:\n    token: x\n",
			`c.yaml:2:3: adapters.telegramm: unknown key; did you mean telegram?`},
		{"CFG-01 unknown key deep down", "models:\n  - modle: gpt\n    model: gpt\n",
			`c.yaml:2:5: models[0].modle: unknown key; did you mean model?`},
		{"unknown key far from all", "http:\n  elephant: 1\n",
			`c.yaml:2:3: http.elephant: unknown key; known here: listen`},
		{"swapped letters", "htpt: {}\n",
			`c.yaml:1:1: htpt: unknown key; did you mean http?`},
		{"twin of a secret misspelt", "adapters: {telegram: {token_fiel: x}}\n",
			`c.yaml:1:23: adapters.telegram.token_fiel: unknown key; did you mean token_file?`},
		{"wrong type: int", "models:\n  - model: m\n    context: many\n",
			`c.yaml:3:5: models[0].context: found the text "many", want a whole number`},
		{"wrong type: fraction", "session:\n  max_rounds: 2.5\n",
			`c.yaml:2:3: session.max_rounds: found the number 2.5, want a whole number`},
		{"wrong type: number", "session:\n  compact_at: [1]\n",
			`c.yaml:2:3: session.compact_at: found a list, want a number`},
		{"wrong type: bool", "models:\n  - model: m\n    vision: yes\n",
			`c.yaml:3:5: models[0].vision: found the text "yes", want true or false`},
		{"wrong type: duration", "session:\n  idle: 10\n",
			`c.yaml:2:3: session.idle: found the number 10, want a duration such as 90s, 2m or 1h30m`},
		{"wrong type: size", "log:\n  max_size: 20\n",
			`c.yaml:2:3: log.max_size: found the number 20, want a size such as 512KB or 20MB`},
		{"wrong type: text", "data_dir: {a: b}\n",
			`c.yaml:1:1: data_dir: found a block of keys, want a text`},
		{"wrong type: truth for text", "timezone: true\n",
			`c.yaml:1:1: timezone: found true, want a text`},
		{"wrong type: block", "http: 8484\n",
			`c.yaml:1:1: http: found the number 8484, want a block of keys: listen`},
		{"wrong type: list", "models: gpt\n",
			`c.yaml:1:1: models: found the text "gpt", want a list`},
		{"wrong type: item", "access:\n  owners:\n    - telegram:1\n    - [a]\n",
			`c.yaml:4:7: access.owners[1]: found a list, want a text`},
		{"wrong type: the whole file", "- a\n",
			`c.yaml:1:1: found a list, want a block of keys: data_dir, workspace, http, sandbox, models, adapters, access, session, rules, contexts, shell, log, timezone`},
		{"wrong type: extra", "models:\n  - model: m\n    extra: 3\n",
			`c.yaml:3:5: models[0].extra: found the number 3, want a block of keys`},
		{"wrong type from a variable", "session:\n  max_rounds: ${NUMBER}\n",
			`c.yaml:2:3: session.max_rounds: found the text "many" (from ${NUMBER}), want a whole number`},
		{"wrong type from a secret variable", "session:\n  max_rounds: ${MY_TOKEN}\n",
			`c.yaml:2:3: session.max_rounds: found the text "${MY_TOKEN}", want a whole number`},
		{"nothing in a list", "access:\n  owners: [~]\n",
			`c.yaml:2:12: access.owners[0]: found nothing, want a value`},
		{"CFG-03 bad value", "models:\n  - model: m\n    strength: hihg\n",
			`c.yaml:3:5: models[0].strength: "hihg" is not allowed; want one of low, medium, high`},
		{"bad value from a variable", "models:\n  - model: m\n    strength: ${STRENGTH}\n",
			`c.yaml:3:5: models[0].strength: "hihg" (from ${STRENGTH}) is not allowed; want one of low, medium, high`},
		{"truth where a word is wanted", "sandbox: true\n",
			`c.yaml:1:1: sandbox: found true, want one of auto, none, landlock, bwrap`},
		{"too small", "session:\n  max_rounds: 0\n",
			`c.yaml:2:3: session.max_rounds: 0 is too small; want at least 1`},
		{"too large", "session:\n  compact_at: 1.5\n",
			`c.yaml:2:3: session.compact_at: 1.5 is too large; want at most 0.95`},
		{"negative duration", "session:\n  idle: -1m\n",
			`c.yaml:2:3: session.idle: -1m is too small; want at least 1s`},
		{"bad URL", "models:\n  - model: m\n    base_url: htp//x\n",
			`c.yaml:3:5: models[0].base_url: "htp//x" is no web address; want http:// or https://, a host and perhaps a path, without ? and #`},
		{"bad URL with a password", "models:\n  - model: m\n    base_url: ftp://me:hidden@x\n",
			`c.yaml:3:5: models[0].base_url: the address is no web address; want http:// or https://, a host and perhaps a path, without ? and #`},
		{"bad URL with a key", "models:\n  - model: m\n    base_url: https://x/v1?key=hidden\n",
			`c.yaml:3:5: models[0].base_url: the address is no web address; want http:// or https://, a host and perhaps a path, without ? and #`},
		{"a token for a block", "adapters: {telegram: '123456:hidden'}\n",
			`c.yaml:1:12: adapters.telegram: found a text, want a block of keys: token, token_file, api_url`},
		{"a token for headers", "models:\n  - model: m\n    headers: Bearer hidden\n",
			`c.yaml:3:5: models[0].headers: found a text, want a block of header names and values`},
		{"model without a model", "models:\n  - name: main\n",
			`c.yaml:2:5: models[0].model: is missing; want the name that the provider gives the model`},
		{"two models of one name", "models:\n  - {name: main, model: a}\n  - {name: Main, model: b}\n",
			`c.yaml:3:6: models[1].name: "Main" is the name of models[0] already; give each model a name of its own`},
		{"model named as a number", "models:\n  - {name: 3, model: a}\n",
			`c.yaml:2:6: models[0].name: "3" cannot name a model; want letters, digits and . _ : / @ + -, and neither a number nor auto, which /model takes for something else`},
		{"more output than context", "models:\n  - {model: a, context: 2000, output: 2000}\n",
			`c.yaml:2:31: models[0].output: 2000 leaves no room in a context of 2000; want less`},
		{"a key with a line break", "models:\n  - model: a\n    api_key: \"sk-a\\nb\"\n",
			`c.yaml:3:5: models[0].api_key: holds a line break or another control character, which no key does; want the key alone`},
		{"listen", "http:\n  listen: 127.0.0.1\n",
			`c.yaml:2:3: http.listen: "127.0.0.1" is no address to listen on; want HOST:PORT such as 127.0.0.1:8484, or off`},
		{"time zone", "timezone: Berlin\n",
			`c.yaml:1:1: timezone: "Berlin" is no time zone; want a name such as Europe/Berlin, or nothing for the system's own`},
		{"SEC-09 a handle", "access:\n  owners: [telegram:@ada]\n",
			`c.yaml:2:12: access.owners[0]: "telegram:@ada" is no user id; want PLATFORM:ID with the id that never changes, such as telegram:123456 (/whoami tells it), since a name can pass to somebody else`},
		{"SEC-09 a bare number", "access:\n  members: [123456]\n",
			`c.yaml:2:13: access.members[0]: "123456" is no user id; want PLATFORM:ID with the id that never changes, such as telegram:123456 (/whoami tells it), since a name can pass to somebody else`},
		{"an approver that is none", "access:\n  approvers: [owner, boss]\n",
			`c.yaml:2:22: access.approvers[1]: "boss" is no user id; want PLATFORM:ID with the id that never changes, such as telegram:123456 (/whoami tells it), since a name can pass to somebody else`},
		{"a chat that is none", "access:\n  chats: [lobby]\n",
			`c.yaml:2:11: access.chats[0]: "lobby" is no chat; want ADAPTER:CHAT, such as telegram:-100123`},
		{"a chat of an unknown platform", "access:\n  chats: [icq:5]\n",
			`c.yaml:2:11: access.chats[0]: "icq:5" is on no platform that parley knows; want one of telegram, discord, slack, terminal, web before the colon`},
		{"a thread for a chat", "access:\n  chats: [telegram:-1/2]\n",
			`c.yaml:2:11: access.chats[0]: "telegram:-1/2" names a thread; want its chat, telegram:-1`},
		{"a bot that owns", "access:\n  owners: [telegram:1]\n  bots: [telegram:1]\n",
			`c.yaml:3:10: access.bots[0]: "telegram:1" is one of access.owners, and a bot cannot be an owner; take it out of one of the two`},
		{"a key twice", "sandbox: auto\nhttp:\n  listen: off\nsandbox: none\n",
			`c.yaml:4:1: sandbox: is given twice, first on line 1; keep one of them`},
		{"a reference not closed", "timezone: ${ZONE\n",
			`c.yaml:1:1: timezone: "${ZONE" is no reference; want ${NAME} or ${NAME:-text}, not nested, and $${ for a plain ${`},
		{"a reference in a reference", "timezone: ${ZONE:-${TZ}}\n",
			`c.yaml:1:1: timezone: "${ZONE:-${TZ" is no reference; want ${NAME} or ${NAME:-text}, not nested, and $${ for a plain ${`},
		{"an alias", "data_dir: &d ./data\nworkspace: *d\n",
			"c.yaml:1:1: data_dir: found an anchor or alias, which this file cannot have, want a text\n" +
				"c.yaml:2:1: workspace: found an anchor or alias, which this file cannot have, want a text"},
		{"a merge key", "http:\n  <<: 3\n",
			`c.yaml:2:3: http.<<: is no key; want a plain word`},
		{"two documents", "sandbox: auto\n---\nsandbox: none\n",
			`c.yaml:3:8: a second document begins; keep one`},
		{"a tab", "http:\n\tlisten: off\n",
			`c.yaml:2:1: found character '	' that cannot start any token`},
		{"a reference in a flow block", "http: { listen: ${LISTEN} }\n",
			`c.yaml:1:18: ',' or '}' must be specified; inside { } and [ ] put a value with ${…} in quotes`},
		{"folders in one another", "data_dir: /srv/p\nworkspace: /srv/p/work\n",
			`c.yaml:2:1: workspace: "/srv/p/work" and data_dir "/srv/p" lie in one another; give each a folder of its own, since the agent must not reach parley's data`},
		{"no prompt file", "session:\n  prompt_file: nowhere.md\n",
			`c.yaml:2:3: session.prompt_file: "DIR/nowhere.md" does not exist; create it or correct the path`},
		{"several at once", "sandbox: x\nhttp:\n  listen: y\nextra: 1\n",
			"c.yaml:1:1: sandbox: \"x\" is not allowed; want one of auto, none, landlock, bwrap\n" +
				"c.yaml:3:3: http.listen: \"y\" is no address to listen on; want HOST:PORT such as 127.0.0.1:8484, or off\n" +
				"c.yaml:4:1: extra: unknown key; known here: data_dir, workspace, http, sandbox, models, adapters, access, session, rules, contexts, shell, log, timezone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := config.Parse("c.yaml", c.text, dir, vars)
			var wrong *config.Error
			if !errors.As(err, &wrong) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if got := strings.ReplaceAll(err.Error(), dir, "DIR"); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTenProblemsAtMost(t *testing.T) {
	var text strings.Builder
	for i := range 15 {
		text.WriteString("bad_key_number_" + string(rune('a'+i)) + ": 1\n")
	}
	_, err := config.Parse("c.yaml", text.String(), "/", nil)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 11 || lines[10] != "and 5 more" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"gone.yaml": "config file \"gone.yaml\" does not exist; correct the path, or run `parley init --config gone.yaml` to write it",
		"folder":    `config file "folder" cannot be read (is a directory); name a file with --config`,
		"/dev/zero": "/dev/zero:1:1: is larger than 256KB, which no configuration is",
	} {
		if _, err := config.Load(path, nil); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", path, err, want)
		}
	}
}

func TestBuiltInIsChecked(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := config.Load("", env(map[string]string{"OPENAI_BASE_URL": "nonsense"}))
	want := `built-in configuration: models[0].base_url: "nonsense" is no web address; want http:// or https://, a host and perhaps a path, without ? and #`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"key": "sk-from-file\n", "crlf": "sk-crlf\r\n", "two": "sk-two\n\n", "empty": "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, entry, key, problem string }{
		{"one newline goes", "api_key_file: ./key", "sk-from-file", ""},
		{"with its return", "api_key_file: crlf", "sk-crlf", ""},
		{"an empty key does not count", "api_key: ${NOTHING}\n    api_key_file: key", "sk-from-file", ""},
		{"an empty path does not count", "api_key: sk-here\n    api_key_file: ${NOTHING}", "sk-here", ""},
		{"only one newline goes", "api_key_file: two", "", `c.yaml:3:5: models[0].api_key: holds a line break or another control character, which no key does; want the key alone`},
		{"both", "api_key: sk-here\n    api_key_file: key", "", `c.yaml:4:5: models[0].api_key_file: models[0].api_key is set as well; keep one of the two`},
		{"none there", "api_key_file: gone", "", `c.yaml:3:5: models[0].api_key_file: "DIR/gone" does not exist; create it or correct the path`},
		{"a folder", "api_key_file: .", "", `c.yaml:3:5: models[0].api_key_file: "DIR" is a folder; name a file`},
		{"without an end", "api_key_file: /dev/zero", "", `c.yaml:3:5: models[0].api_key_file: "/dev/zero" is larger than 64KB; give a smaller file`},
		{"empty", "api_key_file: empty", "", `c.yaml:3:5: models[0].api_key_file: "empty" is empty; write the secret into it`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := config.Parse("c.yaml", "models:\n  - model: m\n    "+c.entry+"\n", dir, nil)
			if c.problem != "" {
				if err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != c.problem {
					t.Errorf("\n got %v\nwant %s", err, c.problem)
				}
				return
			}
			if err != nil || got.Models[0].APIKey.Reveal() != c.key {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
