package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// localServers are the addresses at which the common local model servers
// listen: Ollama, LM Studio, llama.cpp, vLLM.
func localServers() []string {
	return []string{
		"http://127.0.0.1:11434/v1",
		"http://127.0.0.1:1234/v1",
		"http://127.0.0.1:8080/v1",
		"http://127.0.0.1:8000/v1",
	}
}

// probeTime bounds the whole search: it stands in the way of a first start.
const probeTime = 300 * time.Millisecond

// FindLocal asks the candidates, all at once and for a moment only, whether
// they are OpenAI-compatible servers, and returns the model to use: the first
// chat model of the first candidate that has one. nil means localServers.
// Candidates that are not on this machine's loopback are not asked.
func FindLocal(ctx context.Context, candidates []string) (Config, bool) {
	if candidates == nil {
		candidates = localServers()
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy
	client := newClient(&http.Client{Transport: transport}, Limits{})
	found := make([]*Config, len(candidates))
	var all sync.WaitGroup
	for i, base := range candidates {
		if isLoopback(base) {
			all.Go(func() { found[i] = probe(ctx, client, base) })
		}
	}
	all.Wait()
	if c := cmp.Or(found...); c != nil {
		return *c, true
	}
	return Config{}, false
}

func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// modelList is the answer to GET /v1/models.
type modelList struct {
	Object string      `json:"object"`
	Data   []listEntry `json:"data"`
}

type listEntry struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Owner  string `json:"owned_by"`
	Length int    `json:"max_model_len"` // vLLM
	Meta   struct {
		Context int `json:"n_ctx"` // llama.cpp
	} `json:"meta"`
}

// probe returns the model to use at base, or nil when it is no model server.
func probe(ctx context.Context, client *http.Client, base string) *Config {
	base = strings.TrimRight(base, "/")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", http.NoBody)
	if err != nil {
		return nil
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	const most = 1 << 20
	list, ok := readModels(resp, io.LimitReader(resp.Body, most))
	if !ok {
		return nil
	}
	for _, e := range list.Data {
		if e.talks() {
			const modest = 8192 // what local servers give when they do not say
			return &Config{Name: "local", BaseURL: base, ID: e.ID, Context: cmp.Or(e.Length, e.Meta.Context, modest)}
		}
	}
	return nil
}

// readModels is strict, for any web server may listen there: the type, the
// object names and an id for every entry must be right.
func readModels(resp *http.Response, body io.Reader) (modelList, bool) {
	var list modelList
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || kind != "application/json" {
		return list, false
	}
	if json.NewDecoder(body).Decode(&list) != nil || list.Object != "list" {
		return list, false
	}
	for _, e := range list.Data {
		if e.ID == "" || e.Object != "model" {
			return list, false
		}
	}
	return list, true
}

// mute are parts of the names of models that do not chat.
var mute = []string{"embed", "rerank", "whisper", "tts", "bge-", "minilm", "e5-", "clip", "stable-diffusion", "sdxl", "flux", "guard", "moderation", "bark", "ocr"}

// talks says whether the entry looks like a chat model that is not our own.
func (e listEntry) talks() bool {
	id := strings.ToLower(e.ID)
	for _, part := range mute {
		if strings.Contains(id, part) {
			return false
		}
	}
	return e.Owner != "parley"
}
