package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"wick/internal/strictjson"
)

// request is one JSON-RPC 2.0 message from a client. ID stays raw: decoded to
// a float, 9007199254740993 would come back as ...992. encoding/json takes names
// in any case, and the last of two members with the same name; strictjson refuses both.
type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil in a notification
	Method  string          `json:"method"`
	Params  params          `json:"params"`
	Result  json.RawMessage `json:"result"` // with Error, the mark of a response
	Error   json.RawMessage `json:"error"`
}

// params are the members of params that any of our methods reads. They are
// decoded with the message: a second pass would make a small call a twentieth slower.
type params struct {
	Name      string          `json:"name"`      // of tools/call and prompts/get
	Arguments json.RawMessage `json:"arguments"` // of tools/call and prompts/get
	URI       string          `json:"uri"`       // of resources/read, subscribe and unsubscribe
	RequestID json.RawMessage `json:"requestId"` // of notifications/cancelled
	Cursor    json.RawMessage `json:"cursor"`    // of the lists

	Ref      reference     `json:"ref"` // of completion/complete, like the next
	Argument namedArgument `json:"argument"`

	Notifications strictjson.Lenient[filter] `json:"notifications"` // of subscriptions/listen

	InputResponses strictjson.Lenient[map[string]Response] `json:"inputResponses"` // of a call that is repeated with the user's answers
	RequestState   strictjson.Lenient[string]              `json:"requestState"`

	Meta meta `json:"_meta"`

	odd bool // the message has params, but they are not an object
}

// UnmarshalJSON reads params. A member of a wrong type is left empty, and whoever needs it
// refuses the message.
func (p *params) UnmarshalJSON(text []byte) error {
	if p.odd = text[0] != '{' && string(text) != "null"; p.odd {
		return nil
	}
	type plain params // without this method
	return strictjson.Fault(json.Unmarshal(text, (*plain)(p)))
}

// meta is the part of params._meta that we read.
type meta struct {
	// Version is nil where none is named, and empty where it is no string: the
	// request belongs to the newer era even then.
	Version      *string         `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`

	ProgressToken json.RawMessage `json:"progressToken"`
}

// reference names what an argument belongs to: a prompt or a template.
type reference struct {
	Type string `json:"type"`
	Name string `json:"name"` // of a prompt
	URI  string `json:"uri"`  // of a template
}

// namedArgument is the argument that the user is typing, and its text so far.
type namedArgument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// filter is what a subscriptions/listen asks for. Our lists do not change while
// the program runs, so of its members only the resources mean anything here.
type filter struct {
	Resources []string `json:"resourceSubscriptions,omitempty"`
}

// message is a decoded request, or the reason why the text is not a request. When
// refused is set, ID is what the error reply repeats: a legal id, or nil for null.
type message struct {
	request
	refused *Error
	notify  func(line []byte) // writes a notification about this request; nil if the transport cannot
	read    bool              // it was decoded; in a batch this tells members from unused elements
	held    *budget           // the bytes that requests hold; nil where they are not counted

	// registered is the context of a call that is in inflight already; nil for a call
	// that perform registers.
	registered context.Context
}

// isResponse reports whether m answers a request of ours. We send none, so
// whatever arrives is accepted and dropped.
func (m *message) isResponse() bool { return m.Method == "" }

// isNotification reports whether m wants no answer.
func (m *message) isNotification() bool { return m.ID == nil && !m.isResponse() }

// wantsReply reports whether m is a request, good or bad, that gets a reply.
func (m *message) wantsReply() bool {
	return m.refused != nil || !m.isResponse() && !m.isNotification()
}

// maxNamed is how many entries each map and list in the params of a request may have.
// Decoded, they take several times the memory of their text.
const maxNamed = 64

// maxID is how long an id or a progress token may be, in bytes. Every reply and every
// notification about a request repeats it, and those that nobody has read yet hold memory.
const maxID = 256

// legalID reports whether id, which is valid JSON, is a string or an integer
// as MCP asks, and no longer than maxID. It is not decoded, so 1.0 and 1e0 do not count
// as integers.
func legalID(id []byte) bool {
	if len(id) == 0 || idSize(id) > maxID {
		return false
	}
	switch c := id[0]; {
	case c == '"':
		return true
	case c == '-' || '0' <= c && c <= '9':
		return !bytes.ContainsAny(id, ".eE")
	}
	return false
}

// idSize returns how long an id is, in bytes; the quotes of a string do not count.
func idSize(id []byte) int {
	if len(id) > 0 && id[0] == '"' {
		return len(id) - len(`""`)
	}
	return len(id)
}

// isObject reports whether raw, which is valid JSON, is an object.
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// Notification returns the JSON-RPC notification of method with params, which
// must encode to an object. It is one line without a line feed. Like [Encode] it
// panics if params cannot be encoded: their types are ours and always can.
func Notification(method string, params any) []byte {
	body, err := json.Marshal(params)
	if err != nil {
		panic("mcp: " + err.Error())
	}
	b := append([]byte(`{"jsonrpc":"2.0","method":`), Encode(method)...)
	b = append(append(b, `,"params":`...), body...)
	return append(b, '}')
}

// appendHead begins a reply to the request id, up to and including what: the
// key of the result or the error. A nil id is written as null.
func appendHead(b []byte, id json.RawMessage, what string) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		b = append(b, "null"...)
	}
	b = append(b, id...)
	b = append(b, `,"`...)
	b = append(b, what...)
	return append(b, `":`...)
}

// appendError appends an error reply.
func appendError(b []byte, id json.RawMessage, e *Error) []byte {
	return appendErrorData(b, id, e, nil)
}

// appendErrorData appends an error reply with data, which is JSON; nil is none.
func appendErrorData(b []byte, id json.RawMessage, e *Error, data []byte) []byte {
	b = appendHead(b, id, "error")
	b = append(b, `{"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	b = append(b, `,"message":`...)
	b = appendText(b, []byte(e.Message))
	if data != nil {
		b = append(append(b, `,"data":`...), data...)
	}
	return append(b, "}}"...)
}

// appendReplies appends what reply appends for each message: as it is for a single
// message, and as an array for a batch. If no message of a batch gets a reply, it appends
// nothing: JSON-RPC forbids an empty array.
func appendReplies(b []byte, msgs []message, batch bool, reply func([]byte, *message) []byte) []byte {
	if !batch {
		return reply(b, &msgs[0])
	}
	start := len(b)
	b = append(b, '[')
	for i := range msgs {
		before := len(b)
		if b = reply(b, &msgs[i]); len(b) > before {
			b = append(b, ',')
		}
	}
	// Nothing but the bracket: no message wanted a reply.
	if len(b) == start+1 {
		return b[:start]
	}
	// The last comma becomes the closing bracket.
	b[len(b)-1] = ']'
	return b
}
