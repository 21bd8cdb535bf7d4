package ask_test

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/core/ask"
	"parley/tools"
)

func TestDigest(t *testing.T) {
	spec := tools.Spec{Name: "write_file", Source: "core", Schema: json.RawMessage(`{"type":"object","properties":{"a":{},"b":{}}}`)}
	args := json.RawMessage(`{"path":"a","n":1,"list":[1,2]}`)
	base := ask.Digest(spec, args)

	same := spec
	same.Schema = json.RawMessage("{ \"properties\": {\"b\":{}, \"a\":{}},\n \"type\":\"object\" }")
	same.Description, same.Category = "otherwise", tools.Shell
	if ask.Digest(same, json.RawMessage(` {"list":[1, 2],"n":1, "path":"\u0061"}`)) != base {
		t.Error("order and space count")
	}
	for name, change := range map[string]func(s *tools.Spec, a *json.RawMessage){
		"source":     func(s *tools.Spec, _ *json.RawMessage) { s.Source = "mcp/x" },
		"name":       func(s *tools.Spec, _ *json.RawMessage) { s.Name = "write_fil" },
		"schema":     func(s *tools.Spec, _ *json.RawMessage) { s.Schema = json.RawMessage(`{"type":"object"}`) },
		"value":      func(_ *tools.Spec, a *json.RawMessage) { *a = json.RawMessage(`{"path":"b","n":1,"list":[1,2]}`) },
		"number":     func(_ *tools.Spec, a *json.RawMessage) { *a = json.RawMessage(`{"path":"a","n":1.0,"list":[1,2]}`) },
		"list order": func(_ *tools.Spec, a *json.RawMessage) { *a = json.RawMessage(`{"path":"a","n":1,"list":[2,1]}`) },
		"repetition": func(_ *tools.Spec, a *json.RawMessage) {
			*a = json.RawMessage(`{"path":"a","path":"a","n":1,"list":[1,2]}`)
		},
		"string of 1": func(_ *tools.Spec, a *json.RawMessage) { *a = json.RawMessage(`{"path":"a","n":"1","list":[1,2]}`) },
		"none":        func(_ *tools.Spec, a *json.RawMessage) { *a = nil },
	} {
		s, a := spec, args
		change(&s, &a)
		if ask.Digest(s, a) == base {
			t.Errorf("%s does not count", name)
		}
	}
	pairs := [][2]string{
		{`{"a":"\ud800"}`, `{"a":"\ud801"}`}, {"{\"a\":\"\xff\"}", "{\"a\":\"\xfe\"}"},
		{`{"a":1,"a":2}`, `{"a":2,"a":1}`}, {`{"a":null}`, `{"a":"null"}`}, {`{`, `{{`},
		{`{"a":{}}`, `{"a":[]}`}, {`{"a":"1,\"b\":2"}`, `{"a":1,"b":2}`},
	}
	for _, p := range pairs {
		if ask.Digest(spec, json.RawMessage(p[0])) == ask.Digest(spec, json.RawMessage(p[1])) {
			t.Errorf("%s and %s are the same", p[0], p[1])
		}
	}
}

func TestPretty(t *testing.T) {
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	tests := []struct{ args, want string }{
		{`{}`, `{}`},
		{`{"b":[1,{"x":null}],"a":true,"e":[]}`, "{\n  \"b\": [\n    1,\n    {\n      \"x\": null\n    }\n  ],\n  \"a\": true,\n  \"e\": []\n}"},
		{`{"a":1,"a":2.50}`, "{\n  \"a\": 1,\n  \"a\": 2.50\n}"},
		{`{"a":"\u003cb\u003e & é 世 \" \\ \n\t"}`, "{\n  \"a\": \"<b> & é 世 \\\" \\\\ \\n\\t\"\n}"},
		{`{"hunter2":"x hunter2 y"}`, "{\n  \"[redacted]\": \"x [redacted] y\"\n}"},
		{"{\"a\":\"x\u202etxt.exe\u200b\u00a0\U000e0041\"}", "{\n  \"a\": \"x\\u202etxt.exe\\u200b\\u00a0\\udb40\\udc41\"\n}"},
		{"{\"a\":\"\\r\\u0007\"}", "{\n  \"a\": \"\\u000d\\u0007\"\n}"},
		{"not json hunter2 \x00", `not json [redacted] \u0000`},
		{"{\"a\":\"\xff\"}", `{"a":"\xff"}`},
		{`{"a":"\ud800"}`, `{"a":"\ud800"}`},
	}
	for _, test := range tests {
		if got := ask.Pretty(json.RawMessage(test.args), redact); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.args, got, test.want)
		}
	}
	digits := func(s string) string { return strings.ReplaceAll(s, "4711", "[redacted]") }
	if got := ask.Pretty(json.RawMessage(`[4711,12]`), digits); got != "[\n  \"[redacted]\",\n  12\n]" {
		t.Errorf("a number: %s", got)
	}
	deep := strings.Repeat(`[`, 1e6)
	if got := ask.Pretty(json.RawMessage(deep), nil); got != deep {
		t.Error("deep nesting is not shown as it is")
	}
	if got := ask.Pretty(json.RawMessage(strings.Repeat(`[`, 9000)+strings.Repeat(`]`, 9000)), nil); len(got) > 2e6 {
		t.Errorf("deep nesting takes %d bytes", len(got))
	}
}
