package metrics_test

import (
	"fmt"
	"net/http/httptest"

	"wick/internal/metrics"
)

// A counter by label, and a number that somebody else keeps.
func Example() {
	var r metrics.Registry
	orders := r.Counter("orders_total", "Orders by side.", "side")
	orders("buy")
	orders("sell")
	orders("sell")
	open := 3.0
	r.Gauge("orders_open", "Orders that wait.", func() float64 { return open })

	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	fmt.Print(w.Body)
	// Output:
	// # HELP orders_total Orders by side.
	// # TYPE orders_total counter
	// orders_total{side="buy"} 1
	// orders_total{side="sell"} 2
	// # HELP orders_open Orders that wait.
	// # TYPE orders_open gauge
	// orders_open 3
}
