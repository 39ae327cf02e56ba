package mcp

import (
	"crypto/rand"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// maxSession bounds an echoed session id, in bytes.
const maxSession = 256

// echoSession repeats the client's Mcp-Session-Id. It means nothing here, and
// whatever is not short visible ASCII is not repeated: a header is no place
// for text of strangers.
func echoSession(w http.ResponseWriter, r *http.Request) {
	values := r.Header["Mcp-Session-Id"]
	if len(values) != 1 || len(values[0]) > maxSession {
		return
	}
	for _, c := range []byte(values[0]) {
		if c <= ' ' || c > '~' {
			return
		}
	}
	if values[0] != "" {
		w.Header()["Mcp-Session-Id"] = values
	}
}

// offerSession names a session if the client named none: some clients open
// their stream only then. The name is random, and nobody remembers it.
func offerSession(w http.ResponseWriter, r *http.Request) {
	if len(r.Header["Mcp-Session-Id"]) == 0 {
		w.Header()["Mcp-Session-Id"] = []string{rand.Text()}
	}
}

const badVersion = "Mcp-Protocol-Version must be the date of a protocol version, such as " + ProtocolVersion

// knownVersion reports whether Mcp-Protocol-Version is absent or the date of a
// version: that of ours, of an older one or of a newer one, since a client may
// ask before it knows what we speak.
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

// jsonBody reports whether the Content-Type is JSON or absent. The three types
// that a web page may post without asking first (text/plain and the forms) are
// thereby refused.
func jsonBody(h http.Header) bool {
	values := h["Content-Type"]
	if len(values) == 0 || len(values) == 1 && values[0] == contentJSON[0] {
		return true
	}
	media, _, err := mime.ParseMediaType(values[0])
	return len(values) == 1 && (err == nil || err == mime.ErrInvalidMediaParameter) && media == contentJSON[0]
}

// setLength sets Content-Length, without which a reply longer than net/http's
// buffer would be sent in chunks.
func setLength(h http.Header, n int) { h["Content-Length"] = []string{strconv.Itoa(n)} }
