package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Options say what a [Server] is and has.
type Options struct {
	Name, Version string
	Title         string // for people; may be empty
	Icons         []Icon

	// Instructions tell a language model when the server is of use. Empty
	// leaves them out.
	Instructions string

	Tools     []Tool // listed in this order, like the next two
	Resources []Resource
	Prompts   []Prompt

	// Complete returns the values of an argument of a prompt or of a template that fit
	// what has been typed, the best first. Nil means that nothing is completed.
	Complete func(ctx context.Context, c Completion) []string

	// Ring wakes the stream that a caller has open, which then asks [Server.Changes] for
	// lines to write. Nil means that callers cannot subscribe to resources.
	Ring func(caller string)

	// May returns nil if a caller may call the tool of this name, read the resource of this
	// URI, a template as it is declared, or use this method. The error says why not; a [ScopeError]
	// says that another login may. Nil means that everybody may do everything.
	May func(ctx context.Context, c Caller, action string) error

	// Valid reports whether the token with this [Caller.ID] still works: see [Sessions].
	Valid func(caller string) bool

	Log *slog.Logger // receives the stack of a handler that panicked; nil discards it
}

// Server holds the tools, resources and prompts and answers messages. It is safe
// for concurrent use.
type Server struct {
	Sessions Sessions

	log       *slog.Logger // never nil
	info      info         // what every result says of the server
	methods   map[string]method
	tools     map[string]*Tool
	resources []*Resource
	patterns  []*regexp.Regexp // of the resources
	prompts   map[string]*Prompt
	complete  func(context.Context, Completion) []string
	may       func(ctx context.Context, c Caller, action string) error

	gates   [Waiting + 1]*gate // by cost; nil for Cheap
	watch   watch
	results sync.Map // of *Result that are Fixed: *fixed
}

// method answers the requests for one method.
type method func(ctx context.Context, c Caller, r *request) Reply

// Reply is what becomes of a request. The zero Reply is for a message that gets none.
type Reply struct {
	result result
	cache  *cache // of result; nil says nothing
	fixed  *fixed // a result that was encoded before
	err    *Error

	stream *Stream // a reply of many lines, in place of all above

	name string // of the tool, resource or prompt that was asked for, for the log
}

// result is what a method returns: a struct whose first field is its head.
type result interface{ begins() *head }

// empty is a result without members.
type empty struct{ head }

// refuse returns the reply with an error.
func refuse(err *Error) Reply { return Reply{err: err} }

// carrier is what a transport does for a request.
type carrier interface {
	notify(line []byte) // writes a notification about the request
	room() *Error       // returns an error if the caller holds too many bytes already
}

// reply answers one message.
func (s *Server) reply(ctx context.Context, c Caller, r *request) Reply {
	switch {
	case r.refused != nil:
		return refuse(r.refused)
	case r.isResponse():
		return Reply{}
	case r.isNotification():
		// All but cancellations are ignored, and so is a request without an id: its client
		// could not learn the outcome.
		if r.Method == "notifications/cancelled" && legalID(r.Params.RequestID) {
			s.Sessions.cancelCall(c, r.Params.RequestID)
		}
		return Reply{}
	case r.wrong != nil:
		return refuse(r.wrong)
	}
	answer := s.methods[r.Method]
	if refused := r.unserved(answer != nil); refused != nil {
		return refuse(refused)
	}
	return answer(ctx, c, r)
}

// writeAll writes the replies: as it is for a single message, and as an array for a batch.
// If no message of a batch gets a reply, it writes nothing: JSON-RPC forbids an empty array.
func (s *Server) writeAll(b *output, all []request, batch bool, answer func(*request) Reply) {
	start := b.Len()
	for i := range all {
		reply := answer(&all[i])
		if reply.err == nil && reply.fixed == nil && reply.result == nil {
			continue // no reply is due
		}
		if batch && b.Len() == start {
			b.WriteByte('[')
		} else if batch {
			b.WriteByte(',')
		}
		s.write(b, &all[i], reply, !batch)
	}
	if batch && b.Len() > start {
		b.WriteByte(']')
	}
}

// logged returns what the log calls a method. Only names that we know appear there: any
// other is a stranger's text, perhaps a token that a broken client sent in the wrong place.
func (s *Server) logged(method string) string {
	switch method {
	case "notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed":
		return method
	}
	if _, known := s.methods[method]; known {
		return method
	}
	return "unknown"
}

// listed is the cache of the lists, which change only with a new version of the program.
var listed = cache{time.Hour, true}

// NewServer returns a server. It panics when two tools or two prompts share a name, two
// resources share a URI or a schema is not a JSON object: they are part of the program,
// which must not start with broken ones. Results that never change, such as the lists, are
// encoded here, once.
func NewServer(o Options) *Server {
	s := &Server{
		Sessions: Sessions{valid: o.Valid},
		log:      o.Log,
		info:     info{Name: o.Name, Version: o.Version}, // without icons, which would double a small reply
		tools:    make(map[string]*Tool, len(o.Tools)),
		prompts:  make(map[string]*Prompt, len(o.Prompts)),
		complete: o.Complete,
		may:      o.May,
		watch:    watch{ring: o.Ring, uris: make(map[string]*watched), own: make(map[string]*Stream), listeners: make(map[string][]*Stream)},
		gates:    [...]*gate{Normal: newGate(workSlots()), Heavy: newGate(workSlots()), Waiting: newGate(waitingSlots)},
	}
	if s.may == nil {
		s.may = func(context.Context, Caller, string) error { return nil }
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, t := range o.Tools {
		if s.tools[t.Name] != nil {
			panic("mcp: two tools named " + t.Name)
		}
		s.tools[t.Name] = &t
	}
	for _, r := range o.Resources {
		if other, _ := s.find(r.URI); other != nil { // the first would always be read
			panic("mcp: two resources at " + r.URI)
		}
		s.resources, s.patterns = append(s.resources, &r), append(s.patterns, r.pattern())
	}
	for _, p := range o.Prompts {
		if s.prompts[p.Name] != nil {
			panic("mcp: two prompts named " + p.Name)
		}
		s.prompts[p.Name] = &p
	}
	s.methods = s.answers(o)
	return s
}

// answers returns the methods that a server with these options has.
func (s *Server) answers(o Options) map[string]method {
	all := map[string]method{
		// Whatever version was asked for: the client decides whether ours will do.
		"initialize": s.always(&initialized{Version: ProtocolVersion, Capabilities: o.capabilities(), Server: o.info(), Instructions: o.Instructions}, nil),
		"ping":       s.always(&empty{}, nil),
		"server/discover": s.always(&discovered{head: head{Meta: &resultMeta{Server: new(o.info())}},
			Versions: supportedVersions, Capabilities: o.capabilities(), Instructions: o.Instructions}, &listed),
		"tools/list": s.onePage(listTools(o.Tools)),
		"tools/call": s.call,
	}
	if len(o.Resources) > 0 {
		list, templates := listResources(o.Resources)
		all["resources/list"] = s.onePage(list)
		all["resources/templates/list"] = s.onePage(templates)
		all["resources/read"] = s.read
		all["subscriptions/listen"] = s.listen
		if o.Ring != nil {
			all["resources/subscribe"] = s.subscribe
			all["resources/unsubscribe"] = s.unsubscribe
		}
	}
	if len(o.Prompts) > 0 {
		all["prompts/list"] = s.onePage(&struct {
			head
			Prompts []Prompt `json:"prompts"`
		}{Prompts: o.Prompts})
		all["prompts/get"] = s.prompt
	}
	if o.Complete != nil {
		all["completion/complete"] = s.completion
	}
	return all
}

// always returns a method whose result is always the same.
func (s *Server) always(r result, c *cache) method {
	reply := Reply{fixed: s.fix(r, c)}
	return func(context.Context, Caller, *request) Reply { return reply }
}

// onePage returns the method of a list. Every list is one page, so we hand out no cursors
// and refuse those that clients send: the client would take the same page for the next one.
// Null and an empty text, which some clients send first, ask for the page.
func (s *Server) onePage(list result) method {
	page := s.always(list, &listed)
	return func(ctx context.Context, c Caller, r *request) Reply {
		if cursor := string(r.Params.Cursor); cursor != "" && cursor != "null" && cursor != `""` {
			return refuse(InvalidParams("unknown cursor: the list is one page, ask for it without a cursor"))
		}
		return page(ctx, c, r)
	}
}

// info is how a server names itself.
type info struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
	Icons   []Icon `json:"icons,omitempty"`
}

func (o Options) info() info { return info{o.Name, o.Title, o.Version, o.Icons} }

// initialized is the result of initialize.
type initialized struct {
	head
	Version      string       `json:"protocolVersion"`
	Capabilities capabilities `json:"capabilities"`
	Server       info         `json:"serverInfo"`
	Instructions string       `json:"instructions,omitempty"`
}

// discovered is the result of server/discover. Its _meta has the server's title and icons.
type discovered struct {
	head
	Versions     []string     `json:"supportedVersions"`
	Capabilities capabilities `json:"capabilities"`
	Instructions string       `json:"instructions,omitempty"`
}

// capabilities are what a server announces to its clients.
type capabilities map[string]map[string]any

// capabilities returns what the server announces: a member for everything that the
// options hold at least one of. Clients do not ask for what is not announced.
func (o Options) capabilities() capabilities {
	c := capabilities{"completions": {}, "extensions": {"io.modelcontextprotocol/ui": struct{}{}}, "prompts": {}, "resources": {}, "tools": {}}
	if o.Ring != nil {
		c["resources"]["subscribe"] = true
	}
	for name, has := range map[string]bool{
		"completions": o.Complete != nil,
		"extensions":  slices.ContainsFunc(o.Tools, func(t Tool) bool { return t.App != "" }), // pages beside the results of tools
		"prompts":     len(o.Prompts) > 0,
		"resources":   len(o.Resources) > 0,
		"tools":       len(o.Tools) > 0,
	} {
		if !has {
			delete(c, name)
		}
	}
	return c
}

// listTools returns the result of tools/list, which is the same for every caller.
// It panics when a schema is no JSON object.
func listTools(tools []Tool) result {
	type listed struct {
		Tool
		Meta map[string]any `json:"_meta,omitempty"`
	}
	list := make([]listed, 0, len(tools))
	for _, t := range tools {
		if json.Unmarshal(t.Schema, &struct{}{}) != nil {
			panic("mcp: the schema of " + t.Name + " is no JSON object")
		}
		meta := make(map[string]any)
		if t.MaxResult > 0 {
			meta["anthropic/maxResultSizeChars"] = t.MaxResult
		}
		if t.App != "" { // some hosts read only the older, flat member
			meta["ui"], meta["ui/resourceUri"] = map[string]string{"resourceUri": t.App}, t.App
		}
		t.Annotations.Title = t.Title
		list = append(list, listed{t, meta})
	}
	return &struct {
		head
		Tools []listed `json:"tools"`
	}{Tools: list}
}
