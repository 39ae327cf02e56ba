package oauth

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

const (
	maxBody  = 16 << 10 // bytes of a registration, a token request or a consent form
	maxQuery = 8 << 10  // bytes of an authorization request
)

// params are the parameters of a request. Empty ones count as absent (RFC 6749
// section 3.1), and unknown ones are never asked for.
type params url.Values

// get returns a parameter that was sent once, or nothing: which of two values
// was meant is the kind of question on which two readers disagree.
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
			return bad("invalid_request", "parameter "+clip(name)+" was sent more than once")
		}
	}
	return nil
}

// resources returns the resource parameters that are not empty.
func (p params) resources() []string {
	var out []string
	for _, v := range p["resource"] {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

func parseQuery(raw string) (params, *refusal) {
	if len(raw) > maxQuery {
		return nil, bad("invalid_request", "the query is longer than 8 KiB")
	}
	v, err := url.ParseQuery(raw)
	if err != nil {
		return nil, bad("invalid_request", "the query is not URL-encoded")
	}
	return params(v), nil
}

// readBody reads at most maxBody bytes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, code: "invalid_request", text: "the body is longer than 16 KiB"}
	case err != nil:
		return nil, bad("invalid_request", "the body did not arrive whole")
	}
	return body, nil
}

// readParams reads parameters from the body: form-encoded as OAuth has it, or a
// JSON object of strings as some clients send it. The query is not looked at:
// secrets in it would end up in every proxy's log.
func readParams(w http.ResponseWriter, r *http.Request) (params, *refusal) {
	body, ref := readBody(w, r)
	if ref != nil {
		return nil, ref
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		p, err := jsonParams(string(body))
		if err != nil {
			return nil, bad("invalid_request", "the body is not a JSON object of strings")
		}
		return p, nil
	case "application/x-www-form-urlencoded", "":
		v, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, bad("invalid_request", "the body is not form-encoded")
		}
		return params(v), nil
	}
	return nil, bad("invalid_request", "Content-Type must be application/x-www-form-urlencoded or application/json")
}

// jsonParams reads an object token by token: decoded into a map, the second of
// two equal keys would silently win. A null counts as absent.
func jsonParams(body string) (params, error) {
	dec := json.NewDecoder(strings.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	p := make(params)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		value, err := dec.Token()
		if err != nil {
			return nil, err
		}
		switch v := value.(type) {
		case string:
			p[name.(string)] = append(p[name.(string)], v) // keys of an object are strings, or Token fails
		case nil:
		default:
			return nil, errors.New("a value is not a string")
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("data after the object")
	}
	return p, nil
}
