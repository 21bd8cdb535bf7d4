package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"parley/core/chat"
)

// maxBody is how large a request may be.
const maxBody = 64 << 10

// The routes. Asking is GET, changing is POST with a JSON body.
const (
	routeVersion  = "/v1/version"
	routeStatus   = "/v1/status"
	routeCheck    = "/v1/check"
	routeDoctor   = "/v1/doctor"
	routePairings = "/v1/pairings"
	routeApprove  = "/v1/pairings/approve"
	routeRemove   = "/v1/users/remove"
	routeTools    = "/v1/tools"
	routeRules    = "/v1/rules"
	routeAsk      = "/v1/rules/ask"
	routeOrder    = "/v1/rules/order"
	routeAudit    = "/v1/audit"
)

type approveRequest struct {
	Code string `json:"code"`
}

type removeRequest struct {
	User chat.UserID `json:"user"`
}

type orderRequest struct {
	Words []string `json:"words"`
}

type versionReply struct {
	Version string `json:"version"`
}

// Handler is the API over a host. It does not ask who calls: [Socket.Serve]
// does.
func Handler(h Host) http.Handler {
	mux := http.NewServeMux()
	get(mux, h, routeVersion, func(context.Context) (versionReply, error) { return versionReply{h.Version}, nil })
	get(mux, h, routeStatus, h.Status)
	get(mux, h, routeCheck, h.Check)
	get(mux, h, routeDoctor, h.Doctor)
	get(mux, h, routePairings, h.Pairings)
	post(mux, h, routeApprove, h.Approve, func(r approveRequest) string { return r.Code })
	post(mux, h, routeRemove, h.Remove, func(r removeRequest) chat.UserID { return r.User })
	getAbout(mux, h, routeTools, h.Tools, func(q url.Values) (string, error) { return q.Get("role"), nil })
	getAbout(mux, h, routeRules, h.Rules, func(q url.Values) (string, error) { return q.Get("group"), nil })
	getAbout(mux, h, routeAsk, h.AskRules, func(q url.Values) ([]string, error) { return q["word"], nil })
	post(mux, h, routeOrder, h.OrderRules, func(r orderRequest) []string { return r.Words })
	getAbout(mux, h, routeAudit, h.Audit, countOf)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, h, &Error{
			Status: http.StatusNotFound, Says: fmt.Sprintf("parley has nothing at %s %s", r.Method, r.URL.Path),
			Remedy: "the running parley may be of another version than this command; restart it",
		})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), DoctorTimeout)
		defer cancel()
		mux.ServeHTTP(w, r.WithContext(ctx))
	})
}

func get[Out any](mux *http.ServeMux, h Host, route string, call func(context.Context) (Out, error)) {
	if call == nil {
		mux.HandleFunc(route, unable(h))
		return
	}
	mux.HandleFunc("GET "+route, func(w http.ResponseWriter, r *http.Request) {
		out, err := call(r.Context())
		reply(w, h, out, err)
	})
}

// getAbout is get for what is asked about something.
func getAbout[In, Out any](mux *http.ServeMux, h Host, route string, call func(context.Context, In) (Out, error), of func(url.Values) (In, error)) {
	if call == nil {
		mux.HandleFunc(route, unable(h))
		return
	}
	mux.HandleFunc("GET "+route, func(w http.ResponseWriter, r *http.Request) {
		in, err := of(r.URL.Query())
		if err != nil {
			writeError(w, h, err)
			return
		}
		out, err := call(r.Context(), in)
		reply(w, h, out, err)
	})
}

// countOf reads how many lines are wanted.
func countOf(q url.Values) (int, error) {
	n, err := strconv.Atoi(q.Get("n"))
	if err != nil || n < 1 || n > MostAudit {
		return 0, &Error{Says: fmt.Sprintf("%q is no number of lines", q.Get("n")), Remedy: fmt.Sprintf("ask for 1 to %d", MostAudit)}
	}
	return n, nil
}

func post[Request, In, Out any](mux *http.ServeMux, h Host, route string, call func(context.Context, In) (Out, error), of func(Request) In) {
	if call == nil {
		mux.HandleFunc(route, unable(h))
		return
	}
	mux.HandleFunc("POST "+route, func(w http.ResponseWriter, r *http.Request) {
		var req Request
		if err := decode(w, r, &req); err != nil {
			writeError(w, h, err)
			return
		}
		out, err := call(r.Context(), of(req))
		reply(w, h, out, err)
	})
}

func unable(h Host) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		writeError(w, h, &Error{Status: http.StatusNotImplemented, Says: "this parley cannot do that"})
	}
}

// decode reads a body strictly. JSON as content type keeps a form of some web
// page from passing for a request.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return &Error{Status: http.StatusUnsupportedMediaType, Says: "the request is no JSON", Remedy: "send Content-Type: application/json"}
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.Decode(&struct{}{}) != io.EOF {
		err = errors.New("more follows the first value")
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &Error{Status: http.StatusRequestEntityTooLarge, Says: fmt.Sprintf("the request is larger than %d bytes", large.Limit)}
	case err != nil:
		return &Error{Says: fmt.Sprintf("the request cannot be read: %v", err)}
	}
	return nil
}

func reply(w http.ResponseWriter, h Host, out any, err error) {
	if err != nil {
		writeError(w, h, err)
		return
	}
	write(w, h, http.StatusOK, out)
}

func writeError(w http.ResponseWriter, h Host, err error) {
	var known *Error
	if !errors.As(err, &known) {
		known = &Error{Status: http.StatusInternalServerError, Says: err.Error()}
	}
	write(w, h, known.status(), known)
}

// write sends JSON without secrets.
func write(w http.ResponseWriter, h Host, status int, out any) {
	text, err := h.encode(out)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// encode redacts the texts of a value rather than its JSON, which a secret of
// digits alone could break.
func (h Host) encode(out any) ([]byte, error) {
	text, err := json.Marshal(out)
	if err != nil || h.Redact == nil {
		return text, err
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(h.redactTree(tree))
}

func (h Host) redactTree(v any) any {
	switch v := v.(type) {
	case string:
		return h.Redact(v)
	case []any:
		for i := range v {
			v[i] = h.redactTree(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = h.redactTree(v[k])
		}
	}
	return v
}
