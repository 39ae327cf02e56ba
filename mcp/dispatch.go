package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
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
	}
	list := make([]listed, 0, len(tools))
	for _, t := range tools {
		if json.Unmarshal(t.Schema, &struct{}{}) != nil {
			panic("mcp: the schema of " + t.Name + " is no JSON object")
		}
		list = append(list, listed{t.Name, t.Title, t.Description, t.Schema, annotations{t.Title, t.Annotations}})
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

// outcome is what became of a message; a transport turns it into a status.
type outcome int

const (
	silent       outcome = iota // nothing to answer
	answered                    // a result or an error to a well-formed request
	invalid                     // not a message
	unauthorized                // no valid token
	forbidden                   // a token without the scope of the tool
	busy                        // no slot for the call
	cancelled                   // cancelled by the client, nothing appended
)

// verdict is an outcome and the tool that was called, if one was.
type verdict struct {
	outcome outcome
	tool    *Tool
}

// reply appends the reply to one message.
func (s *Server) reply(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	switch {
	case m.refused != nil:
		return appendError(b, m.ID, m.refused), verdict{outcome: invalid}
	case m.isResponse():
		return b, verdict{outcome: silent}
	case m.isNotification():
		s.notified(c, m)
		return b, verdict{outcome: silent}
	}
	if m.Params != nil && !isObject(m.Params) {
		return appendError(b, m.ID, &Error{CodeInvalidParams, "params must be an object"}), verdict{outcome: answered}
	}
	switch m.Method {
	case "initialize": // whatever version was asked for: the client decides whether ours will do
		return appendRaw(b, m.ID, s.initialize), verdict{outcome: answered}
	case "ping":
		return appendRaw(b, m.ID, []byte("{}")), verdict{outcome: answered}
	case "tools/list": // one page; a cursor can only be another server's
		return appendRaw(b, m.ID, s.toolsList), verdict{outcome: answered}
	case "tools/call":
		return s.call(ctx, b, c, m)
	}
	return appendError(b, m.ID, &Error{CodeUnknownMethod, fmt.Sprintf("unknown method %q", clip(m.Method))}), verdict{outcome: answered}
}

// notified takes a notification. All but cancellation are without effect here,
// and so is a request's method without an id: nobody could learn the outcome.
func (s *Server) notified(c Caller, m *message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) == nil && legalID(p.RequestID) {
		s.inflight.cancel(c.ID, p.RequestID)
	}
}

// call runs a tool under tools/call.
func (s *Server) call(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	wanted := s.lookup(m)
	if wanted.err != nil {
		return appendError(b, m.ID, wanted.err), verdict{outcome: answered}
	}
	tool := wanted.tool
	if !c.Has(tool.Scope) {
		why := fmt.Sprintf("%s needs the scope %q, which this token does not hold", tool.Name, tool.Scope)
		return appendError(b, m.ID, &Error{CodeUnauthorized, why}), verdict{forbidden, tool}
	}
	if !tool.Cheap {
		var end func()
		ctx, end = s.inflight.begin(ctx, c.ID, m.ID)
		defer end()
		if !s.gate.enter(ctx) {
			if context.Cause(ctx) == errCancelled {
				return b, verdict{cancelled, tool}
			}
			return appendError(b, m.ID, errBusy), verdict{busy, tool}
		}
		defer s.gate.leave()
	}
	result, failure := s.run(ctx, tool, Call{Caller: c, Arguments: wanted.args})
	if context.Cause(ctx) == errCancelled {
		return b, verdict{cancelled, tool}
	}
	return appendOutcome(b, m.ID, result, failure), verdict{answered, tool}
}

var errBusy = &Error{CodeBusy, "the server is busy with other calls: try again in a second"}

// appendOutcome appends what a tool returned.
func appendOutcome(b []byte, id json.RawMessage, result *Result, failure error) []byte {
	if failure != nil {
		if protocol := (*Error)(nil); errors.As(failure, &protocol) {
			return appendError(b, id, protocol)
		}
		result = Text(failure.Error())
		result.IsError = true
	}
	return append(appendResult(appendHead(b, id, "result"), result), '}')
}

// toolCall is what the params of tools/call ask for: a tool and its arguments,
// or the reason why they ask for nothing.
type toolCall struct {
	tool *Tool
	args json.RawMessage
	err  *Error
}

// lookup reads the params of a tools/call, once.
func (s *Server) lookup(m *message) toolCall {
	if m.call.tool == nil && m.call.err == nil {
		m.call = s.parseCall(m.Params)
	}
	return m.call
}

func (s *Server) parseCall(params json.RawMessage) toolCall {
	refused := func(why string) toolCall { return toolCall{err: &Error{CodeInvalidParams, why}} }
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if len(params) == 0 || json.Unmarshal(params, &p) != nil || p.Name == "" {
		return refused(`tools/call needs params with the "name" of a tool`)
	}
	tool := s.tools[p.Name]
	switch {
	case tool == nil:
		return refused(fmt.Sprintf("unknown tool %q: tools/list has the names", clip(p.Name)))
	case string(p.Arguments) == "null":
		p.Arguments = nil
	case p.Arguments != nil && !isObject(p.Arguments):
		return refused("the arguments of a tool must be an object")
	}
	return toolCall{tool: tool, args: p.Arguments}
}

// run calls the tool's handler. A panic is a failed tool; its value and stack
// go to the log alone, since they may show what the caller must not see.
func (s *Server) run(ctx context.Context, tool *Tool, c Call) (result *Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			if s.Log != nil {
				s.Log.Error("tool panicked", "tool", tool.Name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			}
			result, err = nil, fmt.Errorf("%s failed inside the server, which is a bug and is in its log; the same call would most likely fail again", tool.Name)
		}
	}()
	result, err = tool.Handle(ctx, c)
	if result == nil {
		result = &Result{}
	}
	return result, err
}

// isObject reports whether raw, which is valid JSON, is an object.
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
