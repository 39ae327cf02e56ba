package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"wick/internal/address"
	"wick/market"
	"wick/mcp"
	"wick/oauth"
	"wick/trade/book"
)

// healthDoc is what GET / answers.
type healthDoc struct {
	Name            string            `json:"name"`
	Version         string            `json:"version"`
	Status          string            `json:"status"` // "ok", or "degraded" when the journal is broken or a source of prices is silent
	Protocol        string            `json:"protocol"`
	ProtocolVersion string            `json:"protocolVersion"`
	Trade           bool              `json:"trade"`
	Source          string            `json:"source"`
	Endpoints       map[string]string `json:"endpoints"`
	Uptime          int64             `json:"uptime_seconds"`

	// Under --trade. Strangers can read this: it says how the service is, and nothing
	// about what its owner does.
	Broker  string `json:"broker,omitempty"`           // where orders go; absent for wick's own book
	Account string `json:"account,omitempty"`          // the end of the account's number at the broker
	Money   string `json:"money,omitempty"`            // "real" if orders move real money
	Trading string `json:"trading,omitempty"`          // active, reducing or halted
	Journal string `json:"journal,omitempty"`          // ok or broken
	FeedAge *int64 `json:"feed_age_seconds,omitempty"` // since the source last answered, whether or not the price was new, or since the start if it never has; absent if nothing is to be watched
}

// health returns the document of GET /. It is made anew for every request, because
// nothing in it takes longer than a lock. Its status is never worse than degraded:
// charts and reads still work then.
func (e *app) health() healthDoc {
	c := e.config
	source, _, _ := strings.Cut(c.source, ":") // without the directory of a CSV source, which is nobody's business but the operator's
	h := healthDoc{
		Name: "wick", Version: buildVersion(), Status: "ok", Protocol: "MCP", ProtocolVersion: mcp.ProtocolVersion,
		Trade: c.trade, Source: source, Uptime: int64(time.Since(e.started).Seconds()),
		Endpoints: map[string]string{
			"mcp": c.baseURL + "/mcp", "authorize": c.baseURL + "/authorize", "token": c.baseURL + "/token", "register": c.baseURL + "/register", "revoke": c.baseURL + "/revoke",
			"metadata": c.baseURL + "/.well-known/oauth-authorization-server",
		},
	}
	if e.trade == nil {
		return h
	}
	status := e.trade.Status()
	h.Trading, h.Journal = string(status.Trading), status.Journal
	// At a broker elsewhere: which one, and only the end of the account's number,
	// since this page needs no login.
	if v, ok := e.trade.Venue(); ok {
		h.Broker, h.Account = v.Name, masked(v.Account)
		if v.Money == book.RealMoney {
			h.Money = "real"
		}
		if v.State != "ready" {
			h.Status = "degraded"
		}
	}
	// FeedAge is negative before anything is watched: nothing is late then.
	if status.Journal != "ok" || status.FeedAge > market.Silent {
		h.Status = "degraded"
	}
	if age := int64(status.FeedAge.Seconds()); status.FeedAge >= 0 {
		h.FeedAge = &age
	}
	return h
}

// healthcheck asks the server on this machine whether it answers, for containers that have
// no shell and are started anew by it. It fails, and the process ends with exit code 1, if
// wick does not answer within five seconds. A degraded server passes: a new start helps
// against no silent data service and no full disk, and would end every login. Where it
// does help, --exit-when-broken ends the process.
func healthcheck(ctx context.Context, c *config) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	// A server that listens on every address is asked on loopback.
	host := c.listen
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, strconv.Itoa(c.port))+"/healthz", nil) // which answers whatever the site is called
	if err != nil {
		return err
	}
	response, err := address.Client(5*time.Second, func(netip.Addr) bool { return true }).Do(request)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	defer response.Body.Close()
	var health readiness
	if err := json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&health); err != nil || response.StatusCode != http.StatusOK || health.Role == "" {
		return fmt.Errorf("health: status %d is not an answer of wick", response.StatusCode)
	}
	return nil
}

// masked returns the end of an account's number, for those who are not logged in.
func masked(account string) string {
	const shown = 4
	if len(account) <= shown {
		return account
	}
	return "…" + account[len(account)-shown:]
}

// readiness is what GET /readyz answers. Strangers can read it: it says how this process
// is, and nothing about what its owner does. The last three members are about the cluster
// and absent without one.
type readiness struct {
	Ready  bool    `json:"ready"`
	Reason string  `json:"reason,omitempty"` // why not
	Role   string  `json:"role"`             // single, leader, follower or deposed
	Leader *bool   `json:"leader_known,omitempty"`
	Lag    *uint64 `json:"lag_records,omitempty"`
	Etcd   *bool   `json:"etcd_reachable,omitempty"`
}

// probes answers the questions of load balancers before anything else looks at the
// request: they ask by address, not by the site's name. GET /healthz says that the
// process answers, GET /readyz whether it should get requests, and GET
// /readyz?strict whether all is well.
func (e *app) probes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			next.ServeHTTP(w, r)
			return
		}
		doc := e.replica.ready(r.URL.RawQuery == "strict")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path == "/readyz" && !doc.Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		json.NewEncoder(w).Encode(doc) // the balancer is there to read it, or gone
	})
}

// welcome answers a person, whose browser names HTML when it opens a page: with a page
// about this server at /, and with one that says where to go at a path that does not
// exist. Everything else goes to mux, which answers with JSON. No one is logged in here,
// so nothing of the account is shown but the end of its number.
func (e *app) welcome(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		person := (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/html")
		switch {
		case person && r.URL.Path == "/":
			e.tellState(w)
		case person && nowhere(mux, r):
			e.login.Tell(w, http.StatusNotFound, "There is nothing at this path", "This is wick, a service for MCP clients such as Claude, ChatGPT, Cursor or VS Code.", e.addresses()...)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// nowhere reports whether mux serves the path of r neither to read nor to post to.
func nowhere(mux *http.ServeMux, r *http.Request) bool {
	post := *r
	post.Method = http.MethodPost
	_, reads := mux.Handler(r)
	_, posts := mux.Handler(&post)
	return reads == "/" && posts == "/" // the pattern for all that no other matches
}

// addresses returns where clients and the owner go.
func (e *app) addresses() []oauth.Fact {
	facts := []oauth.Fact{{Name: "Address for MCP clients", Value: e.config.baseURL + "/mcp"}}
	if e.config.hasPage() {
		facts = append(facts, oauth.Fact{Name: "Your page", Value: e.config.baseURL + pagePath, Link: true})
	}
	return facts
}

// tellState answers GET / for a person.
func (e *app) tellState(w http.ResponseWriter) {
	h, title := e.health(), "wick is running"
	if h.Status != "ok" {
		title = "wick needs its owner"
	}
	bars := h.Source
	if bars == "sample" {
		bars = "sample: invented, for trying out"
	}
	facts := append(e.addresses(), oauth.Fact{Name: "Bars from", Value: bars})
	if h.Trade {
		name, value := "Paper trading", h.Trading
		if h.Broker != "" {
			name = "Trading at " + h.Broker + ", account " + h.Account
		}
		if h.Money == "real" {
			value += ", with real money"
		}
		facts = append(facts, oauth.Fact{Name: name, Value: value})
		if h.Journal != "ok" {
			facts = append(facts, oauth.Fact{Name: "Journal", Value: h.Journal + ": nothing can be written; the log says why"})
		}
	}
	facts = append(facts, oauth.Fact{Name: "Version", Value: h.Version})
	e.login.Tell(w, http.StatusOK, title, "This is a service for MCP clients such as Claude, ChatGPT, Cursor or VS Code. Give the client the address below, and it will send you here to log in.", facts...)
}
