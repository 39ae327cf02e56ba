//go:build unix

package trade

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
	"time"

	"wick/market"
	"wick/trade/book"
	"wick/trade/watch"
)

// BenchmarkRuleAlerts judges one closed bar of fifty symbols for a thousand rule
// alerts, twenty different ones on each symbol, and states the processor time.
func BenchmarkRuleAlerts(b *testing.B) {
	o := testOptions(b)
	o.Limits.Symbols, o.Limits.Alerts = 50, 1000
	p := newTape(3000, 2, market.Hour1)
	o.Source = p
	e := openTest(b, o)
	defer e.Close()
	var rounds []watch.Round
	for i := range 50 {
		symbol := fmt.Sprintf("S%d", i)
		for k := range 20 {
			when := fmt.Sprintf([]string{
				"rsi(14) < %d and close > ema(200)", "crosses_above(close, ema(200)) and rsi(14) > %d", "macd(12,26,9).macd > macd(12,26,9).signal and rsi(14) < %d",
				"close > bbands(20,2).upper and volume > avg(volume, 20) * %d / 10", "close > highest(high, 20)[1] and rsi(14) > %d",
			}[k%5], 20+k)
			raw, _ := json.Marshal(when)
			var c book.Condition
			if err := json.Unmarshal([]byte(`{"indicator_signal":{"indicator":"rule","signal":"becomes_true","when":`+string(raw)+`}}`), &c); err != nil {
				b.Fatal(err)
			}
			if _, err := e.SetAlert(b.Context(), book.AlertRequest{Symbol: symbol, Condition: c, Repeat: book.EachTime}); err != nil {
				b.Fatal(err)
			}
		}
		s, _ := e.watch.Window(symbol, market.Hour1)
		s = s.Closed()
		last := s.Time[s.Len()-1]
		rounds = append(rounds, watch.Round{Key: watch.Key{Symbol: symbol, Interval: market.Hour1}, Bars: s, Progress: watch.Progress{After: last - 1, Through: last}})
	}
	for _, a := range e.book.Alerts {
		a.CreatedAt = book.Time{Time: time.Unix(0, 0)}
	}
	used := processorTime(b)
	for b.Loop() {
		for _, r := range rounds {
			e.judgeRound(b.Context(), r)
		}
	}
	b.ReportMetric(float64((processorTime(b)-used).Microseconds())/1000/float64(b.N), "cpu-ms/bar")
}

// processorTime returns what this process has used of the processors.
func processorTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
