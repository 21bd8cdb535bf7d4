package config

import (
	"cmp"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"parley/core/chat"
)

// bad notes a problem with a key, unless it has one already.
func (d *decoder) bad(key, format string, args ...any) {
	if slices.ContainsFunc(d.problems, func(p Problem) bool { return p.Key == key }) {
		return
	}
	at, given := d.at[key]
	for parent := key; !given && parent != ""; at, given = d.at[parent] {
		cut := strings.LastIndexAny(parent, ".[")
		if cut < 0 {
			break
		}
		parent = parent[:cut]
	}
	d.problem(spot{key: key, at: at}, format, args...)
}

// check judges what single values cannot tell.
func (d *decoder) check(c *Config) {
	d.checkFolders(c)
	d.checkListen(c.HTTP.Listen)
	d.checkModels(c.Models)
	d.checkURL("adapters.telegram.api_url", c.Adapters.Telegram.APIURL)
	d.checkURL("adapters.discord.api_url", c.Adapters.Discord.APIURL)
	d.checkURL("adapters.slack.api_url", c.Adapters.Slack.APIURL)
	d.checkAccess(c.Access)
	d.checkPrompt(&c.Session)
	if _, err := time.LoadLocation(c.Timezone); err != nil {
		d.bad("timezone", "%s is no time zone; want a name such as Europe/Berlin, or nothing for the system's own", quote(c.Timezone))
	}
}

func (d *decoder) checkFolders(c *Config) {
	for key, path := range map[string]string{"data_dir": c.DataDir, "workspace": c.Workspace} {
		if path == "" {
			d.bad(key, "is empty; want the path of a folder")
		}
	}
	if within(c.DataDir, c.Workspace) || within(c.Workspace, c.DataDir) {
		d.bad("workspace", "%s and data_dir %s lie in one another; give each a folder of its own, since the agent must not reach parley's data", quote(c.Workspace), quote(c.DataDir))
	}
}

// within reports whether path is dir or lies in it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && path != "" && dir != "" && (rel == "." || filepath.IsLocal(rel))
}

func (d *decoder) checkListen(listen string) {
	if listen == Off {
		return
	}
	_, port, err := net.SplitHostPort(listen)
	number, numErr := strconv.ParseUint(port, 10, 16)
	if err != nil || numErr != nil || number == 0 {
		d.bad("http.listen", "%s is no address to listen on; want HOST:PORT such as 127.0.0.1:8484, or off", quote(listen))
	}
}

// modelName keeps a name typable in /model and apart from its numbers.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`)

func (d *decoder) checkModels(models []Model) {
	first := map[string]int{}
	for i := range models {
		m := &models[i]
		key := "models[" + strconv.Itoa(i) + "]"
		if m.Model == "" {
			d.bad(key+".model", "is missing; want the name that the provider gives the model")
		}
		d.checkURL(key+".base_url", m.BaseURL)
		d.checkKey(key+".api_key", m.APIKey)
		if m.Name == "" {
			m.Name = m.Model
		}
		d.checkName(key+".name", m.Name, i, first)
		if m.Output >= m.Context {
			d.bad(key+".output", "%d leaves no room in a context of %d; want less", m.Output, m.Context)
		}
	}
}

func (d *decoder) checkName(key, name string, i int, first map[string]int) {
	_, numErr := strconv.Atoi(name)
	if name == "" {
		return
	}
	if !modelName.MatchString(name) || numErr == nil || strings.EqualFold(name, "auto") {
		d.bad(key, "%s cannot name a model; want letters, digits and . _ : / @ + -, and neither a number nor auto, which /model takes for something else", quote(name))
		return
	}
	if before, taken := first[strings.ToLower(name)]; taken {
		d.bad(key, "%s is the name of models[%d] already; give each model a name of its own", quote(name), before)
		return
	}
	first[strings.ToLower(name)] = i
}

// checkURL wants an http address. One that may carry a password or a key is not
// shown.
func (d *decoder) checkURL(key, text string) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
		shown := "the address"
		if bare, rest, _ := strings.Cut(text, "?"); !strings.Contains(text, "@") && rest == "" {
			shown = quote(bare)
		}
		d.bad(key, "%s is no web address; want http:// or https://, a host and perhaps a path, without ? and #", shown)
	}
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// login returns what of an address is secret: the password, or the name alone
// where there is none, since that is how some take a token.
func login(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	return cmp.Or(password, u.User.Username())
}

// checkKey wants a key that can be sent as a header.
func (d *decoder) checkKey(key string, s Secret) {
	if strings.ContainsFunc(s.Reveal(), unicode.IsControl) {
		d.bad(key, "holds a line break or another control character, which no key does; want the key alone")
	}
}

func (d *decoder) checkAccess(a Access) {
	for key, users := range map[string][]chat.UserID{"owners": a.Owners, "members": a.Members, "bots": a.Bots} {
		for i, u := range users {
			d.checkUser("access."+key+"["+strconv.Itoa(i)+"]", string(u))
		}
	}
	for i, c := range a.Chats {
		key := "access.chats[" + strconv.Itoa(i) + "]"
		if !slices.Contains(platforms, c.Adapter) {
			d.bad(key, "%s is on no platform that parley knows; want one of %s before the colon", quote(c.String()), strings.Join(platforms, ", "))
		} else if c.Thread != "" {
			d.bad(key, "%s names a thread; want its chat, %s", quote(c.String()), chat.Key{Adapter: c.Adapter, Chat: c.Chat})
		}
	}
	for i, bot := range a.Bots {
		if slices.Contains(a.Owners, bot) {
			d.bad("access.bots["+strconv.Itoa(i)+"]", "%s is one of access.owners, and a bot cannot be an owner; take it out of one of the two", quote(string(bot)))
		}
	}
	for i, who := range a.Approvers {
		if !slices.Contains(approverRoles, who) {
			d.checkUser("access.approvers["+strconv.Itoa(i)+"]", who)
		}
	}
}

var (
	platforms     = []string{"telegram", "discord", "slack", "terminal", "web"}
	approverRoles = []string{"owner", "admin", "member"}
	// userIDs are the unchanging ids of those platforms that have a form of
	// their own for them.
	userIDs = map[string]*regexp.Regexp{
		"telegram": regexp.MustCompile(`^[0-9]+$`),
		"discord":  regexp.MustCompile(`^[0-9]+$`),
		"slack":    regexp.MustCompile(`^([A-Z0-9]+/)?[UWB][A-Z0-9]+$`),
	}
)

// checkUser takes unchanging ids only: a name can be given up and taken by a
// stranger.
func (d *decoder) checkUser(key, id string) {
	adapter, rest, found := strings.Cut(id, ":")
	form := userIDs[adapter]
	if !found || rest == "" || !slices.Contains(platforms, adapter) || form != nil && !form.MatchString(rest) {
		d.bad(key, "%s is no user id; want PLATFORM:ID with the id that never changes, such as telegram:123456 (/whoami tells it), since a name can pass to somebody else", quote(id))
	}
}

// maxPrompt bounds the prompt file: it is sent with every request.
const maxPrompt = 64 << 10

func (d *decoder) checkPrompt(s *Session) {
	if s.PromptFile == "" {
		return
	}
	text, err := readSmall(s.PromptFile, maxPrompt)
	if err != nil {
		d.bad("session.prompt_file", "%v", err)
		return
	}
	s.Prompt = text
}
