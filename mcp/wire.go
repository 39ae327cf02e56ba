package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"wick/limit"
)

// MaxBatch is how many messages a batch may hold.
const MaxBatch = 20

// request is one JSON-RPC 2.0 message from a client. ID stays raw: decoded to
// a float, 9007199254740993 would come back as ...992. encoding/json takes keys
// in any case, so nothing may look at the text again: what is decided here is
// what runs. Of two keys it takes the last; see twice.
type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil in a notification
	Method  string          `json:"method"`
	Params  params          `json:"params"`
	Result  json.RawMessage `json:"result"` // with Error, the mark of a response
	Error   json.RawMessage `json:"error"`
}

// params are the members of params that any of our methods reads. They are
// decoded with the message: a second pass would cost a small call a twentieth.
type params struct {
	Name      string          `json:"name"`      // of tools/call and prompts/get
	Arguments json.RawMessage `json:"arguments"` // of tools/call and prompts/get
	URI       string          `json:"uri"`       // of resources/read, subscribe and unsubscribe
	RequestID json.RawMessage `json:"requestId"` // of notifications/cancelled

	Ref      reference     `json:"ref"`      // of completion/complete, like the next two
	Argument namedArgument `json:"argument"` //
	Context  struct {
		Arguments map[string]string `json:"arguments"`
	} `json:"context"`

	Notifications filter `json:"notifications"` // of subscriptions/listen

	InputResponses map[string]Response `json:"inputResponses"` // of a call that is repeated with what was asked for
	RequestState   string              `json:"requestState"`

	Meta meta `json:"_meta"`
}

// message is a decoded request, or the reason why it is none. When refused is
// set, ID holds what the refusal may repeat: a legal id, or nil for null.
type message struct {
	request
	refused *Error
	odd     bool              // params is there and no object
	notify  func(line []byte) // writes a notification about this request; nil if the transport cannot
	read    bool              // whether it was decoded at all, for members of a batch
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

// decode reads a line or a body: one message, or a batch of 1 to MaxBatch. An
// error refuses the whole; batch is right even then. The messages are copies:
// text may be used again.
func decode(text []byte) (msgs []message, batch bool, refused *Error) {
	text = bytes.TrimLeft(text, " \t\r\n")
	switch {
	case !utf8.Valid(text):
		return nil, false, &Error{CodeParse, "the message is not valid UTF-8"}
	case len(text) == 0:
		return nil, false, &Error{CodeParse, "the message is empty: send one JSON-RPC message or an array of them"}
	case text[0] == '[':
		msgs, refused := decodeBatch(text)
		return msgs, true, refused
	}
	msgs = make([]message, 1)
	if msgs[0].UnmarshalJSON(text) != nil {
		return nil, false, errNotJSON
	}
	return msgs, false, givenTwice(text)
}

// givenTwice refuses a message, or a batch, in which a name is there twice.
func givenTwice(text []byte) *Error {
	name := twice(text)
	if name == nil {
		return nil
	}
	return &Error{CodeInvalidRequest, "the message has " + strconv.Quote(limit.Clip(string(name))) + " twice in one object: nobody can know which one was meant"}
}

var errNotJSON = &Error{CodeParse, "the message is not valid JSON"}

// decodeBatch reads an array of messages. It decodes into an array of fixed
// length, and encoding/json drops what does not fit, so a million zeros cost no
// more than the first of them.
func decodeBatch(text []byte) ([]message, *Error) {
	var members [MaxBatch + 1]message
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, errNotJSON
	}
	// A member that was read says so; the rest of the array is as it was made.
	n := 0
	for n < len(members) && members[n].read {
		n++
	}
	switch n {
	case 0:
		return nil, &Error{CodeInvalidRequest, "the batch is empty: an array holds at least one message"}
	case MaxBatch + 1:
		return nil, &Error{CodeInvalidRequest, "a batch holds at most " + strconv.Itoa(MaxBatch) + " messages"}
	}
	for i := range members[:n] {
		switch m := &members[i]; {
		case m.refused != nil:
		case m.Method == "initialize":
			m.refused = &Error{CodeInvalidRequest, "initialize must not be part of a batch"}
		case m.modern():
			m.refused = &Error{CodeInvalidRequest, ModernVersion + " has no batches: send one message at a time"}
		}
	}
	return members[:n], givenTwice(text)
}

// UnmarshalJSON reads one message. JSON that is no message is noted in
// m.refused; an error means that text is not JSON.
func (m *message) UnmarshalJSON(text []byte) error {
	err := json.Unmarshal(text, &m.request)
	wrong, typed := (*json.UnmarshalTypeError)(nil), true
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	if wrong != nil {
		m.odd = wrong.Field == "params"
		typed = strings.HasPrefix(wrong.Field, "params") // a name that is no string is left empty
	}
	m.read = true
	m.refused = m.check(typed)
	if m.refused != nil && !legalID(m.ID) {
		m.ID = nil
	}
	return nil
}

// check returns why the decoded text is no JSON-RPC message, or nil. typed says
// whether what must be a string is one.
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
	b := append([]byte(`{"jsonrpc":"2.0","method":`), Encode(method)...)
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
	// Nothing but the bracket: no message wanted a reply.
	if len(b) == start+1 {
		return b[:start]
	}
	// The last comma becomes the closing bracket.
	b[len(b)-1] = ']'
	return b
}

// Encode returns v as compact JSON without HTML escaping: with it, a "<" would
// cost a language model six characters. It panics if v cannot be encoded:
// payload types are ours and always can.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("mcp: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
