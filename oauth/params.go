package oauth

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"wick/internal/limit"
	"wick/internal/strictjson"
)

const (
	maxBody  = 16 << 10 // bytes of a registration, a token request or a consent form
	maxQuery = 12 << 10 // bytes of an authorization request: 2 KiB of client_id, and a state of 2 KiB, percent-encoded

	bodyTime = 10 * time.Second // to send a body: a slower client would only hold a connection
)

// params are the parameters of a request. Empty ones count as absent (RFC 6749
// section 3.1), and unknown ones are never asked for.
type params url.Values

// get returns the value of a parameter that was sent exactly once, else nothing: of
// two values this server might take one, and a proxy that checks requests the other.
func (p params) get(name string) string {
	if v := p[name]; len(v) == 1 {
		return v[0]
	}
	return ""
}

// twice returns a refusal when any parameter was sent more than once, but for
// resource, of which RFC 8707 allows several.
func (p params) twice() *refusal {
	for name, v := range p {
		if len(v) > 1 && name != "resource" {
			return moreThanOnce(name)
		}
	}
	return nil
}

// moreThanOnce refuses a parameter that was sent twice.
func moreThanOnce(name string) *refusal {
	ref := bad("invalid_request", "parameter "+limit.Clip(name)+" was sent more than once")
	ref.logged = "a parameter was sent more than once" // its name may be anything
	return ref
}

// boundBody gives the client bodyTime to send the body. A body that no handler reads
// needs the bound too: the server waits for the rest of it when the handler is done.
// Setting the deadline fails only where there is no connection, in a test.
func boundBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // 0 is none, -1 unknown
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	}
}

// readBody reads a body of at most maxBody bytes. Once the whole body is there it lifts
// the deadline of boundBody, which would otherwise end the request while it is handled.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, code: "invalid_request", text: "the body is longer than 16 KiB"}
	case err != nil:
		return nil, bad("invalid_request", "the body did not arrive whole, or not within 10 seconds")
	}
	http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, nil
}

// readParams reads parameters from the body, none of them twice: form-encoded as
// OAuth has it, or a JSON object of strings as some clients send it. The query is
// not looked at: secrets in it would end up in every proxy's log.
func readParams(w http.ResponseWriter, r *http.Request) (p params, ref *refusal) {
	body, ref := readBody(w, r)
	if ref != nil {
		return nil, ref
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		if p, ref = jsonParams(body); ref != nil {
			return nil, ref
		}
	case "application/x-www-form-urlencoded", "":
		v, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, bad("invalid_request", "the body is not form-encoded")
		}
		p = params(v)
	default:
		return nil, bad("invalid_request", "Content-Type must be application/x-www-form-urlencoded or application/json")
	}
	return p, p.twice()
}

// jsonParams reads an object of strings. A null counts as absent.
func jsonParams(body []byte) (params, *refusal) {
	var members map[string]*string
	err := strictjson.Unmarshal(body, &members, nil)
	if e, ok := errors.AsType[*strictjson.Error](err); ok && e.Kind == strictjson.Twice {
		return nil, moreThanOnce(e.Name)
	}
	if err != nil || members == nil {
		return nil, bad("invalid_request", "the body is not a JSON object of strings")
	}
	p := make(params)
	for name, text := range members {
		if text != nil {
			p[name] = []string{*text}
		}
	}
	return p, nil
}
