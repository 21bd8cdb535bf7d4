package policy_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/core/policy"
)

// matches tells whether a deny with a path pattern reaches a path.
func matches(t fatal, pattern, p string) bool {
	w := newWorld(t, policy.Config{})
	w.put(rule(deny, "*", pattern))
	return w.Judge(ctx, reads(p)).Action == deny
}

func TestPathPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		match         bool
	}{
		{"/a/b", "/a/b", true},
		{"/a/b", "/a/b/c", false},
		{"/a/b", "/a/B", false},
		{"/a/b/*", "/a/b", true},
		{"/a/b/*", "/a/b/c", true},
		{"/a/b/*", "/a/b/c/d", true},
		{"/a/b/*", "/a/bc", false},
		{"/a/b/*", "/a/bc/d", false},
		{"/a/b/*", "/a", false},
		{"/a/b/**", "/a/b", true},
		{"/a/b/**", "/a/b/c/d", true},
		{"/a/b/**", "/a/bc", false},
		{"/*", "/", true},
		{"/*", "/a/b/c", true},
		{"/", "/", true},
		{"/", "/a", false},
		{"/a/*/c", "/a/b/c", true},
		{"/a/*/c", "/a/b/b/c", false},
		{"/a/**/c", "/a/c", true},
		{"/a/**/c", "/a/b/b/c", true},
		{"/a/*.md", "/a/x.md", true},
		{"/a/*.md", "/a/.md", true},
		{"/a/*.md", "/a/b/x.md", false},
		{"/a/**/*.md", "/a/x.md", true},
		{"/a/**/*.md", "/a/b/b/x.md", true},
		{"/a/*.{md,txt}", "/a/x.txt", true},
		{"/a/*.{md,txt}", "/a/x.go", false},
		{"/a/[a-c]?", "/a/bz", true},
		{"/a/[!a-c]?", "/a/bz", false},
		{`/a/\*`, "/a/*", true},
		{`/a/\*`, "/a/b", false},
		{"/**/.ssh/*", "/home/me/.ssh", true},
		{"/**/.ssh/*", "/home/me/.ssh/id", true},
		{"/**/.ssh/*", "/home/me/.sshd/id", false},
		{"$workspace", workspace, true},
		{"$workspace", workspace + "/a", false},
		{"$workspace/*", workspace, true},
		{"$workspace/*", workspace + "/a/b", true},
		{"$workspace/*", workspace + "2/a", false},
		{"$workspace/docs/*", workspace + "/docs/x", true},
		{"$workspace/docs/*", workspace + "/docs2", false},
		{"$workspace/**/x", workspace + "/x", true},
		{"$workdir/*", dir + "/a", true},
		{"$workdir/*", workspace + "/a", false},
		{"$workdir/*", dir + "2", false},
		{"$workdir/notes.md", dir + "/notes.md", true},
		{"$workdir", dir, true},
		{"$readable", dir + "/x", true},
		{"$readable", workspace + "/docs/x", true},
		{"$readable", workspace + "/memory/x", false},
		{"$readable", "/etc/passwd", false},
		{"$writable", dir + "/scratch/x", true},
		{"$writable", dir + "/x", false},
	} {
		if got := matches(t, c.pattern, c.path); got != c.match {
			t.Errorf("%s on %s: %v", c.pattern, c.path, got)
		}
	}
}

// Characters of patterns in the directories themselves mean nothing.
func TestDirectoriesAreNoPatterns(t *testing.T) {
	w := newWorld(t, policy.Config{})
	w.put(rule(deny, "*", "$workdir/x"))
	c := reads("/srv/[a]{b,c}*/x")
	c.Context.Dir = "/srv/[a]{b,c}*"
	w.wants(deny, c)
	c.Path = "/srv/ab/x"
	w.wants(require, c)
	for _, odd := range []string{"", "relative", "/a/../b", "/a\x00"} {
		c.Context.Dir, c.Path = odd, "/x"
		w.wants(require, c)
	}
}

func TestFoldedCase(t *testing.T) {
	w := newWorld(t, policy.Config{FoldCase: true})
	w.put(rule(deny, "*", "/Home/Me/Private/*"), rule(deny, "*", "$workspace/Key*"), rule(allow, "*", "/Open/*"))
	w.wants(deny, reads("/home/ME/private/x"))
	w.wants(deny, reads(strings.ToUpper(workspace)+"/KEYS"))
	w.wants(allow, reads("/Open/x"))
	w.wants(require, reads("/open/x"))
	w = newWorld(t, policy.Config{})
	w.put(rule(deny, "*", "/Home/*"))
	w.wants(require, reads("/home"))
}

func TestRefusedPatterns(t *testing.T) {
	w := newWorld(t, policy.Config{})
	for name, pattern := range map[string]string{
		"home": "~/x", "relative": "x/y", "dot": "./x", "up": "/a/../b", "up at the end": "/a/..", "here": "/a/./b", "trailing": "/a/", "empty name": "/a//b",
		"class": "/a[", "class over names": "/[a/b]", "brace": "/{a", "brace over names": "/{a/b,c}", "backslash": `/a\`, "escaped slash": `/a\/b`,
		"NUL": "/a\x00b", "line": "/a\nb", "not UTF-8": "/\xff", "replacement": "/\ufffd", "huge": "/" + strings.Repeat("a", 600),
		"word": "$home/x", "word alike": "$workspaces/x", "word in the middle": "x/$workdir", "readable and more": "$readable/x",
		"left open": "/{a,{b,c}", "many braces": "/" + strings.Repeat("{a,b}", 20), "direction": "/a\u202eb", "empty class": "/[]",
	} {
		c, err := w.Put(ctx, rule(deny, "*", pattern))
		w.refuses("not a rule", c, err)
		if !strings.Contains(c.Reply, "path: ") {
			t.Errorf("%s: %s", name, c.Reply)
		}
		if _, err := policy.New(&mem{}, policy.Config{Rules: []policy.Rule{{Tool: "x", Action: allow}, rule(deny, "*", pattern)}}); err == nil || !strings.HasPrefix(err.Error(), "rules[1].path: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, pattern := range map[string]string{
		"nothing": "", "class": "@fs", "class of a class": "@", "bracket": "a[", "NUL": "a\x00", "huge": strings.Repeat("a", 1000),
		"stars": strings.Repeat("*", 1000), "braces": strings.Repeat("{a,b}", 9), "slash": "mcp/", "dots": "mcp/../x",
	} {
		c, err := w.Put(ctx, rule(deny, pattern, ""))
		if w.refuses("not a rule", c, err); !strings.Contains(c.Reply, "tool: ") {
			t.Errorf("%s: %s", name, c.Reply)
		}
	}
}

// A pattern made to be slow is not.
func TestPatternsEnd(t *testing.T) {
	w := newWorld(t, policy.Config{})
	long := strings.Repeat("/aaaaaaaa", 400)
	for _, pattern := range []string{
		"/" + strings.Repeat("**/", 100) + "b", "/**/" + strings.Repeat("a*", 200) + "b", "/**" + strings.Repeat("/*a*", 100) + "/b",
		"/**/" + strings.Repeat("aaaaaaaa/", 50) + "b", "/**/{a*,*a}{a*,*a}{a*,*a}{a*,*a}{a*,*a}/b",
	} {
		w.put(rule(deny, "*", pattern))
		start := time.Now()
		w.Judge(ctx, reads(long))
		t.Logf("%.40s: %v", pattern, time.Since(start))
	}
}

// model is what a pattern of names, *, ** and ? means, written without thought
// for speed.
func model(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" || (pattern[0] == "*" && len(pattern) == 1) {
		for i := range len(name) + 1 {
			if model(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	if len(name) == 0 {
		return false
	}
	return modelName(pattern[0], name[0]) && model(pattern[1:], name[1:])
}

func modelName(pattern, name string) bool {
	if start := strings.IndexByte(pattern, '{'); start >= 0 {
		end := start + strings.IndexByte(pattern[start:], '}')
		return slices.ContainsFunc(strings.Split(pattern[start+1:end], ","), func(choice string) bool {
			return modelName(pattern[:start]+choice+pattern[end+1:], name)
		})
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func TestPathPatternsFollowTheModel(t *testing.T) {
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "a.b"}), 0, 5)
	globs := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "*", "**", "a*", "?", "*b", "**b", "[ab]", `\a`, "a***", "a*{,b}", "{a,b}{,b}", "*{.b,b}*"}), 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		pattern, name := globs.Draw(t, "pattern"), names.Draw(t, "name")
		root := rapid.SampledFrom([]string{"", "$workspace", "$workdir"}).Draw(t, "root")
		base := map[string]string{"": "", "$workspace": workspace, "$workdir": dir}[root]
		p := base + "/" + strings.Join(name, "/")
		if base != "" {
			p = strings.TrimSuffix(p, "/")
		}
		whole := root + "/" + strings.Join(pattern, "/")
		if got, want := matches(t, whole, p), model(pattern, name); got != want {
			t.Fatalf("%s on %s: %v, the model says %v", whole, p, got, want)
		}
	})
}

// Whatever stands in a pattern, it is refused or it works, and never reaches a
// path that does not begin with its plain names.
func TestAnyPattern(t *testing.T) {
	part := rapid.OneOf(rapid.StringN(0, 6, -1), rapid.SampledFrom([]string{"*", "**", "[", "]", "{a,", "}", `\`, "..", ".", "~", "$workdir"}))
	rapid.Check(t, func(t *rapid.T) {
		pattern := "/kept" + fmt.Sprint(rapid.SampledFrom([]string{"/", "", "//"}).Draw(t, "join")) + strings.Join(rapid.SliceOfN(part, 0, 5).Draw(t, "parts"), "/")
		w := newWorld(t, policy.Config{})
		c, err := w.Put(ctx, rule(allow, "*", pattern))
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		if c.Refused {
			return
		}
		w.did(c, nil)
		w.wants(require, reads("/other/a"))
	})
}
