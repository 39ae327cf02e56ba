package tools

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

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

// TestPanicBeside: what panics in a goroutine that a call has started fails that call
// alone, as in the call's own, and the log says where it was.
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
