package contest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"wick/test/harness"

	mark3 "github.com/mark3labs/mcp-go/mcp"
	mark3server "github.com/mark3labs/mcp-go/server"
	official "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Answers of the peers' tools: list_alerts answers a small text, all others a
// large one, of the size of wick's catalogue.
const small = "[]"

// PeerTool is a tool as wick lists it. The peers offer the same ones, so that
// tools/list is the same work for all.
type PeerTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
}

// Peer describes what a peer is to serve; it travels to the process as JSON in
// a file.
type Peer struct {
	Token string
	Tools []PeerTool
	Large string // what a tool other than list_alerts answers
}

// PeerOf asks a wick for its tools and its catalogue, which the peers imitate.
func PeerOf(base, token string) (Peer, error) {
	peer := Peer{Token: token}
	var list struct {
		Result struct{ Tools []PeerTool }
	}
	_, text, err := Post(base, token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return peer, err
	}
	peer.Tools = list.Result.Tools
	var catalog struct {
		Result struct{ Content []struct{ Text string } }
	}
	if _, text, err = Post(base, token, harness.Message("list_indicators", "{}")); err == nil {
		err = json.Unmarshal(text, &catalog)
	}
	if err != nil {
		return peer, err
	}
	if len(catalog.Result.Content) == 0 {
		return peer, fmt.Errorf("wick answered %.200s", text)
	}
	peer.Large = catalog.Result.Content[0].Text
	return peer, nil
}

// Write puts the description into a file for [ReadPeer].
func (p Peer) Write() (file string, err error) {
	f, err := os.CreateTemp("", "peer-")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.Name(), json.NewEncoder(f).Encode(p)
}

// ReadPeer reads what Write wrote.
func ReadPeer(file string) (p Peer, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(text, &p)
}

// text returns what the peer's tool of that name answers.
func (p Peer) text(tool string) string {
	if tool == "list_alerts" {
		return small
	}
	return p.Large
}

// MCPGo returns a server made with mcp-go.
func (p Peer) MCPGo() *mark3server.MCPServer {
	s := mark3server.NewMCPServer("peer", "1", mark3server.WithToolCapabilities(false))
	for _, t := range p.Tools {
		text := p.text(t.Name)
		s.AddTool(mark3.NewToolWithRawSchema(t.Name, t.Description, t.Schema),
			func(context.Context, mark3.CallToolRequest) (*mark3.CallToolResult, error) {
				return mark3.NewToolResultText(text), nil
			})
	}
	return s
}

// GoSDK returns a server made with the official SDK.
func (p Peer) GoSDK() *official.Server {
	s := official.NewServer(&official.Implementation{Name: "peer", Version: "1"}, nil)
	for _, t := range p.Tools {
		text := p.text(t.Name)
		s.AddTool(&official.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema},
			func(context.Context, *official.CallToolRequest) (*official.CallToolResult, error) {
				return &official.CallToolResult{Content: []official.Content{&official.TextContent{Text: text}}}, nil
			})
	}
	return s
}

// Handler returns the HTTP handler of a contestant: "mcp-go" and "go-sdk",
// without sessions, answering plain JSON, behind a check of the bearer token.
func (p Peer) Handler(name string) (http.Handler, error) {
	var h http.Handler
	switch name {
	case "mcp-go":
		h = mark3server.NewStreamableHTTPServer(p.MCPGo(), mark3server.WithStateLess(true), mark3server.WithDisableStreaming(true))
	case "go-sdk":
		server := p.GoSDK()
		h = official.NewStreamableHTTPHandler(func(*http.Request) *official.Server { return server },
			&official.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	default:
		return nil, fmt.Errorf("no peer %q", name)
	}
	want := "Bearer " + p.Token
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != want {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}), nil
}

// Floor answers a constant body of that many bytes: the least that net/http can
// do.
func Floor(size int) http.Handler {
	body := []byte(strings.Repeat("x", size))
	length, kind := []string{strconv.Itoa(size)}, []string{"application/json"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = kind
		w.Header()["Content-Length"] = length
		w.Write(body)
	})
}

// Logged writes a line about every request, with the same attributes as wick's.
func Logged(h http.Handler) (http.Handler, error) {
	file, err := os.CreateTemp("", "log-")
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(file, nil))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		h.ServeHTTP(w, r)
		log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("method", "tools/call"), slog.Int("status", http.StatusOK),
			slog.Duration("took", time.Since(start)), slog.Bool("authorization", true), slog.String("tool", "list_alerts"),
			slog.String("name", "bench"), slog.String("id", "01234567"), slog.String("from", r.RemoteAddr))
	}), os.Remove(file.Name())
}

// Serve serves on any loopback port and prints the base URL for [Self].
func Serve(h http.Handler) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + ln.Addr().String())
	return http.Serve(ln, h)
}
