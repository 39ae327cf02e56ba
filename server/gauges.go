package server

import (
	"math"
	"runtime"
	rtmetrics "runtime/metrics"
	"time"

	"wick/market"
	"wick/mcp/tools"
)

// watch adds the numbers that other parts of the program keep. Each is read from there
// when the metrics are, so nothing is counted twice and nothing is stored here.
func (m *meter) watch(e *app) {
	r := &m.registry
	// Streams and connections, then the memory of bars, trading, and the process itself.
	r.Gauge("wick_streams", "Open streams.", func() float64 { _, streams, _ := e.hub.Stats(); return float64(streams) })
	r.Gauge("wick_connections", "Open connections.", func() float64 { _, all := e.conns.count(); return float64(all) })
	r.Gauge("wick_anonymous_connections", "Connections that have shown no valid token.", func() float64 { anonymous, _ := e.conns.count(); return float64(anonymous) })
	r.Total("wick_connections_dropped_total", "Connections closed to make room.", func() float64 { return float64(e.conns.dropped.Load()) })
	r.Gauge("wick_mailbox_entries", "Notifications waiting to be written to streams, over all subscriptions.", func() float64 { _, _, waiting := e.hub.Stats(); return float64(waiting) })
	r.Total("wick_cache_hits_total", "Questions for bars answered from memory.", func() float64 { hits, _ := market.CacheStats(e.source); return float64(hits) })
	r.Total("wick_cache_misses_total", "Questions for bars passed on to the source.", func() float64 { _, misses := market.CacheStats(e.source); return float64(misses) })
	if e.trade != nil {
		m.watchTrade(e)
	}
	r.Gauge("wick_uptime_seconds", "Time since the start.", func() float64 { return time.Since(e.started).Seconds() })
	r.Gauge("wick_processors", "Processors used, and so charts painted at once.", func() float64 { return float64(runtime.GOMAXPROCS(0)) })
	r.Gauge("wick_render_bytes_max", "Memory that charts under way can hold at most.", func() float64 { return float64(tools.RenderBytes(runtime.GOMAXPROCS(0))) })
	r.Gauge("wick_goroutines", "Goroutines.", func() float64 { return float64(runtime.NumGoroutine()) })
	r.Gauge("wick_memory_heap_bytes", "Memory in live and not yet swept objects.", runtimeNumber("/memory/classes/heap/objects:bytes"))
	r.Gauge("wick_memory_total_bytes", "Memory the Go runtime has from the system.", runtimeNumber("/memory/classes/total:bytes"))
}

// watchTrade adds the numbers of the trading engine. Each scrape asks for its
// status anew; that takes a lock for a moment and reads no disk.
func (m *meter) watchTrade(e *app) {
	r, status := &m.registry, e.trade.Status
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
	if e.replica != nil {
		e.replica.meter(r)
	}
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
