package policy_test

import (
	"strings"
	"testing"

	"parley/core/policy"
	"parley/tools"
)

func TestEasing(t *testing.T) {
	w := newWorld(t, policy.Config{})
	granted := func(c policy.Call) policy.Call {
		c.Context.Reads, c.Context.Writes = []string{"/lib", "", "relative"}, []string{"/out"}
		return c
	}
	trusted := func(c policy.Call) policy.Call {
		c.Context.Dir, c.Context.Trusted = workspace, true
		return c
	}
	shared := func(c policy.Call) policy.Call {
		c.Context.Dir = workspace
		return c
	}
	for _, c := range []struct {
		name string
		call policy.Call
		want policy.Action
	}{
		{"read the directory", reads(dir), allow},
		{"read in it", reads(dir + "/a/b"), allow},
		{"read a sibling", reads(dir + "2/a"), require},
		{"read another chat's", reads(workspace + "/chats/telegram_2/a"), require},
		{"read above", reads(workspace), require},
		{"read docs", reads(workspace + "/docs/a"), allow},
		{"read skills", reads(workspace + "/skills/a"), allow},
		{"read docs alike", reads(workspace + "/docs2/a"), require},
		{"read the workspace's memory", reads(workspace + "/memory/a"), require},
		{"read elsewhere", reads("/etc/passwd"), require},
		{"read what was granted", granted(reads("/lib/a")), allow},
		{"read what may be written", granted(reads("/out/a")), allow},
		{"read beside what was granted", granted(reads("/lib2")), require},
		{"write in the directory", writes(dir + "/a"), require},
		{"write docs", writes(workspace + "/docs/a"), require},
		{"write what was granted for reading", granted(writes("/lib/a")), require},
		{"write what was granted", granted(writes("/out/a")), allow},
		{"write memory", writes(dir + "/memory/a"), allow},
		{"write memory alike", writes(dir + "/memory.md"), require},
		{"write scratch", writes(dir + "/scratch/a/b"), allow},
		{"read scratch", reads(dir + "/scratch/a"), allow},
		{"write the workspace's scratch", writes(workspace + "/scratch/a"), require},
		{"write the workspace's memory", writes(workspace + "/memory/a"), require},
		{"write the workspace's memory, at work there", shared(writes(workspace + "/memory/a")), require},
		{"write the workspace's memory, trusted", trusted(writes(workspace + "/memory/a")), allow},
		{"write the workspace's scratch, at work there", shared(writes(workspace + "/scratch/a")), allow},
		{"write elsewhere, trusted", trusted(writes(workspace + "/a")), require},
		{"no path", reads(""), require},
	} {
		v := w.Judge(ctx, c.call)
		if v.Action != c.want || (v.Eased != "") != (c.want == allow) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// Somebody who is not trusted has no way into the workspace's memory by a
// working directory in it.
func TestWorkspaceMemoryFromWithin(t *testing.T) {
	w := newWorld(t, policy.Config{})
	for _, at := range []string{workspace + "/memory", workspace + "/memory/x"} {
		for _, sub := range []string{"/memory/a", "/scratch/a"} {
			c := writes(at + sub)
			c.Context.Dir = at
			w.wants(require, c)
			c.Context.Trusted = true
			w.wants(allow, c)
		}
	}
}

// Only file tools are eased: a path is no right to run a command there.
func TestOnlyFileToolsAreEased(t *testing.T) {
	w := newWorld(t, policy.Config{})
	for _, category := range append(tools.Categories(), tools.NoCategory) {
		if category == tools.Filesystem {
			continue
		}
		c := reads(dir + "/a")
		c.Tool.Category = category
		w.wants(require, c)
	}
	c := reads(dir + "/a")
	c.Tool.Source = "mcp/files"
	w.wants(require, c)
}

func TestKnownAddress(t *testing.T) {
	w := seeded(t, policy.Config{})
	c := tool(tools.WebFetch)
	w.wants(require, c)
	c.Known = true
	w.wants(allow, c)
	c.Tool.Source = "mcp/web"
	w.wants(require, c)
	c = tool(tools.ExecuteCmd)
	c.Known = true
	w.wants(require, c)
	w.put(rule(deny, tools.WebFetch, ""))
	c = tool(tools.WebFetch)
	c.Known = true
	w.wants(deny, c)
}

func TestDenyIsNeverEased(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(rule(deny, "@fs_any", "$workdir/private/*"))
	w.wants(deny, reads(dir+"/private/a"))
	w.wants(deny, writes(dir+"/private"))
	w.wants(allow, reads(dir+"/a"))
}

func TestSecretsAndDataAreClosed(t *testing.T) {
	w := newWorld(t, policy.Config{Denied: []string{"/var/other/"}})
	w.put(policy.Rule{Group: "default", Tool: "*", Action: allow, Priority: 1}, policy.Rule{Tool: "*", Path: "/**", Action: allow, Priority: 1})
	must(0, w.Grant("s", policy.Bypass{All: true}))
	for _, path := range []string{
		workspace + "/secrets", workspace + "/secrets/", workspace + "/secrets/a", workspace + "/a/Secrets/b", workspace + "/SECRETS", workspace + "/ſecrets",
		dir + "/secrets/a", dir + "/a/secrets", strings.ToUpper(workspace) + "/secrets", workspace + "/chats/other/secrets/x",
		data, data + "/", data + "/parley.db", strings.ToUpper(data) + "/x", "/var/other/x",
	} {
		for _, c := range []policy.Call{reads(path), writes(path), tool("show_file_to_user"), mcp("files", "read")} {
			c.Path = path
			c.Context.Reads, c.Context.Writes = []string{path, "/"}, []string{path}
			if v := w.wants(deny, c); v.Rule != (policy.Rule{}) || v.Bypassed {
				t.Errorf("%+v", v)
			}
		}
	}
	for _, path := range []string{workspace + "/secrets2", workspace + "/my-secrets/a", "/secrets/a", "/srv/secrets", data + "2", "/srv/parley"} {
		w.wants(allow, reads(path))
	}
	c := reads("/etc/hosts")
	c.Context.Dir = "/"
	w.wants(allow, c)
	c = reads("/elsewhere/secrets/a")
	w.wants(allow, c)
	c.Context.Dir = "/elsewhere"
	w.wants(deny, c)
	c.Context.Dir, c.Context.Workspace, c.Path = "", "", workspace+"/secrets/a"
	w.wants(deny, c)
}
