package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
)

// Server holds the tools, resources and prompts and answers messages. It is safe
// for concurrent use.
type Server struct {
	log       *slog.Logger // never nil
	methods   map[string]method
	tools     map[string]*Tool
	resources []*Resource
	prompts   map[string]*Prompt
	complete  func(context.Context, Completion) []string

	meta []byte // see metaOf

	gate     *gate
	heavy    *gate // of heavy tools
	waiting  *gate // of tools that wait for the disk or another machine
	inflight inflight
	watch    watch
}

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

	// Complete returns what an argument of a prompt or of a template may begin
	// with, the best first. Nil means that nothing is completed.
	Complete func(ctx context.Context, c Completion) []string

	// Tell writes a notification to the stream that a caller of the older era
	// has open or opens next. Of several with one key the last is enough. Nil
	// means that callers cannot subscribe to resources.
	Tell func(caller, key string, line []byte)

	Log *slog.Logger // receives the stack of a tool that panicked; nil discards it
}

// Icon is a picture that stands for a server or a tool.
type Icon struct {
	Src   string   `json:"src"` // a URL; data: needs no request
	MIME  string   `json:"mimeType,omitempty"`
	Sizes []string `json:"sizes,omitempty"` // such as "48x48", or "any"
}

// NewServer returns a server. It panics when two tools or two prompts share a name or a
// schema is no JSON object: they are ours, and a program with broken ones must not
// start. Results that never change, such as the lists, are encoded here, once.
func NewServer(o Options) *Server {
	s := &Server{
		log:      o.Log,
		tools:    make(map[string]*Tool, len(o.Tools)),
		prompts:  make(map[string]*Prompt, len(o.Prompts)),
		complete: o.Complete,

		meta:    metaOf(o.info()),
		gate:    newGate(workSlots()),
		heavy:   newGate(workSlots()),
		waiting: newGate(waitingSlots),
		watch:   watch{tell: o.Tell},
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

// info is how a server names itself.
type info struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
	Icons   []Icon `json:"icons,omitempty"`
}

// info returns the part of the options that tells clients who the server is.
func (o Options) info() info { return info{o.Name, o.Title, o.Version, o.Icons} }

// capabilities are what the options hold: a kind of thing of which there is none
// is not announced.
type capabilities struct {
	Completions *struct{}    `json:"completions,omitempty"`
	Extensions  *extensions  `json:"extensions,omitempty"`
	Prompts     *struct{}    `json:"prompts,omitempty"`
	Resources   *subscribing `json:"resources,omitempty"`
	Tools       *struct{}    `json:"tools,omitempty"`
}

// extensions are the ones that the protocol has outside its core.
type extensions struct {
	UI *struct{} `json:"io.modelcontextprotocol/ui,omitempty"` // pages beside the results of tools
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
		c.Extensions = &extensions{UI: &struct{}{}}
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

// discoverResult returns the result of server/discover, which is of the newer era
// only. It names the server with its icons, so it has a _meta of its own.
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
	return Encode(struct {
		Tools []listed `json:"tools"`
	}{list})
}

// Handle answers one message or batch of an authenticated caller. It returns
// nil when there is nothing to answer: notifications, responses, and calls
// that the caller cancelled meanwhile.
func (s *Server) Handle(ctx context.Context, c Caller, msg []byte) []byte {
	msgs, batch, refused := decode(msg)
	if refused != nil {
		return appendError(nil, nil, refused)
	}
	if reply := s.replies(ctx, nil, c, msgs, batch); len(reply) > 0 {
		return reply
	}
	return nil
}

// replies appends the replies to the messages of an authenticated caller.
func (s *Server) replies(ctx context.Context, b []byte, c Caller, msgs []message, batch bool) []byte {
	return appendReplies(b, msgs, batch, func(b []byte, m *message) []byte {
		b, _ = s.reply(ctx, b, c, m)
		return b
	})
}
