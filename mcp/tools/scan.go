package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
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

const (
	// scanners is how many symbols of one scan are worked on at once. Each holds
	// the bars and values of one chart meanwhile, and only its row afterwards.
	scanners = 4

	// rowSignals is how many signals of a symbol are kept, the newest: more never
	// fit into a reply.
	rowSignals = 200
)

// row is what a scan found for one symbol.
type row struct {
	symbol    string
	err       error // why there is nothing else
	synthetic bool
	head      []any              // the cells before the values
	names     []string           // of the values, in order
	values    map[string]float64 // newest values, by name
	signals   []signal           // newest first
}

// scan computes the indicators of many symbols. Bars are always fetched, so the
// answer says nothing of what the engine watches.
func (h *handlers) scan(ctx context.Context, c mcp.Call, r *computation) (*mcp.Result, error) {
	symbols, err := r.scanned(h.Source)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(symbols))
	var g errgroup.Group
	g.SetLimit(scanners)
	var done atomic.Int64
	for i, symbol := range symbols {
		g.Go(func() error {
			q := r.covered()
			q.symbol = symbol
			v, err := h.view(ctx, q)
			if err == nil && v.Series.Len() == 0 {
				err = fmt.Errorf("there are no bars of %s", symbol)
			}
			if rows[i] = (row{symbol: symbol, err: err}); err == nil {
				rows[i].fill(v, r.bars)
			}
			c.Report(int(done.Add(1)), len(symbols))
			return nil
		})
	}
	g.Wait() // errors are told in the table
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(rows, func(r row) bool { return r.err == nil }) {
		return nil, fmt.Errorf("no symbol could be computed: %w", rows[0].err)
	}
	// Where a reply does not hold all of it, older signals are left out first,
	// then whole rows.
	t := tabulate(r, rows, rowSignals)
	for most := 16; len(t.LeftOut) > 0 && most > 0; most /= 2 {
		t = tabulate(r, rows, most)
	}
	return mcp.JSON(t), nil
}

// scanned returns the symbols of a scan in their one spelling, each once.
func (r *computation) scanned(source market.Source) ([]string, error) {
	given := r.symbols
	if r.symbol != "" {
		given = append([]string{r.symbol}, given...)
	}
	var symbols []string
	for _, text := range given {
		symbol, err := market.Resolve(source, text)
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

// fill takes from v what the table shows: the newest values, and the signals of
// the newest bars. A value is named by the indicator's key and, where that has
// several, by the line's label.
func (r *row) fill(v *chart.View, bars int) {
	s := v.Series
	n := s.Len()
	r.synthetic = s.Synthetic
	r.head = []any{s.Symbol, date(s.Time[n-1]), s.Close[n-1], number(chart.Change24h(s))}
	r.values = make(map[string]float64)
	for _, p := range v.Panels {
		for _, l := range p.Result.Lines {
			name := p.Key
			if len(p.Result.Lines)+len(p.Result.Histogram) > 1 {
				name += "." + l.Label
			}
			r.set(name, l.Values)
		}
		for _, l := range p.Result.Histogram {
			r.set(p.Key+".histogram", l.Values)
		}
		for _, g := range tail(p.Result.Signals, rowSignals, func(g indicators.Signal) bool { return n-g.Bar <= bars }) {
			r.signals = append(r.signals, signal{p.Key, g.Label, date(s.Time[g.Bar]), n - 1 - g.Bar})
		}
	}
	slices.SortStableFunc(r.signals, func(a, b signal) int { return a.BarsAgo - b.BarsAgo })
	r.signals = slices.Clone(r.signals[:min(len(r.signals), rowSignals)])
}

func (r *row) set(name string, values indicators.Values) {
	r.names = append(r.names, name)
	r.values[name] = math.NaN()
	if len(values) > 0 {
		r.values[name] = values[len(values)-1]
	}
}

// tabulate returns the rows as a table, with at most so many signals in each.
func tabulate(r *computation, rows []row, most int) table {
	t := table{Interval: r.interval, Source: "fetched", Bars: r.bars, Rows: []json.RawMessage{}, Failed: make(map[string]string)}
	var values []string // of all rows: an indicator may have other lines for another symbol
	for _, row := range rows {
		for _, name := range row.names {
			if !slices.Contains(values, name) {
				values = append(values, name)
			}
		}
	}
	t.Columns = slices.Concat([]string{"symbol", "date", "close", "change_24h"}, values, []string{"signals"})
	size := len(encode(t.Columns))
	for _, row := range rows {
		if row.err != nil {
			t.Failed[row.symbol] = row.err.Error()
			size += len(row.symbol) + len(row.err.Error())
			continue
		}
		cells := slices.Clone(row.head)
		for _, name := range values {
			value, ok := row.values[name]
			if !ok {
				value = math.NaN()
			}
			cells = append(cells, number(value))
		}
		shown := append([]signal{}, row.signals[:min(most, len(row.signals))]...)
		text := json.RawMessage(mcp.Encode(append(cells, shown)))
		if size += len(text); size > replySize {
			t.LeftOut = append(t.LeftOut, row.symbol)
			continue
		}
		t.Older += len(row.signals) - len(shown)
		t.Synthetic = t.Synthetic || row.synthetic
		t.Rows = append(t.Rows, text)
	}
	return t
}

// number writes a computed value as every payload does, with ten digits and
// null for what is none.
func number(v float64) json.RawMessage { return indicators.AppendValue(nil, v) }

func date(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }
