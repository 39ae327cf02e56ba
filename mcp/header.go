package mcp

import (
	"encoding/base64"
	"mime"
	"net/http"
	"regexp"
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

// accepts reports whether the Accept headers of a request admit a media type, one of our
// two. No header, or an empty one, admits everything. A range that names the type itself
// decides; else one such as */* admits it, unless its weight is zero.
func accepts(headers []string, media string) bool {
	if len(headers) == 1 && headers[0] == usualAccept {
		return true
	}
	main, _, _ := strings.Cut(media, "/")
	empty, admitted := true, false
	for item := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		empty = false
		name, params, _ := strings.Cut(item, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		excluded := zeroWeight.MatchString(params)
		if name == media {
			return !excluded
		}
		admitted = admitted || !excluded && (name == "*/*" || name == main+"/*")
	}
	return empty || admitted
}

// zeroWeight finds the weight q=0 among the parameters of a media range. One that cannot be
// read excludes nothing.
var zeroWeight = regexp.MustCompile(`(?i)(^|;)\s*q\s*=\s*0(\.0*)?\s*(;|$)`)
