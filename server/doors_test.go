//go:build !core

package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"wick/cluster"
	"wick/mcp/tools"
	"wick/oauth"
	"wick/permit"
	"wick/trade"
)

// TestDoors tries every action of the program at every door of a running wick but that of
// replicas, with every kind of token, and compares what happens with the table of package permit: a door that
// does not ask the gate, or an action that is not in the table, shows here.
func TestDoors(t *testing.T) {
	t.Setenv("WICK_PASSPHRASE", testPhrase)
	dir := t.TempDir()
	p := startProcess(t, dir, "--confirm-above", "1000000")
	t.Setenv("WICK_PASSPHRASE", "")
	alone := startHost(t, t.TempDir())
	attached := startHost(t, dir)
	trader, owner := p.consented(t, testPhrase), func() string {
		t.Setenv("WICK_PASSPHRASE", testPhrase)
		defer t.Setenv("WICK_PASSPHRASE", "")
		return p.loginOwner(t)
	}()
	viewer := p.consentedTo(t, testPhrase, "charts")

	type door struct {
		name   string
		door   permit.Door
		scopes permit.Scopes
		try    func(action string) bool // whether it was let in
	}
	over := func(token string) func(string) bool {
		return func(action string) bool { return p.letIn(t, token, action) }
	}
	page := func(token string) func(string) bool {
		return func(action string) bool {
			return asksOwner(func(method, path string, form url.Values) (int, string) {
				r, err := http.NewRequest(method, p.base+"/app/api/"+path, strings.NewReader(form.Encode()))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				if token != "" {
					r.Header.Set("Authorization", "Bearer "+token)
				}
				reply, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer reply.Body.Close()
				text, _ := io.ReadAll(reply.Body)
				return reply.StatusCode, string(text)
			}, action)
		}
	}
	socket := func(action string) bool {
		if action == "attach" {
			return true // attached is one
		}
		return asksOwner(func(method, path string, form url.Values) (int, string) {
			return overSocket(t, dir, method, "/"+path, form)
		}, action)
	}
	charts, trade, all := permit.Scopes{permit.Charts}, permit.Scopes{permit.Charts, permit.Trade}, permit.Scopes{permit.Charts, permit.Trade, permit.Owner}
	doors := []door{
		{"HTTP without a token", permit.HTTP, nil, over("")},
		{"HTTP, charts", permit.HTTP, charts, over(viewer)},
		{"HTTP, trade", permit.HTTP, trade, over(trader)},
		{"HTTP, owner", permit.HTTP, all, over(owner)},
		{"page without a token", permit.Page, nil, page("")},
		{"page, charts", permit.Page, charts, page(viewer)},
		{"page, trade", permit.Page, trade, page(trader)},
		{"page, owner", permit.Page, all, page(owner)},
		{"stdio", permit.Stdio, trade, alone.letIn},
		{"attached beside a passphrase", permit.Attach, permit.Scopes{permit.Charts, permit.Read}, attached.letIn},
		{"socket", permit.Socket, permit.Scopes{permit.Owner}, socket},
	}
	// approve is tried with a yes, which needs the passphrase: no token has it; resume comes last, after halt and cancel.
	rules := slices.Clone(permit.Table)
	slices.SortStableFunc(rules, func(a, b permit.Rule) int {
		return strings.Compare(fmt.Sprint(a.Action == "resume"), fmt.Sprint(b.Action == "resume"))
	})
	for _, d := range doors {
		for _, r := range rules {
			need := r.Scope
			if r.Action == "approve" {
				need = permit.Person
			}
			want := slices.Contains(r.Doors, d.door) && d.scopes.Has(need)
			if got := d.try(r.Action); got != want {
				t.Errorf("%s: %s is let in: %t, the table says %t", d.name, r.Action, got, want)
			}
		}
	}
	for _, name := range offered() {
		if permit.Needs(name) == "" {
			t.Errorf("%s is offered and not in the table", name)
		}
	}
	p.terminate(t)
}

// offered returns every tool and resource.
func offered() (names []string) {
	deps := tools.Deps{Engine: new(trade.Engine)}
	all, resources := withChat(tools.All(deps), tools.Resources(deps))
	for _, tool := range all {
		names = append(names, tool.Name)
	}
	for _, r := range resources {
		names = append(names, r.URI)
	}
	return names
}

// request returns the message that does an action by the protocol.
func request(action string) string {
	if strings.Contains(action, "://") {
		uri := strings.NewReplacer("{symbol}", "BTCUSDT", "{interval}", "4h", "{name}", "rsi").Replace(action)
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri)
	}
	switch action {
	case "prompts/get":
		return `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"chart","arguments":{"symbol":"BTCUSDT"}}}`
	case "completion/complete":
		return `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"wick://indicators/{name}"},"argument":{"name":"name","value":"rs"}}}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, action)
}

// refusals are how the protocol says that something is not there or not allowed.
var refusals = []string{`"code":-32001`, `"code":-32002`, "unknown tool", "not allowed to a host that attaches", "is not offered here"}

// letIn reports whether a token may do an action over HTTP.
func (h *running) letIn(t *testing.T, token, action string) bool {
	t.Helper()
	r, err := http.NewRequest("POST", h.base+"/mcp", strings.NewReader(request(action)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, _ := io.ReadAll(reply.Body)
	return reply.StatusCode == 200 && !slices.ContainsFunc(refusals, func(said string) bool { return strings.Contains(string(text), said) })
}

// letIn reports whether the host may do an action.
func (h *host) letIn(action string) bool {
	h.t.Helper()
	h.say(request(action))
	for h.lines.Scan() {
		if line := h.lines.Text(); strings.Contains(line, `"id":1`) {
			return !slices.ContainsFunc(refusals, func(said string) bool { return strings.Contains(line, said) })
		}
	}
	h.t.Fatalf("no reply to %s: %v", action, h.lines.Err())
	return false
}

// asksOwner reports whether an action is taken as one of the owner's, by the method that it
// has.
func asksOwner(ask func(method, path string, form url.Values) (int, string), action string) bool {
	if strings.Contains(action, "://") {
		action = url.PathEscape(action)
	}
	for _, method := range []string{"GET", "POST"} {
		status, text := ask(method, action, url.Values{"id": {"nobody"}, "answer": {"yes"}})
		if !slices.Contains([]int{401, 403, 405}, status) && !(status == 404 && (strings.Contains(text, "nothing at this path") || strings.Contains(text, "page not found"))) {
			return true
		}
	}
	return false
}

// blind is a state that looks at no record.
type blind struct{}

func (blind) Restore(string, uint64, []byte) error { return nil }
func (blind) Decode(byte, []byte) (any, error)     { return struct{}{}, nil }
func (blind) Apply(uint64, byte, any) error        { return nil }
func (blind) Snapshot() (uint64, func() ([]byte, error)) {
	return 0, func() ([]byte, error) { return []byte("{}"), nil }
}

// TestReplicaDoor tries every action between replicas, by somebody who has their secret: what
// is for peers is taken, a client's call without a token that works is not, and nothing else
// is there at all.
func TestReplicaDoor(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	leader := startReplica(t, clusterArgs(t, etcd, file))
	leader.await(t, "leader")
	_, secret, _ := strings.Cut(strings.TrimSpace(testSecret), " ")
	node, err := cluster.New(cluster.Options{Endpoints: []string{etcd.URL}, Store: "main", Secret: []byte(secret)})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	if _, err := node.Read(blind{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range permit.Table {
		err := node.Ask(t.Context(), r.Action, map[string]string{}, nil)
		refused := err != nil && strings.Contains(err.Error(), "this replica")
		// A client's own call goes as a tool; resume is a halt of false.
		want := slices.Contains(r.Doors, permit.Replica) && slices.Contains([]string{"tell", "claim", "marks", "halt", "cancel"}, r.Action)
		if refused == want {
			t.Errorf("%s between replicas: %v, want it taken: %t", r.Action, err, want)
		}
		for _, token := range []string{"", "made up"} {
			if err := node.Ask(t.Context(), askTool, toolCall{Tool: r.Action, Token: token}, nil); err == nil || !strings.Contains(err.Error(), oauth.ErrInvalidToken.Error()) {
				t.Errorf("%s as a tool with the token %q: %v", r.Action, token, err)
			}
		}
	}
	viewer := func() string { // a token for charts alone
		leader.scope = "charts"
		return leader.login(t)
	}()
	if err := node.Ask(t.Context(), askTool, toolCall{Tool: "place_order", Token: viewer, Arguments: json.RawMessage("{}")}, nil); err == nil || !strings.Contains(err.Error(), `needs the scope "trade"`) {
		t.Errorf("a token for charts places an order by way of a replica: %v", err)
	}
}
