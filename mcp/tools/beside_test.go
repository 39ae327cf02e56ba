package tools

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
	"wick/mcp"
)

// faulty is a source that panics for one symbol.
type faulty struct{ failing }

func (f *faulty) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if q.Symbol == "BADUSDT" {
		panic("secret inner state")
	}
	return f.failing.Bars(ctx, q)
}

// TestPanicBeside: a panic in a goroutine that a call has started fails only that call, like
// a panic in the call's own goroutine, and the log says where it was.
func TestPanicBeside(t *testing.T) {
	for _, call := range []string{
		`{"name":"get_indicators","arguments":{"symbols":["BTCUSDT","BADUSDT"],"indicators":"rsi"}}`,
		`{"name":"generate_chart","arguments":{"symbol":"BTCUSDT","compare":["ETHUSDT","BADUSDT"]}}`,
	} {
		var log, out bytes.Buffer
		s := mcp.NewServer(mcp.Options{Tools: All(Deps{Source: &faulty{}}), Log: slog.New(slog.NewTextHandler(&log, nil))})
		message := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + call + `}`)
		if err := s.ServeStdio(t.Context(), message, &out, mcp.Caller{ID: "stdio"}, nil); err != nil {
			t.Fatal(err)
		}
		if reply := out.String(); !strings.Contains(reply, `"isError":true`) || !strings.Contains(reply, "failed inside the server") || strings.Contains(reply, "secret") {
			t.Errorf("%s: %.500s", call, reply)
		}
		if !strings.Contains(log.String(), "secret inner state") || !strings.Contains(log.String(), "(*faulty).Bars") {
			t.Errorf("%s: the log has %s", call, &log)
		}
	}
}

// slow is a source that takes a second for each symbol.
type slow struct{ failing }

func (s *slow) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	time.Sleep(time.Second)
	return s.failing.Bars(ctx, q)
}

// TestScanGivesWay: while one token scans hundreds of symbols in as many calls as may
// work at once, the call of another waits for a few symbols and not for the scans.
func TestScanGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mcp.NewServer(mcp.Options{Tools: All(Deps{Source: &slow{}})})
		var symbols []string
		for i := range 100 {
			symbols = append(symbols, fmt.Sprintf("SYM%dUSDT", i))
		}
		var scans sync.WaitGroup
		var over atomic.Int64
		for range 2 * runtime.GOMAXPROCS(0) {
			scans.Go(func() {
				post(s, mcp.Caller{ID: "greedy"}, "tools/call", `{"name":"get_indicators","arguments":{"indicators":"rsi","symbols":`+encode(symbols)+`}}`)
				over.Add(1)
			})
		}
		synctest.Wait()
		begin := time.Now()
		reply := post(s, mcp.Caller{ID: "small"}, "tools/call", `{"name":"get_indicators","arguments":{"indicators":"rsi","symbol":"BTCUSDT"}}`)
		if took := time.Since(begin); took > 3*time.Second || strings.Contains(reply, "isError") {
			t.Errorf("another's call took %v, with %d scans over: %.200s", took, over.Load(), reply)
		}
		scans.Wait()
	})
}
