// Package mcp speaks the Model Context Protocol for a server that has tools,
// resources and prompts, in two versions: 2025-03-26, which begins with a
// handshake, and 2026-07-28, in which every request stands for itself. Which of
// them a request belongs to is decided once, by its _meta; handlers see the same
// call, and only the reply's envelope differs. parse and write alone know about it.
//
// A [Server] holds tools, resources and prompts and turns one JSON-RPC message into its
// reply. It knows no transport: [HTTP] carries messages over Streamable HTTP, and
// [Server.ServeStdio] over a pair of streams, one message a line. Both give the
// same replies because both call the same dispatcher. A [Policy] stands before
// the whole site and decides which hosts and web pages it answers to.
//
// A [Tool] is a name, a schema and a function. The function gets a [Call] with
// the caller and the raw arguments and returns content, or an error that the
// client sees as a failed tool. A client may cancel a call that runs: over
// stdio it then gets no reply, as MCP asks; over HTTP its POST is answered with
// an error of code -32800, since somebody is waiting for it.
//
// A [Resource] is read by its URI, and clients may subscribe to its changes:
// [Server.Watch] checks once a second. A [Prompt] is a text that a person
// picks in the client.
//
// # Security considerations
//
// Everything a stranger can send is bounded before it costs anything: bodies,
// lines, batches, headers. So is the memory that requests hold, from the first byte of a
// body until the client has received its reply: per token, per client, for all
// strangers together and in all. Calls take turns by token, so a token that sends
// many does not hold up another. The number of watched resources is bounded per
// token and in all. Another package finds out who the caller is and passes opaque
// names, which this package compares and never interprets; it holds no secret
// and logs none. A tool that panics fails its call, not the server.
package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Tool is one thing a client may call.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"` // for people
	Description string          `json:"description"`     // for language models
	Schema      json.RawMessage `json:"inputSchema"`
	Annotations Annotations     `json:"annotations"`

	Cost Cost `json:"-"` // how long a call takes; zero is Normal

	// MaxResult is how many characters a result may have, if that is more than clients
	// expect; zero announces nothing. Claude Code cuts results at 25,000 tokens unless
	// the tool announces longer ones.
	MaxResult int `json:"-"`

	// App is the URI of the page in which hosts of MCP Apps show a result of the tool;
	// empty for none.
	App string `json:"-"`

	Handle Handler `json:"-"`
}

// Icon is a picture that stands for a server.
type Icon struct {
	Src   string   `json:"src"` // a URL; data: needs no request
	MIME  string   `json:"mimeType,omitempty"`
	Sizes []string `json:"sizes,omitempty"` // such as "48x48", or "any"
}

// Cost says how long the calls of a tool take, and so where they wait.
type Cost int

const (
	// Normal is for a tool that takes a moment, such as a write to disk. Its
	// calls take a slot of work in progress and wait for one if they must.
	Normal Cost = iota

	// Cheap is for a tool that answers from memory within microseconds. Its
	// calls take no slot and, over stdio, run in the goroutine that reads. They
	// cannot be cancelled: they are over before that could arrive.
	Cheap

	// Heavy is for a tool that fetches, computes or draws for long. Its calls
	// have slots of their own, so that no crowd of charts holds up an order.
	Heavy

	// Waiting is for a tool that waits for the disk or for another machine and does
	// little itself. Its calls have many slots of their own, so that what those which come
	// together write to disk can be one write.
	Waiting
)

// Annotations are hints for clients; they control nothing here.
type Annotations struct {
	// Title is that of the tool, which [NewServer] sets: 2025-03-26 has it here, later versions
	// beside the name.
	Title string `json:"title,omitempty"`

	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Handler runs a tool. An error becomes a result with isError set and the
// error's text, which must say what is wrong, what would be right and whether
// a retry can help; an [*Error] becomes a JSON-RPC error instead. The context
// ends when the client cancels the call or goes away.
type Handler func(ctx context.Context, c Call) (*Result, error)

// Call is one call of a tool.
type Call struct {
	Slot      // what the call runs in
	Caller    Caller
	Arguments json.RawMessage // an object, or nil when the client sent none

	// Progress tells the client how much of the work is done. It may be called
	// from several goroutines while the call runs, as often as is convenient. It
	// is nil if the client did not ask; [Call.Report] checks that.
	Progress func(done, total int)

	// Elicits says that the client can show its user a form, so that the form of an
	// [InputRequired] reaches a person. State and Responses are what the client sends
	// back after an [InputRequired]; both are empty on a first call. A client can claim
	// anything in these three.
	Elicits   bool
	State     string
	Responses map[string]Response

	// Listens says that the client has no stream on which notifications could come by
	// themselves: it asks for each kind by subscriptions/listen.
	Listens bool
}

// Report tells the client that so much of total is done, if it asked for progress.
func (c Call) Report(done, total int) {
	if c.Progress != nil {
		c.Progress(done, total)
	}
}

// Resource is something that a client may read by its URI.
type Resource struct {
	// URI names the resource. A URI with parts such as {name} between slashes is a
	// template: it stands for every URI that has some text in place of each part.
	URI string

	Name        string
	Title       string // for people
	Description string // for language models
	MIME        string // of its first content
	Cost        Cost   // as of a Tool

	// Fresh is how long clients may keep what they have read, and Public whether
	// they may show it to other users.
	Fresh  time.Duration
	Public bool

	// Meta is the _meta of every content, a JSON object; nil for none.
	Meta json.RawMessage

	// Read returns the contents. A text without a MIME type has the resource's.
	Read func(ctx context.Context, r Reading) ([]Content, error)

	// State returns a text, never an empty one, that changes whenever the resource has
	// changed in a way that clients should be told of, or an error, [ErrNoResource] as from
	// Read, if there can be nothing under the URI of r, which matches the template: nobody can
	// watch that. It is called with every request to watch the resource, which takes no slot,
	// and once a second while a client watches it: it must cost no more than a Cheap call. Nil
	// means that the resource never changes.
	State func(r Reading) (string, error)
}

// Reading is one request for a resource.
type Reading struct {
	Slot   // what it runs in; empty for State, like Caller
	Caller Caller
	URI    string
	Parts  map[string]string // of a template, by their names
}

// Text returns the contents of a resource that is one text.
func (r Reading) Text(text []byte) []Content { return []Content{{Text: text}} }

// Prompt is a text for a language model that a person picks in the client, often
// as a slash command.
type Prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`       // for people
	Description string     `json:"description,omitempty"` // for people
	Arguments   []Argument `json:"arguments,omitempty"`

	// Text returns the message. It gets the arguments that the client gave, as Read
	// returned them, without the empty ones; all required ones are among them.
	Text func(arguments map[string]string) string `json:"-"`
}

// Argument is one argument of a prompt.
type Argument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`

	// Read returns a value as it is put into the text, or an error if the argument does not
	// take it. A language model reads the text, and a value that nobody has checked could be
	// an instruction to it. Required.
	Read func(value string) (string, error) `json:"-"`
}

// Completion asks for values of an argument that begin with what the user has typed.
type Completion struct {
	Caller   Caller
	Argument string // its name
	Value    string // what has been typed so far
}

// Error is a JSON-RPC error. It is made where something is refused, and written once.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"` // for programs

	// Status is that of HTTP, unless something else in the same batch was served; 0 is 200.
	Status int `json:"-"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// InvalidParams returns the error of a request whose params are not of their form.
func InvalidParams(why string) *Error { return &Error{Code: codeInvalidParams, Message: why} }

// invalid returns the error of a text that is not a valid message.
func invalid(why string) *Error {
	return &Error{Code: codeInvalidRequest, Message: why, Status: http.StatusBadRequest}
}

// unreadable returns the error of a text that is not JSON.
func unreadable(why string) *Error {
	return &Error{Code: codeParse, Message: why, Status: http.StatusBadRequest}
}

// errUnauthorized refuses a request without a valid token.
var errUnauthorized = &Error{Code: codeUnauthorized, Status: http.StatusUnauthorized,
	Message: "a valid bearer token is needed: authorize, then send it in the Authorization header"}

// errCancelled answers a call that its client has cancelled. Over stdio, as MCP asks, it
// gets no reply.
var errCancelled = &Error{Code: codeCancelled, Message: "the client cancelled the call; what it had done by then stays done"}

// Codes of JSON-RPC errors.
const (
	codeParse          = -32700 // not JSON
	codeInvalidRequest = -32600 // JSON, but no request
	codeUnknownMethod  = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeUnknownURI     = -32002 // no such resource
	codeHeaderMismatch = -32020 // headers do not agree with the body
	codeUnknownVersion = -32022
	codeUnauthorized   = -32001 // no valid token, or too little scope
	codeBusy           = -32000 // too much at once; try again
	codeCancelled      = -32800 // the client cancelled the call
)
