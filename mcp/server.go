package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
)

// Server holds the tools and answers messages. It is safe for concurrent use.
type Server struct {
	log        *slog.Logger // never nil
	tools      map[string]*Tool
	initialize []byte // results that never change are encoded once
	toolsList  []byte

	gate     *gate
	heavy    *gate // of heavy tools
	inflight inflight
}

// Options say what a [Server] is and has.
type Options struct {
	Name, Version string

	// Instructions tell a language model when the server is of use. Empty
	// leaves them out.
	Instructions string

	Tools []Tool // listed in this order

	Log *slog.Logger // receives the stack of a tool that panicked; nil discards it
}

// NewServer returns a server. It panics when two tools share a name or a schema
// is no JSON object: tools are ours, and a program with broken ones must not
// start.
func NewServer(o Options) *Server {
	s := &Server{
		log:        o.Log,
		tools:      make(map[string]*Tool, len(o.Tools)),
		initialize: initializeResult(o),
		toolsList:  toolsListResult(o.Tools),
		gate:       newGate(),
		heavy:      newGate(),
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
	return s
}

// initializeResult returns the result of initialize. Capabilities are what the
// options hold: a kind of thing of which there is none is not announced.
func initializeResult(o Options) []byte {
	type info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	capabilities := make(map[string]struct{})
	if len(o.Tools) > 0 {
		capabilities["tools"] = struct{}{}
	}
	return Encode(struct {
		ProtocolVersion string              `json:"protocolVersion"`
		Capabilities    map[string]struct{} `json:"capabilities"`
		ServerInfo      info                `json:"serverInfo"`
		Instructions    string              `json:"instructions,omitempty"`
	}{ProtocolVersion, capabilities, info{o.Name, o.Version}, o.Instructions})
}

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
		Meta        map[string]int  `json:"_meta,omitempty"`
	}
	list := make([]listed, 0, len(tools))
	for _, t := range tools {
		if json.Unmarshal(t.Schema, &struct{}{}) != nil {
			panic("mcp: the schema of " + t.Name + " is no JSON object")
		}
		var meta map[string]int
		if t.MaxResult > 0 {
			meta = map[string]int{"anthropic/maxResultSizeChars": t.MaxResult}
		}
		list = append(list, listed{t.Name, t.Title, t.Description, t.Schema, annotations{t.Title, t.Annotations}, meta})
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
