package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf8"
)

// MaxBatch is how many messages a batch may hold.
const MaxBatch = 20

// request is one JSON-RPC 2.0 message from a client. ID stays raw: decoded to
// a float, 9007199254740993 would come back as ...992. Keys are taken in any
// case, and of two the last, so nothing may look at the text again: what is
// decided here is what runs.
type request struct {
	Version string          // "jsonrpc"
	ID      json.RawMessage // nil in a notification
	Method  string
	Params  json.RawMessage
	Result  json.RawMessage // with Error, the mark of a response
	Error   json.RawMessage
}

// message is a decoded request, or the reason why it is none. When refused is
// set, ID holds what the refusal may repeat: a legal id, or nil for null.
type message struct {
	request
	refused *Error
	call    toolCall // of tools/call, once it was looked up
}

// isResponse reports whether m answers a request of ours. We send none, so
// whatever arrives is accepted and dropped.
func (m *message) isResponse() bool { return m.Method == "" }

// isNotification reports whether m wants no answer.
func (m *message) isNotification() bool { return m.ID == nil && !m.isResponse() }

// decode reads a line or a body: one message, or a batch of 1 to MaxBatch. An
// error refuses the whole. The messages are parts of text, which must stay as
// it is while they are used; single is where the result lives when it is one
// message, to save an allocation.
func decode(text []byte, single *[1]message) (msgs []message, batch bool, refused *Error) {
	text = skip(text)
	switch {
	case !utf8.Valid(text):
		return nil, false, &Error{CodeParse, "the message is not valid UTF-8"}
	case len(text) == 0:
		return nil, false, &Error{CodeParse, "the message is empty: send one JSON-RPC message or an array of them"}
	case !json.Valid(text):
		return nil, false, &Error{CodeParse, "the message is not valid JSON"}
	case text[0] == '[':
		msgs, refused := decodeBatch(text)
		return msgs, true, refused
	}
	single[0].decode(text)
	return single[:], false, nil
}

// decodeBatch reads an array of messages, one member at a time, so that an
// array of a million zeros costs no more than its first members.
func decodeBatch(text []byte) ([]message, *Error) {
	var msgs []message
	for raw := range elements(text) {
		if len(msgs) == MaxBatch {
			return nil, &Error{CodeInvalidRequest, "a batch holds at most " + strconv.Itoa(MaxBatch) + " messages"}
		}
		var m message
		m.decode(raw)
		if m.Method == "initialize" && m.refused == nil {
			m.refused = &Error{CodeInvalidRequest, "initialize must not be part of a batch"}
		}
		msgs = append(msgs, m)
	}
	if len(msgs) == 0 {
		return nil, &Error{CodeInvalidRequest, "the batch is empty: an array holds at least one message"}
	}
	return msgs, nil
}

// decode reads one message. JSON that is no message is noted in m.refused.
func (m *message) decode(text []byte) {
	typed := true // whether what must be a string is one
	if isObject(text) {
		for key, value := range members(text) {
			switch named(key, "jsonrpc", "id", "method", "params", "result", "error") {
			case "jsonrpc":
				typed = readString(value, &m.Version) && typed
			case "id":
				m.ID = value
			case "method":
				typed = readString(value, &m.Method) && typed
			case "params":
				m.Params = value
			case "result":
				m.Result = value
			case "error":
				m.Error = value
			}
		}
	}
	if string(m.Params) == "null" {
		m.Params = nil // some clients write what they do not have
	}
	m.refused = m.check(typed)
	if m.refused != nil && !legalID(m.ID) {
		m.ID = nil
	}
}

// check returns why the decoded text is no JSON-RPC message, or nil.
func (m *message) check(typed bool) *Error {
	invalid := func(why string) *Error { return &Error{CodeInvalidRequest, why} }
	switch {
	case m.Version != "2.0":
		return invalid(`not a JSON-RPC message: an object with "jsonrpc":"2.0" was expected`)
	case !typed:
		return invalid("not a JSON-RPC message: method must be a string")
	case m.Method == "" && m.Result == nil && m.Error == nil:
		return invalid("not a JSON-RPC message: it has no method")
	case m.isResponse():
		return nil // ids of responses are ours, or null when we were not understood
	case m.ID != nil && !legalID(m.ID):
		return invalid("the id of a request must be a string or an integer")
	}
	return nil
}

// legalID reports whether id, which is valid JSON, is a string or an integer
// as MCP asks. It is not decoded: 1.0 and 1e0 are refused by their spelling.
func legalID(id []byte) bool {
	if len(id) == 0 {
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

// Notification returns the JSON-RPC notification of method with params, which
// must encode to an object. It is one line without a line feed.
func Notification(method string, params any) ([]byte, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encode the params of %s: %w", method, err)
	}
	b := append([]byte(`{"jsonrpc":"2.0","method":`), encode(method)...)
	b = append(append(b, `,"params":`...), body...)
	return append(b, '}'), nil
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
	b = appendHead(b, id, "error")
	b = append(b, `{"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	b = append(b, `,"message":`...)
	b = appendText(b, []byte(e.Message))
	return append(b, "}}"...)
}

// appendRaw appends a successful reply whose result is already JSON.
func appendRaw(b []byte, id json.RawMessage, result []byte) []byte {
	return append(append(appendHead(b, id, "result"), result...), '}')
}

// appendReplies appends what reply appends for each message: as it is for a
// single one, as an array for a batch. A batch without any reply is no reply:
// JSON-RPC forbids an empty array.
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
	if len(b) == start+1 {
		return b[:start]
	}
	b[len(b)-1] = ']'
	return b
}

// encoder is what encode needs; it is pooled because a small payload costs
// less than its making.
type encoder struct {
	bytes.Buffer
	json *json.Encoder // writes into the buffer
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.json = json.NewEncoder(&e.Buffer)
	e.json.SetEscapeHTML(false)
	return e
}}

// encode returns v as compact JSON without HTML escaping: with it, a string id
// "a<b" would come back as "a\u003cb". It panics if v cannot be encoded.
func encode(v any) []byte {
	e := encoders.Get().(*encoder)
	e.Reset()
	if err := e.json.Encode(v); err != nil {
		panic("mcp: " + err.Error())
	}
	b := bytes.Clone(bytes.TrimSuffix(e.Bytes(), []byte("\n")))
	if e.Cap() <= maxPooled {
		encoders.Put(e)
	}
	return b
}
