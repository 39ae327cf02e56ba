package mcp

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"wick/limit"
)

// modernVersion is the newer version of MCP that this package speaks beside
// [ProtocolVersion]. It has no handshake: a request whose _meta names a version
// belongs to it, and every other request to the older one.
const modernVersion = "2026-07-28"

var supportedVersions = []string{modernVersion, ProtocolVersion}

// modern reports whether m belongs to the era of modernVersion.
func (m *message) modern() bool { return m.Params.Meta.Version != nil }

// checkEra returns the error for a request of the newer era that cannot be served, and
// the data of that error, which may be nil. It returns nil if the request can be served.
func (m *message) checkEra() (refused *Error, data []byte) {
	type versions struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}
	switch version := *m.Params.Meta.Version; {
	case version != modernVersion:
		// The data is what a client chooses from, so it has the older version too; the words
		// say how that one is asked for.
		return &Error{codeUnknownVersion, "unsupported protocol version: params._meta takes " + modernVersion + " only; " +
				ProtocolVersion + ", which data.supported lists too, is agreed on by initialize and named in no _meta"},
			Encode(versions{supportedVersions, limit.Clip(version)})
	case !isObject(m.Params.Meta.Capabilities):
		return &Error{codeInvalidParams, "params._meta needs io.modelcontextprotocol/clientCapabilities, an object; {} claims none"}, nil
	case m.Method == "subscriptions/listen" && (m.Params.Notifications.Wrong || slices.Contains(m.Params.Notifications.Value.Resources, "")): // a null in the list is read as ""
		return &Error{codeInvalidParams, "params.notifications must be an object, and its resourceSubscriptions an array of URIs"}, nil
	}
	return nil, nil
}

// elicits reports whether the client can ask its user by a form, or lead its user to a url.
func (m *message) elicits(mode string) bool {
	var capabilities, elicitation map[string]json.RawMessage // maps, since their names are case-sensitive
	if !m.modern() || json.Unmarshal(m.Params.Meta.Capabilities, &capabilities) != nil || json.Unmarshal(capabilities["elicitation"], &elicitation) != nil {
		return false
	}
	_, named := elicitation[mode]
	return named || mode == "form" && elicitation != nil && len(elicitation) == 0 // an empty object means forms
}

// cache says how long clients may keep a result, and whether they may share it.
// Only replies of the newer era contain it.
type cache struct {
	fresh  time.Duration
	public bool
}

// listed is the cache of the lists, which change only with a new version of the program.
var listed = cache{time.Hour, true}

// append appends the JSON members of c, each after a comma.
func (c cache) append(b []byte) []byte {
	b = append(b, `,"ttlMs":`...)
	b = strconv.AppendInt(b, c.fresh.Milliseconds(), 10)
	if c.public {
		return append(b, `,"cacheScope":"public"`...)
	}
	return append(b, `,"cacheScope":"private"`...)
}
