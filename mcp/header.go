package mcp

import (
	"encoding/base64"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
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

const badVersion = "Mcp-Protocol-Version must be the date of a protocol version, such as " + ProtocolVersion

// knownVersion reports whether Mcp-Protocol-Version is absent or the date of a version.
// Any date from the first version on will do, since a client may ask before it knows
// which versions we speak.
func knownVersion(h http.Header) bool {
	values := h["Mcp-Protocol-Version"]
	if len(values) == 0 || len(values) == 1 && values[0] == ProtocolVersion {
		return true
	}
	const first = "2024-11-05"
	v := values[0]
	if len(values) > 1 || len(v) != len(first) || v < first {
		return false
	}
	_, err := time.Parse(time.DateOnly, v)
	return err == nil
}

// headerMismatch returns an error if the headers of a request of the newer era disagree
// with its body, else nil. Proxies route by the headers, so a request whose headers and
// body name different things must not be served.
func headerMismatch(h http.Header, m *message) *Error {
	if !slices.Equal(h["Mcp-Protocol-Version"], []string{*m.Params.Meta.Version}) {
		return mismatch("MCP-Protocol-Version")
	}
	if !slices.Equal(h["Mcp-Method"], []string{m.Method}) {
		return mismatch("Mcp-Method")
	}
	if name, named := m.names(); named && !saysName(h, name) {
		return mismatch("Mcp-Name")
	}
	return nil
}

// names returns what a request names, and whether it is one that names something. Only
// such requests have the header Mcp-Name.
func (m *message) names() (name string, named bool) {
	switch m.Method {
	case "tools/call", "prompts/get":
		return m.Params.Name, true
	case "resources/read":
		return m.Params.URI, true
	}
	return "", false
}

// saysName reports whether the header Mcp-Name is there, once, and says name.
func saysName(h http.Header, name string) bool {
	names := h["Mcp-Name"]
	return len(names) == 1 && decodeHeader(names[0]) == name
}

// mismatch returns the error for a header that does not agree with the body.
func mismatch(name string) *Error {
	return &Error{codeHeaderMismatch, "the header " + name + " is missing or does not agree with the body"}
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
