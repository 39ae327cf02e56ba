package server

import (
	"context"
	"math"
	"net"
	"net/http"
	"runtime"
	rtmetrics "runtime/metrics"
	"slices"
	"strconv"
	"time"

	"wick/internal/address"
	"wick/internal/metrics"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
)

// meter holds what --metrics shows. Every label takes its values from a fixed set: if
// strangers could choose values, they could fill the memory with series. Without --metrics
// the meter is nil, and counts nothing.
type meter struct {
	registry                  metrics.Registry
	requests, fired, notified func(labels ...string)
	calls, renders            func(seconds float64, labels ...string)
}

// Bounds of the histograms in seconds: a call takes from microseconds, when it
// is answered from memory, to a minute, when a data service is slow.
var seconds = []float64{0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// newMeter returns a meter with the numbers that are counted as things happen. watch
// adds those that are read from other parts, once these exist.
func newMeter() *meter {
	m := &meter{}
	r := &m.registry
	m.requests = r.Counter("wick_http_requests_total", "HTTP requests by method, path and status.", "method", "path", "status")
	m.calls = r.Histogram("wick_tool_call_seconds", "Tool calls by tool and outcome (ok, error, cancelled).", seconds, "tool", "outcome")
	m.renders = r.Histogram("wick_render_seconds", "Pictures painted, without the wait for their turn.", seconds)
	m.fired = r.Counter("wick_alerts_fired_total", "Alerts fired since the start.")
	m.notified = r.Counter("wick_notify_attempts_total", "Messages to the owner by destination and outcome (sent, retry, dead).", "destination", "outcome")
	return m
}

// tools returns the tools with their calls counted and timed. A nil meter returns them as
// they are.
func (m *meter) tools(tools []mcp.Tool) []mcp.Tool {
	if m == nil {
		return tools
	}
	for i := range tools {
		name, handle := tools[i].Name, tools[i].Handle
		tools[i].Handle = func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
			// Observed when the handler returns or panics. After a panic the outcome is
			// still "error".
			start, outcome := time.Now(), "error"
			defer func() { m.calls(time.Since(start).Seconds(), name, outcome) }()
			result, err := handle(ctx, c)
			switch {
			case ctx.Err() != nil:
				outcome = "cancelled"
			case err == nil && (result == nil || !result.IsError):
				outcome = "ok"
			}
			return result, err
		}
	}
	return tools
}

// oneIf returns a condition as the value of a gauge: 1 if it holds, else 0.
func oneIf(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// paths and verbs are the label values of requests. All else is counted as "other",
// because strangers choose it.
var (
	paths = []string{"/", "/mcp", "/sse", "/message", "/register", "/authorize", "/token", "/revoke", "/favicon.svg",
		"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"}
	verbs = []string{"GET", "HEAD", "POST", "OPTIONS", "DELETE"}
)

// known returns word if it is one of words, else "other".
func known(word string, words []string) string {
	if slices.Contains(words, word) {
		return word
	}
	return "other"
}

// requestsOf returns a handler that counts the answers of next by method, path and
// status. A nil meter returns next itself.
func (m *meter) requestsOf(next http.Handler) http.Handler {
	if m == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count := func(status int) {
			m.requests(known(r.Method, verbs), known(r.URL.Path, paths), strconv.Itoa(status))
		}
		c := &countedWriter{ResponseWriter: w, count: count}
		next.ServeHTTP(c, r)
		c.first(http.StatusOK) // a handler that wrote nothing
	})
}

// countedWriter counts a response as soon as its status is known: a stream is counted
// when it begins, not hours later.
type countedWriter struct {
	http.ResponseWriter
	count func(status int) // nil after it was called
}

// first counts the status, the first time it is called.
func (c *countedWriter) first(status int) {
	if c.count != nil {
		c.count(status)
		c.count = nil
	}
}

// WriteHeader counts the status and passes it on.
func (c *countedWriter) WriteHeader(status int) {
	c.first(status)
	c.ResponseWriter.WriteHeader(status)
}

// Write counts an implied 200 and passes the bytes on.
func (c *countedWriter) Write(p []byte) (int, error) {
	c.first(http.StatusOK)
	return c.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach flushing and deadlines.
func (c *countedWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// maxMetricsConns bounds the connections of the metrics listener, as listenFew does: it
// has one reader, perhaps two. When there is no room for a connection, the oldest is
// closed.
const maxMetricsConns = 16

// server returns the HTTP server of the metrics: one path, read only. Host must be a
// loopback name: otherwise a web page could read the metrics, by pointing its own DNS
// name to this machine.
func (m *meter) server() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", &m.registry)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The header may come without a port.
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !address.Loopback(host) {
			http.Error(w, "metrics are for this machine: ask for them by a loopback name", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
	srv := bounded(handler)
	srv.WriteTimeout = 10 * time.Second
	return srv
}

// watch adds the numbers that other parts of the program keep. Each is read from there
// when the metrics are, so nothing is counted twice and nothing is stored here.
func (m *meter) watch(e *app) {
	r := &m.registry
	// Streams and connections, then the memory of bars, the process itself, and trading.
	r.Gauge("wick_streams", "Open streams.", func() float64 { _, streams, _ := e.hub.Stats(); return float64(streams) })
	r.Gauge("wick_connections", "Open connections.", func() float64 { _, all := e.conns.count(); return float64(all) })
	r.Gauge("wick_anonymous_connections", "Connections that have shown no valid token.", func() float64 { anonymous, _ := e.conns.count(); return float64(anonymous) })
	r.Total("wick_connections_dropped_total", "Connections closed to make room.", func() float64 { return float64(e.conns.dropped.Load()) })
	r.Gauge("wick_mailbox_entries", "Notifications waiting to be written to streams, over all subscriptions.", func() float64 { _, _, waiting := e.hub.Stats(); return float64(waiting) })
	r.Total("wick_cache_hits_total", "Questions for bars answered from memory.", func() float64 { hits, _ := market.CacheStats(e.source); return float64(hits) })
	r.Total("wick_cache_misses_total", "Questions for bars passed on to the source.", func() float64 { _, misses := market.CacheStats(e.source); return float64(misses) })
	r.Gauge("wick_uptime_seconds", "Time since the start.", func() float64 { return time.Since(e.started).Seconds() })
	r.Gauge("wick_processors", "Processors used, and so charts painted at once.", func() float64 { return float64(runtime.GOMAXPROCS(0)) })
	r.Gauge("wick_render_bytes_max", "Memory that charts under way can hold at most.", func() float64 { return float64(tools.RenderBytes(runtime.GOMAXPROCS(0))) })
	r.Gauge("wick_goroutines", "Goroutines.", func() float64 { return float64(runtime.NumGoroutine()) })
	r.Gauge("wick_memory_heap_bytes", "Memory in live and not yet swept objects.", runtimeNumber("/memory/classes/heap/objects:bytes"))
	r.Gauge("wick_memory_total_bytes", "Memory the Go runtime has from the system.", runtimeNumber("/memory/classes/total:bytes"))
	if e.trade == nil {
		return
	}
	status := e.trade.Status // asked anew for each number: that takes a lock for a moment and reads no disk
	r.Gauge("wick_feed_age_seconds", "Time since the source of prices last answered, or since the start; absent if nothing is to be watched.", func() float64 {
		if age := status().FeedAge; age >= 0 {
			return age.Seconds()
		}
		// A gauge without a number is left out of the scrape.
		return math.NaN()
	})
	r.Gauge("wick_alerts_active", "Alerts that have not fired.", func() float64 { return float64(status().Alerts) })
	r.Gauge("wick_orders_open", "Open orders.", func() float64 { return float64(status().OpenOrders) })
	r.Gauge("wick_subscriptions", "Subscriptions.", func() float64 { return float64(status().Subscriptions) })
	r.Gauge("wick_polling_entries", "Notifications waiting for get_notifications.", func() float64 { return float64(status().Notifications) })
	r.Gauge("wick_journal_broken", "1 when the journal cannot be written.", func() float64 { return oneIf(status().Journal != "ok") })
	e.replica.meter(r)
	if e.messages != nil {
		r.Gauges("wick_notify_waiting", "Events that wait to be sent to a destination.", "destination", e.messages.waiting)
	}
	r.Total("wick_journal_records_total", "Records on disk since the store was made.", func() float64 { return float64(status().Records) })
	r.Total("wick_journal_syncs_total", "Writes with a sync since the start.", func() float64 { return float64(status().Syncs) })
	r.Total("wick_journal_sync_seconds_total", "Time they took.", func() float64 { return status().SyncTime.Seconds() })
}

// runtimeNumber returns a function that reads one of the runtime's own numbers. Reading
// does not stop the program.
func runtimeNumber(name string) func() float64 {
	return func() float64 {
		sample := []rtmetrics.Sample{{Name: name}}
		rtmetrics.Read(sample)
		return float64(sample[0].Value.Uint64())
	}
}
