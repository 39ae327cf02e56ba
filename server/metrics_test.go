//go:build !core

package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var metricsAt = regexp.MustCompile(`msg=metrics address=(http://127\.0\.0\.1:\d+/metrics)`)

func fetch(t *testing.T, method, url, host string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// TestMetrics: what a client did can be read on the second listener, and only
// there, and only by a loopback name.
func TestMetrics(t *testing.T) {
	h := start(t, "--serve", "--trade", "--metrics", "127.0.0.1:0")
	found := metricsAt.FindStringSubmatch(h.log.String())
	if found == nil {
		t.Fatalf("no address in the log:\n%s", h.log)
	}
	token := h.login(t)
	h.call(t, token, "generate_chart", `{"format":"png","width":320,"height":240}`)
	h.call(t, token, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1e9}}`)
	h.openStream(t, token)
	_, text := fetch(t, "GET", found[1], "")
	for _, want := range []string{
		`wick_http_requests_total{method="GET",path="/mcp",status="200"} 1`, // counted when it begins
		`wick_http_requests_total{method="POST",path="/mcp",status="200"} 2`,
		`wick_http_requests_total{method="POST",path="/register",status="201"} 1`,
		`wick_http_requests_total{method="GET",path="/authorize",status="303"} 1`,
		`wick_tool_call_seconds_count{tool="generate_chart",outcome="ok"} 1`,
		`wick_render_seconds_count 1`,
		`wick_alerts_active 1`,
		`wick_alerts_fired_total 0`,
		`wick_streams 1`,
		`wick_journal_broken 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	for _, name := range []string{"wick_journal_syncs_total", "wick_journal_sync_seconds_total", "wick_goroutines", "wick_memory_heap_bytes", "wick_cache_hits_total", "wick_cache_misses_total", "wick_mailbox_entries", "wick_connections", "wick_anonymous_connections"} {
		if !regexp.MustCompile(`(?m)^` + name + ` [0-9.e+-]+$`).MatchString(text) {
			t.Errorf("no number for %s", name)
		}
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) [a-zA-Z_:][a-zA-Z0-9_:]* .*|[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_][a-zA-Z0-9_]*="[^"]*",?)+\})? [^ ]+)$`)
	for got := range strings.Lines(text) {
		if !line.MatchString(strings.TrimSuffix(got, "\n")) {
			t.Errorf("the format does not allow %q", got)
		}
	}
	if strings.Contains(text, token) {
		t.Error("the metrics hold a token")
	}
	if status, _ := fetch(t, "GET", found[1], "rebound.example.com"); status != 403 {
		t.Errorf("a foreign Host: %d, want 403", status)
	}
	if status, _ := fetch(t, "POST", found[1], ""); status != 405 {
		t.Errorf("POST: %d, want 405", status)
	}
	if status, _ := fetch(t, "GET", h.base+"/metrics", ""); status != 404 {
		t.Errorf("/metrics on the public listener: %d, want 404", status)
	}
}

// TestMetricsWords: words that strangers choose make no series.
func TestMetricsWords(t *testing.T) {
	h := start(t, "--serve", "--metrics", "127.0.0.1:0")
	fetch(t, "BREW", h.base+"/pot", "")
	_, text := fetch(t, "GET", metricsAt.FindStringSubmatch(h.log.String())[1], "")
	if !strings.Contains(text, `wick_http_requests_total{method="other",path="other",status="404"} 1`) || strings.Contains(text, "BREW") {
		t.Errorf("got\n%s", text)
	}
}

// TestMetricsConnections: one connection more than the listener has room for,
// and the oldest goes; the newest is answered.
func TestMetricsConnections(t *testing.T) {
	ln, err := listenFew("--metrics", "127.0.0.1:0", maxMetricsConns)
	if err != nil {
		t.Fatal(err)
	}
	wantBound(t, newMeter().server(), ln, maxMetricsConns)
}

// wantBound fails the test unless most connections after the first end the first.
func wantBound(t *testing.T, srv *http.Server, ln net.Listener, most int) {
	t.Helper()
	go srv.Serve(ln)
	defer srv.Close()
	ask := func() *bufio.Reader {
		r := bufio.NewReader(dial(t, ln.Addr().String(), "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		return r
	}
	oldest := ask()
	for range most {
		ask()
	}
	if _, err := oldest.ReadByte(); err == nil {
		t.Error("the oldest connection is still there")
	}
}

// TestReplicaConnections is the same for those of other replicas.
func TestReplicaConnections(t *testing.T) {
	ln, err := listenFew("--cluster-file", "127.0.0.1:0", maxReplicaConns)
	if err != nil {
		t.Fatal(err)
	}
	wantBound(t, &http.Server{Handler: http.NotFoundHandler()}, ln, maxReplicaConns)
}
