package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wick/internal/limit"
	"wick/internal/strictjson"
)

// This file alone knows that there are two versions of the protocol. parse reads the
// messages of both, and write writes the replies to both; between them a request is the
// same, whatever version it came in.

// ProtocolVersion is the older version of MCP that this package speaks, the one with a
// handshake.
const ProtocolVersion = "2025-03-26"

// modernVersion is the newer version of MCP that this package speaks beside
// [ProtocolVersion]. It has no handshake: a request whose _meta names a version
// belongs to it, and every other request to the older one.
const modernVersion = "2026-07-28"

var supportedVersions = []string{modernVersion, ProtocolVersion}

// only names the methods that one of the two versions has, and whether that is the newer.
var only = map[string]bool{
	"initialize":            false,
	"ping":                  false,
	"resources/subscribe":   false,
	"resources/unsubscribe": false,
	"server/discover":       true,
	"subscriptions/listen":  true,
}

// Bounds on messages.
const (
	maxBatch = 20 // messages of a batch

	// maxNamed is how many entries each map and list in the params of a request may have.
	// Decoded, they take several times the memory of their text.
	maxNamed = 64

	// maxID is how long an id or a progress token may be, in bytes. Every reply and every
	// notification about a request repeats it, and those that nobody has read yet hold
	// memory.
	maxID = 256
)

// message is one JSON-RPC 2.0 message from a client. ID stays raw: decoded to a float,
// 9007199254740993 would come back as ...992. encoding/json takes names in any case, and
// the last of two members with the same name; strictjson refuses both.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil in a notification
	Method  string          `json:"method"`
	Params  params          `json:"params"`
	Result  json.RawMessage `json:"result"` // with Error, the mark of a response
	Error   json.RawMessage `json:"error"`
}

// params are the members of params that any of our methods reads. A member of a wrong type is
// left empty, and whoever needs it refuses the message.
type params struct {
	Name      string          `json:"name"`      // of tools/call and prompts/get
	Arguments json.RawMessage `json:"arguments"` // of tools/call and prompts/get
	URI       string          `json:"uri"`       // of resources/read, subscribe and unsubscribe
	RequestID json.RawMessage `json:"requestId"` // of notifications/cancelled
	Cursor    json.RawMessage `json:"cursor"`    // of the lists

	Ref struct { // of completion/complete: what an argument belongs to, a prompt or a template
		Type string `json:"type"`
		Name string `json:"name"` // of a prompt
		URI  string `json:"uri"`  // of a template
	} `json:"ref"`
	Argument struct { // of completion/complete: what the user is typing, and its text so far
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"argument"`

	Notifications strictjson.Lenient[filter] `json:"notifications"` // of subscriptions/listen

	InputResponses strictjson.Lenient[map[string]Response] `json:"inputResponses"` // of a call that is repeated with the user's answers
	RequestState   strictjson.Lenient[string]              `json:"requestState"`

	Meta struct {
		// Version is nil where none is named, and empty where it is no string: the
		// request belongs to the newer version even then.
		Version       *string         `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities  json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		ProgressToken json.RawMessage `json:"progressToken"`
	} `json:"_meta"`
}

// request is a message, and what is wrong with it.
type request struct {
	message

	// refused says why the text is not a message; its ID is then what the reply repeats: a
	// legal id, or nil for null. wrong says why it is one that cannot be served.
	refused, wrong *Error

	modern bool // it belongs to modernVersion
	odd    bool // it has params, but they are not an object

	// What the transport adds.
	by      carrier  // nil in tests
	events  bool     // there may be lines before the reply
	session *Session // that a call has for itself already; nil for others
}

// isResponse reports whether r answers a request of ours. We send none, so
// whatever arrives is accepted and dropped.
func (r *request) isResponse() bool { return r.Method == "" }

// isNotification reports whether r wants no answer.
func (r *request) isNotification() bool { return r.ID == nil && !r.isResponse() }

// wantsReply reports whether r is a request, good or bad, that gets a reply.
func (r *request) wantsReply() bool {
	return r.refused != nil || !r.isResponse() && !r.isNotification()
}

// parse reads a line or a body: one message, or a batch of 1 to maxBatch messages.
// If refused is not nil, all of text is refused; batch is correct even then. The
// requests hold parts of text, which stays as it is.
func parse(text []byte) (all []request, batch bool, refused *Error) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 {
		return nil, false, unreadable("the message is empty: send one JSON-RPC message or an array of them")
	}
	if text[0] != '[' {
		all = make([]request, 1)
		return all, false, all[0].parse(text)
	}
	// encoding/json drops the members for which a Go array has no room, so an array of a
	// million zeros takes no more memory than one of maxBatch+1.
	var members [maxBatch + 1]json.RawMessage
	if !utf8.Valid(text) {
		return nil, true, unreadable("the message is not valid UTF-8")
	}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, true, unreadable("the message is " + strictjson.Fault(err).Error())
	}
	n := slices.IndexFunc(members[:], func(member json.RawMessage) bool { return member == nil })
	switch n {
	case 0:
		return nil, true, invalid("the batch is empty: an array holds at least one message")
	case -1:
		return nil, true, invalid("a batch holds at most " + strconv.Itoa(maxBatch) + " messages")
	}
	all = make([]request, n)
	for i := range all {
		r := &all[i]
		switch refused := r.parse(members[i]); {
		case refused != nil:
			return nil, true, refused
		case r.refused != nil:
		case r.Method == "initialize":
			r.refused = invalid("initialize must not be part of a batch")
		case r.modern:
			r.refused = invalid(modernVersion + " has no batches: send one message at a time")
		}
	}
	return all, true, nil
}

// parse reads one message. If text is JSON but not a message, r.refused says why; parse
// returns an error if text is not JSON.
func (r *request) parse(text []byte) *Error {
	bad := strictjson.Unmarshal(text, &r.message, "arguments") // those of a tool or a prompt are checked by their reader
	if bad == nil {
		bad = new(strictjson.Error)
	}
	switch bad.Kind {
	case strictjson.Twice:
		r.refused = invalid("the message has " + strconv.Quote(limit.Clip(bad.Name)) + " twice in one object: nobody can know which one was meant")
	case strictjson.Case:
		r.refused = invalid("the message has " + strconv.Quote(limit.Clip(bad.Name)) + " where " + strconv.Quote(bad.Right) + " would be right: names are case-sensitive")
	case 0, strictjson.Type:
		// The first member of a wrong type may be one of params, and method another one.
		r.odd = bad.Name == "params"
		inside := r.Method != "" && (r.odd || strings.HasPrefix(bad.Name, "params."))
		r.refused = r.malformed(bad.Kind == 0 || inside)
	default:
		return unreadable("the message is " + bad.Error())
	}
	if bad.Name == "id" || bad.Right == "id" || r.refused != nil && !legalID(r.ID) {
		r.ID = nil // it is not certain, or not legal
	}
	r.modern = r.Params.Meta.Version != nil
	r.wrong = r.unfit()
	return nil
}

// malformed returns why r is not a JSON-RPC message, or nil if it is one. typed says
// whether the members outside params have the right types.
func (r *request) malformed(typed bool) *Error {
	switch {
	case r.Version != "2.0":
		return invalid(`not a JSON-RPC message: an object with "jsonrpc":"2.0" was expected`)
	case !typed:
		return invalid("not a JSON-RPC message: method must be a string")
	case r.Method == "" && r.Result == nil && r.message.Error == nil:
		return invalid("not a JSON-RPC message: it has no method")
	case r.isResponse():
		return nil // the rules below are for requests; a response may have any id
	case len(r.ID) > maxID && !legalID(r.ID):
		return invalid("the id of a request may have at most " + strconv.Itoa(maxID) + " bytes")
	case r.ID != nil && !legalID(r.ID):
		return invalid("the id of a request must be a string or an integer")
	case max(len(r.Params.InputResponses.Value), len(r.Params.Notifications.Value.Resources)) > maxNamed:
		return invalid("a request may name at most " + strconv.Itoa(maxNamed) + " responses or resources")
	}
	return nil
}

// legalID reports whether id, which is valid JSON, is a string or an integer
// as MCP asks, and no longer than maxID without its quotes. It is not decoded, so 1.0 and
// 1e0 do not count as integers.
func legalID(id []byte) bool {
	switch {
	case len(id) == 0:
		return false
	case id[0] == '"':
		return len(id) <= maxID+len(`""`)
	case id[0] == '-' || '0' <= id[0] && id[0] <= '9':
		return len(id) <= maxID && !bytes.ContainsAny(id, ".eE")
	}
	return false
}

// unfit returns why a message cannot be served, or nil if it can.
func (r *request) unfit() *Error {
	p := &r.Params
	switch {
	case r.odd:
		return InvalidParams("params must be an object")
	case !r.modern:
		return nil
	case *p.Meta.Version != modernVersion:
		// The data is what a client chooses from, so it has the older version too; the words
		// say how that one is asked for.
		return &Error{Code: codeUnknownVersion, Status: http.StatusBadRequest,
			Message: "unsupported protocol version: params._meta takes " + modernVersion + " only; " +
				ProtocolVersion + ", which data.supported lists too, is agreed on by initialize and named in no _meta",
			Data: struct {
				Supported []string `json:"supported"`
				Requested string   `json:"requested"`
			}{supportedVersions, limit.Clip(*p.Meta.Version)}}
	case !isObject(p.Meta.Capabilities):
		return &Error{Code: codeInvalidParams, Status: http.StatusBadRequest, Message: "params._meta needs io.modelcontextprotocol/clientCapabilities, an object; {} claims none"}
	case r.Method == "subscriptions/listen" && (p.Notifications.Wrong || slices.Contains(p.Notifications.Value.Resources, "")): // a null in the list is read as ""
		return &Error{Code: codeInvalidParams, Status: http.StatusBadRequest, Message: "params.notifications must be an object, and its resourceSubscriptions an array of URIs"}
	case r.Method == "tools/call" && (p.RequestState.Wrong || p.InputResponses.Wrong):
		return InvalidParams("params.inputResponses must be an object that has an object for each question, with an action; and params.requestState the string that came with the question")
	}
	return nil
}

// unserved returns the error of a method that is not known, or that the version of r does not
// have: HTTP 404 in the newer version, and an ordinary reply with status 200 in the older one.
func (r *request) unserved(known bool) *Error {
	if newer, one := only[r.Method]; known && (!one || newer == r.modern) {
		return nil
	}
	refused := &Error{Code: codeUnknownMethod, Message: "unknown method " + strconv.Quote(limit.Clip(r.Method))}
	if r.modern {
		refused.Status = http.StatusNotFound
	}
	return refused
}

// listens reports whether the client of r asks for each kind of notifications by
// subscriptions/listen.
func (r *request) listens() bool { return r.modern }

// elicits reports whether the client can ask its user by a form, or lead its user to a url.
func (r *request) elicits(mode string) bool {
	if !r.modern {
		return false
	}
	var capabilities, elicitation map[string]json.RawMessage // maps, since their names are case-sensitive
	if json.Unmarshal(r.Params.Meta.Capabilities, &capabilities) != nil || json.Unmarshal(capabilities["elicitation"], &elicitation) != nil {
		return false
	}
	_, named := elicitation[mode]
	return named || mode == "form" && elicitation != nil && len(elicitation) == 0 // an empty object means forms
}

// badVersion refuses a request over HTTP whose Mcp-Protocol-Version is no version.
var badVersion = invalid("Mcp-Protocol-Version must be the date of a protocol version, such as " + ProtocolVersion)

// knownVersion reports whether Mcp-Protocol-Version is absent or the date of a version.
// Any date from the first version on will do, since a client may ask before it knows
// which versions we speak.
func knownVersion(h http.Header) bool {
	values := h["Mcp-Protocol-Version"]
	if len(values) == 0 || len(values) == 1 && values[0] == ProtocolVersion {
		return true
	}
	const first = "2024-11-05"
	_, err := time.Parse(time.DateOnly, values[0])
	return len(values) == 1 && err == nil && values[0] >= first
}

// undated returns badVersion for a request or batch with such a header. Of a request of the newer
// version disagree compares the header with the body.
func undated(h http.Header, all []request, batch bool) *Error {
	if knownVersion(h) || !batch && all[0].modern {
		return nil
	}
	return badVersion
}

// disagree returns an error if the headers of a request over HTTP disagree with its body,
// else nil: proxies route and filter by the headers. The newer version needs all of them;
// in the older one those that are there must agree.
func (r *request) disagree(h http.Header) *Error {
	if r.refused != nil || !r.wantsReply() {
		return nil
	}
	wrong := func(name string, right bool) bool { return !right && (r.modern || len(h[name]) > 0) }
	// Only requests that name something have the header Mcp-Name.
	name, named := r.Params.Name, r.Method == "tools/call" || r.Method == "prompts/get"
	if r.Method == "resources/read" {
		name, named = r.Params.URI, true
	}
	var bad string
	switch {
	case r.modern && !slices.Equal(h["Mcp-Protocol-Version"], []string{*r.Params.Meta.Version}):
		bad = "MCP-Protocol-Version"
	case wrong("Mcp-Method", slices.Equal(h["Mcp-Method"], []string{r.Method})):
		bad = "Mcp-Method"
	case named && wrong("Mcp-Name", len(h["Mcp-Name"]) == 1 && decodeHeader(h["Mcp-Name"][0]) == name):
		bad = "Mcp-Name"
	default:
		return nil
	}
	return &Error{Code: codeHeaderMismatch, Status: http.StatusBadRequest, Message: "the header " + bad + " is missing or does not agree with the body"}
}

// head is the beginning of every result. It is empty in the older version.
type head struct {
	Type  string      `json:"resultType,omitempty"`
	Meta  *resultMeta `json:"_meta,omitempty"`
	Fresh *int64      `json:"ttlMs,omitempty"` // milliseconds
	Scope string      `json:"cacheScope,omitempty"`
}

func (h *head) begins() *head { return h }

// resultMeta is the _meta of a result, or of a notification of a listener.
type resultMeta struct {
	Server       *info           `json:"io.modelcontextprotocol/serverInfo,omitempty"`
	Subscription json.RawMessage `json:"io.modelcontextprotocol/subscriptionId,omitempty"`
}

// cache says how long clients may keep a result, and whether they may share it.
type cache struct {
	fresh  time.Duration
	public bool
}

// output is the text of the replies to a body or a line: what is in the buffer, and after
// it a fixed result, which is not copied. It may be far longer than the rest, and all who
// ask for it would hold a copy each until they have received it.
type output struct {
	bytes.Buffer
	tail []byte
}

// write appends the reply to the request with that id; last says that no other follows.
func (s *Server) write(b *output, r *request, reply Reply, last bool) {
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	if r.ID == nil {
		b.WriteString("null")
	}
	b.Write(r.ID)
	switch {
	case reply.err != nil:
		b.WriteString(`,"error":`)
		refused := *reply.err
		if r.modern && refused.Code == codeUnknownURI {
			refused.Code = codeInvalidParams
		}
		encode(&b.Buffer, refused)
	case reply.fixed != nil:
		b.WriteString(`,"result":`)
		text := reply.fixed.older
		if r.modern {
			text = reply.fixed.newer
		}
		if last {
			b.tail = text
		} else {
			b.Write(text)
		}
		return
	default:
		b.WriteString(`,"result":`)
		if r.modern {
			s.begin(reply.result.begins(), reply.cache)
		}
		encode(&b.Buffer, reply.result)
	}
	b.WriteByte('}')
}

// refusal returns the reply to r with an error.
func refusal(r *request, why *Error) []byte {
	var b output
	new(Server).write(&b, r, refuse(why), true) // an error says nothing of the server
	return b.Bytes()
}

// begin fills the head of a result of the newer version. With a nil cache the result does
// not say how long it may be kept.
func (s *Server) begin(h *head, c *cache) {
	if h.Type == "" {
		h.Type = "complete"
	}
	if h.Meta == nil {
		h.Meta = &resultMeta{}
	}
	if h.Meta.Server == nil {
		h.Meta.Server = &s.info
	}
	if c != nil {
		ms := c.fresh.Milliseconds()
		h.Fresh, h.Scope = &ms, "private"
		if c.public {
			h.Scope = "public"
		}
	}
}

// fixed is a result that never changes, encoded once for both versions, with the brace that
// ends the reply.
type fixed struct{ older, newer []byte }

func (s *Server) fix(r result, c *cache) *fixed {
	f := &fixed{older: append(Encode(r), '}')}
	s.begin(r.begins(), c)
	f.newer = append(Encode(r), '}')
	return f
}
