package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/chart"
	"wick/indicators"
	"wick/market"
	"wick/mcp"
)

// table is the answer of a scan: a row for each symbol, its cells in the order
// of the columns.
type table struct {
	Interval  market.Interval   `json:"interval"`
	Source    string            `json:"source"`
	Synthetic bool              `json:"synthetic"`
	Bars      int               `json:"bars"`    // newest bars whose signals are shown
	Columns   []string          `json:"columns"` // symbol, date and close of the newest bar, change_24h in percent, values, signals
	Rows      []json.RawMessage `json:"rows"`
	Failed    map[string]string `json:"failed,omitempty"`        // why a symbol has no row
	Older     int               `json:"older_signals,omitempty"` // how many were left out, the reply being full
	LeftOut   []string          `json:"left_out,omitempty"`      // symbols for another call, for the same reason
}

// signal is a signal in a row.
type signal struct {
	Indicator string `json:"indicator"`
	Label     string `json:"label"`
	Date      string `json:"date"`
	BarsAgo   int    `json:"bars_ago"`
}

// scanners is how many symbols of one scan are worked on at once.
const scanners = 4

// scan computes the indicators of many symbols. Bars are always fetched, so the
// answer says nothing of what the engine watches.
func (h *handlers) scan(ctx context.Context, r *computation) (*mcp.Result, error) {
	symbols, err := r.scanned()
	if err != nil {
		return nil, err
	}
	views := make([]*chart.View, len(symbols))
	failures := make([]error, len(symbols))
	var g errgroup.Group
	g.SetLimit(scanners)
	for i, symbol := range symbols {
		g.Go(func() error {
			q := r.covered()
			q.symbol = symbol
			views[i], failures[i] = h.view(ctx, q)
			if failures[i] == nil && views[i].Series.Len() == 0 {
				failures[i] = fmt.Errorf("there are no bars of %s", symbol)
			}
			return nil
		})
	}
	g.Wait() // failures are told in the table
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !slices.Contains(failures, nil) {
		return nil, fmt.Errorf("no symbol could be computed: %w", failures[0])
	}
	return tabulate(r, symbols, views, failures), nil
}

// scanned returns the symbols of a scan in their one spelling, each once.
func (r *computation) scanned() ([]string, error) {
	var symbols []string
	if r.symbol != "" {
		symbols = append(symbols, r.symbol)
	}
	for _, text := range r.symbols {
		symbol, err := market.ParseSymbol(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(symbols, symbol) {
			symbols = append(symbols, symbol)
		}
	}
	if len(symbols) > maxSymbols {
		return nil, fmt.Errorf("%d symbols are too many: at most %d a call", len(symbols), maxSymbols)
	}
	return symbols, nil
}

// tabulate writes the views as a table. Where a reply does not hold all of it,
// older signals are left out first, then whole rows.
func tabulate(r *computation, symbols []string, views []*chart.View, failures []error) *mcp.Result {
	t := newTable(r, symbols, views, failures, maxBars*maxIndicators)
	for most := 16; len(t.LeftOut) > 0 && most > 0; most /= 2 {
		t = newTable(r, symbols, views, failures, most)
	}
	return &mcp.Result{Content: []mcp.Content{{Text: []byte(encode(t))}}}
}

// newTable returns the table with at most so many signals in a row.
func newTable(r *computation, symbols []string, views []*chart.View, failures []error, most int) table {
	t := table{Interval: r.interval, Source: "fetched", Bars: r.bars, Rows: []json.RawMessage{}, Failed: make(map[string]string)}
	t.Columns = slices.Concat([]string{"symbol", "date", "close", "change_24h"}, columns(views), []string{"signals"})
	size := len(encode(t.Columns))
	for i, v := range views {
		if err := failures[i]; err != nil {
			t.Failed[symbols[i]] = err.Error()
			size += len(symbols[i]) + len(err.Error())
			continue
		}
		cells, signals := t.row(v, r.bars)
		t.Older += max(0, len(signals)-most)
		row := json.RawMessage(encode(append(cells, signals[:min(most, len(signals))])))
		if size += len(row); size > replySize {
			t.LeftOut = append(t.LeftOut, symbols[i])
			continue
		}
		t.Synthetic = t.Synthetic || v.Series.Synthetic
		t.Rows = append(t.Rows, row)
	}
	return t
}

// columns returns the names of all values in the views: the indicator's key,
// and the line's label where it has several.
func columns(views []*chart.View) (names []string) {
	for _, v := range views {
		each(v, func(name string, _ float64) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		})
	}
	return names
}

// each calls f with every newest value of v, which may be nil, and the name of
// its column.
func each(v *chart.View, f func(name string, value float64)) {
	if v == nil {
		return
	}
	for _, p := range v.Panels {
		for _, l := range p.Result.Lines {
			name := p.Key
			if len(p.Result.Lines)+len(p.Result.Histogram) > 1 {
				name += "." + l.Label
			}
			f(name, last(l.Values))
		}
		for _, l := range p.Result.Histogram {
			f(p.Key+".histogram", last(l.Values))
		}
	}
}

// last returns the newest value, NaN when there is none.
func last(values indicators.Values) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return values[len(values)-1]
}

// row returns the cells of one symbol, and the signals of its newest bars, the
// newest first.
func (t *table) row(v *chart.View, bars int) (cells []any, signals []signal) {
	s := v.Series
	n := s.Len()
	values := make(map[string]float64)
	each(v, func(name string, value float64) { values[name] = value })
	cells = []any{s.Symbol, date(s.Time[n-1]), s.Close[n-1], number(chart.Change24h(s))}
	for _, name := range t.Columns[len(cells) : len(t.Columns)-1] {
		value, ok := values[name]
		if !ok {
			value = math.NaN()
		}
		cells = append(cells, number(value))
	}
	signals = []signal{}
	for _, p := range v.Panels {
		for _, s := range p.Result.Signals {
			if ago := n - 1 - s.Bar; ago < bars {
				signals = append(signals, signal{p.Key, s.Label, date(v.Series.Time[s.Bar]), ago})
			}
		}
	}
	slices.SortStableFunc(signals, func(a, b signal) int { return a.BarsAgo - b.BarsAgo })
	return cells, signals
}

// number writes a computed value as every payload does, with ten digits and
// null for what is none.
func number(v float64) json.RawMessage { return indicators.AppendValue(nil, v) }

func date(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }
