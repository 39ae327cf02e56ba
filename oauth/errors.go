package oauth

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refusal is an error for a client: an RFC 6749 or RFC 7591 code and a text that
// says what was wrong and what would be right.
type refusal struct {
	status    int
	code      string
	text      string
	logged    string        // what the log says instead, if text quotes what was sent; empty: text
	wait      time.Duration // sent as Retry-After when positive
	challenge string        // sent as WWW-Authenticate when not empty

	// Only for a page: something may have been granted before this request, so the page does
	// not say that nothing was.
	perhaps bool

	// Only for a page: a link that takes the answer to the client if the person follows
	// it, and where it leads. Empty for no link.
	link string
	to   destination
}

// reason returns what the log says: logged if it is set, else text.
func (e *refusal) reason() string { return cmp.Or(e.logged, e.text) }

// bad returns a refusal with status 400, as most are.
func bad(code, text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: code, text: text}
}

// unavailable returns the refusal of a step that could not be written to the ledger. The
// client may try again.
func unavailable() *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: "temporarily_unavailable", wait: 5 * time.Second,
		text: "this cannot be written down now: try again in a few seconds"}
}

// refusalJSON is the body of RFC 6749 section 5.2.
type refusalJSON struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// writeRefusal writes a refusal as the JSON that OAuth gives errors.
func writeRefusal(w http.ResponseWriter, e *refusal) {
	e.head(w.Header())
	writeJSON(w, e.status, refusalJSON{e.code, description(e.text)})
}

// head sets the headers of the refusal, whether its body is JSON or a page.
func (e *refusal) head(h http.Header) {
	h.Set("Cache-Control", "no-store")
	if e.wait > 0 {
		h.Set("Retry-After", strconv.Itoa(seconds(e.wait)))
	}
	if e.challenge != "" {
		h.Set("WWW-Authenticate", e.challenge)
	}
}

// description fits a text to the characters that RFC 6749 allows in an
// error_description: printable ASCII without the double quote and backslash.
func description(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '"':
			return '\''
		case c < ' ' || c > '~' || c == '\\':
			return '?'
		}
		return c
	}, text)
}

// writeJSON answers with v. Types sent here are ours and always encode.
func writeJSON(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // URLs keep their ampersands; nosniff keeps it JSON
	enc.Encode(v)            // fails when the client has left
}

// seconds returns d in whole seconds, rounded up: a client that waits so long will be
// served.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
