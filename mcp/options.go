package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
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

	// Tell writes a notification to the stream that a caller of the older era has open,
	// or to the next one it opens. Of several notifications with the same key only the
	// last need be written. Nil means that callers cannot subscribe to resources.
	Tell func(caller, key string, line []byte)

	// May returns nil if a caller may call the tool of this name or read the resource of this
	// URI, a template as it is declared. The error says why not; a [ScopeError]
	// says that another login may. Nil means that everybody may do everything.
	May func(ctx context.Context, c Caller, action string) error

	// Valid reports whether the token with this [Caller.ID] still works. It is called when
	// a call has got its slot, for which it may have waited, and when a caller has begun
	// to watch a resource. Nil means that tokens always work.
	Valid func(caller string) bool

	Log *slog.Logger // receives the stack of a handler that panicked; nil discards it
}

// NewServer returns a server. It panics when two tools or two prompts share a name, two
// resources share a URI or a schema is not a JSON object: they are part of the program,
// which must not start with broken ones. Results that never change, such as the lists, are
// encoded here, once.
func NewServer(o Options) *Server {
	s := &Server{
		log:      o.Log,
		tools:    make(map[string]*Tool, len(o.Tools)),
		prompts:  make(map[string]*Prompt, len(o.Prompts)),
		complete: o.Complete,
		valid:    o.Valid,
		may:      o.May,

		meta:    metaOf(o.info()),
		gate:    newGate(workSlots()),
		heavy:   newGate(workSlots()),
		waiting: newGate(waitingSlots),
		watch:   watch{tell: o.Tell},
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
		s.resources = append(s.resources, &r)
	}
	for _, p := range o.Prompts {
		if s.prompts[p.Name] != nil {
			panic("mcp: two prompts named " + p.Name)
		}
		s.prompts[p.Name] = &p
	}
	s.methods = methods(o)
	return s
}

// methods returns the methods that a server with these options answers.
func methods(o Options) map[string]method {
	found := discoverResult(o)
	all := map[string]method{
		"initialize": fixed(initializeResult(o)), // whatever version was asked for: the client decides whether ours will do
		"ping":       fixed([]byte("{}")),
		"server/discover": {newer: true, answer: func(_ *Server, _ context.Context, b []byte, _ Caller, m *message) ([]byte, verdict) {
			return append(append(appendHead(b, m.ID, "result"), found...), '}'), verdict{outcome: answered}
		}},
		"tools/list": onePage(toolsListResult(o.Tools)),
		"tools/call": {true, true, (*Server).call},
	}
	if len(o.Resources) > 0 {
		list, templates := resourceLists(o.Resources)
		all["resources/list"] = onePage(list)
		all["resources/templates/list"] = onePage(templates)
		all["resources/read"] = method{true, true, (*Server).read}
		if o.Tell != nil {
			all["resources/subscribe"] = method{older: true, answer: (*Server).subscribe}
			all["resources/unsubscribe"] = method{older: true, answer: (*Server).unsubscribe}
		}
	}
	if len(o.Prompts) > 0 {
		all["prompts/list"] = onePage(Encode(map[string][]Prompt{"prompts": o.Prompts}))
		all["prompts/get"] = method{true, true, (*Server).prompt}
	}
	if o.Complete != nil {
		all["completion/complete"] = method{true, true, (*Server).completion}
	}
	return all
}

// onePage returns the method of a list. Every list is one page, so we hand out no cursors
// and refuse those that clients send: the client would take the same page for the next one.
// Null and an empty text, which some clients send first, ask for the page.
func onePage(body []byte) method {
	return method{true, true, func(s *Server, _ context.Context, b []byte, _ Caller, m *message) ([]byte, verdict) {
		if cursor := string(m.Params.Cursor); cursor != "" && cursor != "null" && cursor != `""` {
			return appendError(b, m.ID, &Error{codeInvalidParams, "unknown cursor: the list is one page, ask for it without a cursor"}), verdict{outcome: answered}
		}
		return s.result(b, m, &listed, body), verdict{outcome: answered}
	}}
}

// fixed returns a method of the older era whose result is always the same.
func fixed(body []byte) method {
	return method{older: true, answer: func(s *Server, _ context.Context, b []byte, _ Caller, m *message) ([]byte, verdict) {
		return s.result(b, m, nil, body), verdict{outcome: answered}
	}}
}

// info is how a server names itself.
type info struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
	Icons   []Icon `json:"icons,omitempty"`
}

// info returns the part of the options that tells clients who the server is.
func (o Options) info() info { return info{o.Name, o.Title, o.Version, o.Icons} }

// capabilities are what a server announces to its clients.
type capabilities struct {
	Completions *struct{}           `json:"completions,omitempty"`
	Extensions  map[string]struct{} `json:"extensions,omitempty"` // parts of the protocol outside its core
	Prompts     *struct{}           `json:"prompts,omitempty"`
	Resources   *subscribing        `json:"resources,omitempty"`
	Tools       *struct{}           `json:"tools,omitempty"`
}

// subscribing announces whether resources can be subscribed to.
type subscribing struct {
	Subscribe bool `json:"subscribe,omitempty"`
}

// capabilities returns what the server announces: a member for everything that the
// options hold at least one of. Clients do not ask for what is not announced.
func (o Options) capabilities() (c capabilities) {
	if o.Complete != nil {
		c.Completions = &struct{}{}
	}
	if slices.ContainsFunc(o.Tools, func(t Tool) bool { return t.App != "" }) {
		c.Extensions = map[string]struct{}{"io.modelcontextprotocol/ui": {}} // pages beside the results of tools
	}
	if len(o.Prompts) > 0 {
		c.Prompts = &struct{}{}
	}
	if len(o.Resources) > 0 {
		c.Resources = &subscribing{o.Tell != nil}
	}
	if len(o.Tools) > 0 {
		c.Tools = &struct{}{}
	}
	return c
}

// initializeResult returns the result of initialize.
func initializeResult(o Options) []byte {
	return Encode(struct {
		ProtocolVersion string       `json:"protocolVersion"`
		Capabilities    capabilities `json:"capabilities"`
		ServerInfo      info         `json:"serverInfo"`
		Instructions    string       `json:"instructions,omitempty"`
	}{ProtocolVersion, o.capabilities(), o.info(), o.Instructions})
}

// discoverResult returns the result of server/discover, a method of the newer era only.
// It has a _meta of its own, which contains the server's title and icons.
func discoverResult(o Options) []byte {
	full := append([]byte(`{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":`), Encode(o.info())...)
	full = listed.append(append(full, '}'))
	body := Encode(struct {
		Versions     []string     `json:"supportedVersions"`
		Capabilities capabilities `json:"capabilities"`
		Instructions string       `json:"instructions,omitempty"`
	}{supportedVersions, o.capabilities(), o.Instructions})
	return append(append(full, ','), body[1:]...)
}

// metaOf returns the _meta that every result of the newer era has. The server's
// icons are left out: they would double a small reply.
func metaOf(i info) []byte {
	i.Title, i.Icons = "", nil
	return append(append([]byte(`"_meta":{"io.modelcontextprotocol/serverInfo":`), Encode(i)...), '}')
}

// toolsListResult returns the result of tools/list, which is the same for every caller.
// It panics when a schema is no JSON object.
func toolsListResult(tools []Tool) []byte {
	// The title stands twice: 2025-03-26 has it among the annotations, later
	// versions beside the name.
	type annotations struct {
		Title string `json:"title,omitempty"`
		Annotations
	}
	type listed struct {
		Name        string          `json:"name"`
		Title       string          `json:"title,omitempty"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Annotations annotations     `json:"annotations"`
		Meta        map[string]any  `json:"_meta,omitempty"`
		Icons       []Icon          `json:"icons,omitempty"`
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
		list = append(list, listed{t.Name, t.Title, t.Description, t.Schema, annotations{t.Title, t.Annotations}, meta, t.Icons})
	}
	return Encode(map[string][]listed{"tools": list})
}
