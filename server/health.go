package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"wick/market"
	"wick/mcp"
	"wick/trade"
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
func health(c *config, e *app, started time.Time) healthDoc {
	source, _, _ := strings.Cut(c.source, ":") // without the directory of a CSV source, which is nobody's business but the operator's
	h := healthDoc{
		Name: "wick", Version: buildVersion(), Status: "ok", Protocol: "MCP", ProtocolVersion: mcp.ProtocolVersion,
		Trade: c.trade, Source: source, Uptime: int64(time.Since(started).Seconds()),
		Endpoints: map[string]string{
			"mcp": c.baseURL + "/mcp", "authorize": c.baseURL + "/authorize", "token": c.baseURL + "/token", "register": c.baseURL + "/register", "revoke": c.baseURL + "/revoke",
			"metadata": c.baseURL + "/.well-known/oauth-authorization-server",
		},
	}
	if e.trade != nil {
		h.addTrade(e.trade)
	}
	return h
}

// addTrade adds the state of the engine and of its broker.
func (h *healthDoc) addTrade(engine *trade.Engine) {
	status := engine.Status()
	h.Trading, h.Journal = string(status.Trading), status.Journal
	// At a broker elsewhere: which one, and only the end of the account's number,
	// since this page needs no login.
	if v, ok := engine.Venue(); ok {
		h.Broker, h.Account = v.Broker, masked(v.Account)
		if v.Money == trade.RealMoney {
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, strconv.Itoa(c.port))+"/", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	defer response.Body.Close()
	var health struct {
		Name string `json:"name"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&health); err != nil || response.StatusCode != http.StatusOK || health.Name != "wick" {
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
