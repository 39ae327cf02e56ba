package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
)

// Server holds the tools and answers messages. It is safe for concurrent use.
type Server struct {
	// Log receives the stack of a tool that panicked; nil discards it. Set it
	// before the first message.
	Log *slog.Logger

	tools      map[string]*Tool
	initialize []byte // results that never change are encoded once
	toolsList  []byte

	gate     gate
	heavy    gate // of heavy tools
	inflight inflight
}

// NewServer returns a server of the tools, listed in the order given. The
// instructions tell a language model when the server is of use; empty leaves
// them out. It panics when two tools share a name or a schema is no JSON
// object: tools are ours, and a program with broken ones must not start.
func NewServer(name, version, instructions string, tools []Tool) *Server {
	s := &Server{
		tools:      make(map[string]*Tool, len(tools)),
		initialize: initializeResult(name, version, instructions),
		toolsList:  toolsListResult(tools),
		gate:       newGate(),
		heavy:      newGate(),
	}
	for i := range tools {
		t := tools[i]
		if s.tools[t.Name] != nil {
			panic("mcp: two tools named " + t.Name)
		}
		s.tools[t.Name] = &t
	}
	return s
}

func initializeResult(name, version, instructions string) []byte {
	type info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	type capabilities struct {
		Tools struct{} `json:"tools"`
	}
	return encode(struct {
		ProtocolVersion string       `json:"protocolVersion"`
		Capabilities    capabilities `json:"capabilities"`
		ServerInfo      info         `json:"serverInfo"`
		Instructions    string       `json:"instructions,omitempty"`
	}{ProtocolVersion, capabilities{}, info{name, version}, instructions})
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
	return encode(struct {
		Tools []listed `json:"tools"`
	}{list})
}

// Handle answers one message or batch of an authenticated caller. It returns
// nil when there is nothing to answer: notifications, responses, and calls
// that the caller cancelled meanwhile.
func (s *Server) Handle(ctx context.Context, c Caller, msg []byte) []byte {
	var single [1]message
	msgs, batch, refused := decode(msg, &single)
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
