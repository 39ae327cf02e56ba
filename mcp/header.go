package mcp

import (
	"encoding/base64"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Values of headers, shared by all replies; net/http only reads them.
var (
	contentJSON = []string{"application/json"}
	nosniff     = []string{"nosniff"} // a reply repeats a stranger's id and is nothing but JSON
)

// maxSession bounds an echoed session id, in bytes.
const maxSession = 256

// echoSession repeats the client's Mcp-Session-Id in the reply. We make no use of it.
// Anything but short visible ASCII is not repeated: a stranger must not write arbitrary
// text into our headers.
func echoSession(w http.ResponseWriter, r *http.Request) {
	values := r.Header["Mcp-Session-Id"]
	invisible := func(c rune) bool { return c <= ' ' || c > '~' }
	if len(values) == 1 && values[0] != "" && len(values[0]) <= maxSession && !strings.ContainsFunc(values[0], invisible) {
		w.Header()["Mcp-Session-Id"] = values
	}
}

// decodeHeader returns the text that the value of a header stands for. Text that a
// header cannot hold is sent as =?base64?…?=. A value that is not a correct encoding
// stands for itself.
func decodeHeader(v string) string {
	text, begins := strings.CutPrefix(v, "=?base64?")
	text, ends := strings.CutSuffix(text, "?=")
	decoded, err := base64.StdEncoding.DecodeString(text)
	if !begins || !ends || err != nil {
		return v
	}
	return string(decoded)
}

// jsonBody reports whether the Content-Type is JSON or absent. This refuses the three
// types that a web page may post to another site without a preflight: text/plain and
// the two of forms.
func jsonBody(h http.Header) bool {
	values := h["Content-Type"]
	if len(values) == 0 || len(values) == 1 && values[0] == contentJSON[0] {
		return true
	}
	media, _, err := mime.ParseMediaType(values[0])
	return len(values) == 1 && (err == nil || err == mime.ErrInvalidMediaParameter) && media == contentJSON[0]
}

// usualAccept is the Accept header that MCP asks clients to send. It admits both types
// that we answer with, so it need not be parsed.
const usualAccept = "application/json, text/event-stream"

// accepts reports whether the Accept headers of a request admit the media type
// main/sub, one of our two. No header, or an empty one, admits everything. Of the
// ranges that match, the most specific decides (RFC 9110, section 12.5.1), so that
// "application/json;q=0, */*" refuses JSON.
func accepts(headers []string, main, sub string) bool {
	if len(headers) == 1 && headers[0] == usualAccept {
		return true
	}
	best, weight := -1, 0.0
	empty := true
	for _, header := range headers {
		for item := range strings.SplitSeq(header, ",") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			empty = false
			media, params, _ := strings.Cut(item, ";")
			specific := matches(strings.TrimSpace(media), main, sub)
			if specific < 0 || specific < best {
				continue
			}
			q := quality(params)
			// A more specific range replaces what was found. Of two that are equally
			// specific the heavier one counts.
			if specific > best || q > weight {
				best, weight = specific, q
			}
		}
	}
	return empty || weight > 0
}

// matches returns how specifically a media range covers main/sub: 2 by name, 1
// by main/*, 0 by */*, and -1 if it does not cover it. Parameters other than q are
// not compared: we have one form of each type.
func matches(media, main, sub string) int {
	m, s, ok := strings.Cut(media, "/")
	switch {
	case !ok:
		return -1
	case strings.EqualFold(m, main) && strings.EqualFold(s, sub):
		return 2
	case strings.EqualFold(m, main) && s == "*":
		return 1
	case m == "*" && s == "*":
		return 0
	}
	return -1
}

// quality returns the weight among the parameters of a media range. A missing
// or unreadable one counts as 1: only a clear zero excludes a type.
func quality(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 1
		}
		return q
	}
	return 1
}
