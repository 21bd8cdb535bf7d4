package config_test

import (
	"reflect"
	"testing"

	"parley/cmd/parley/config"
)

// env makes an Env of a map.
func env(vars map[string]string) config.Env {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestShippedFileIsDefault(t *testing.T) {
	for _, vars := range []map[string]string{
		nil,
		{"OPENAI_API_KEY": "sk-invented", "OPENAI_MODEL": "m", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
		{"OPENAI_API_KEY": "", "OPENAI_MODEL": "", "OPENAI_BASE_URL": ""},
	} {
		got, err := config.Parse("config.yaml", config.Shipped, "/srv/parley", env(vars))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Access.Owners) == 0 {
			got.Access.Owners, got.Access.Members, got.Access.Bots, got.Access.Chats = nil, nil, nil, nil
		}
		want := config.Default("/srv/parley", env(vars))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("with %v\n got %+v\nwant %+v", vars, got, want)
		}
	}
}

// An editor on Windows puts a mark before the text and ends lines its own way.
func TestFileFromWindows(t *testing.T) {
	c, err := config.Parse("c.yaml", "\ufeffsandbox: none\r\ntimezone: UTC\r\n", "/", nil)
	if err != nil || c.Sandbox != "none" || c.Timezone != "UTC" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func BenchmarkParseShipped(b *testing.B) {
	for b.Loop() {
		if _, err := config.Parse("config.yaml", config.Shipped, "/srv/parley", nil); err != nil {
			b.Fatal(err)
		}
	}
}
