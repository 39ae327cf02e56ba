package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"wick/chart"
	"wick/indicators"
	"wick/internal/limit"
	"wick/market"
	"wick/mcp"
)

const (
	// computedBars is how many bars a computation covers at least; earlier ones are only
	// its warm-up.
	computedBars = 200

	signalBars = 20  // newest bars whose signals come back by default
	maxSymbols = 200 // symbols of one call
)

// computation is the request of get_indicators: about symbol or, as a scan, about
// symbols.
type computation struct {
	question
	symbols []string
	sort    string // an expression; empty for none
	counted bool   // bars were asked for
}

func (r *computation) args() []arg {
	return []arg{
		symbol(&r.symbol, "Such as BTCUSDT, AAPL or EURUSD=X."),
		requests(&r.indicators, `Names from list_indicators, or objects such as {"name":"rsi","length":21}.`, ""),
		interval(&r.interval, "Length of a bar.", market.Hour4),
		whole(&r.bars, "bars", "How many, the newest, with their signals; without it 200 with the signals of 20. A backtest trades so many, at least 200.", signalBars, 1, maxBars),
		words(&r.symbols, "symbols", "Scan several: one table, a row for each, with change_24h in percent, since change_24h_since. @name is a list of the operator's.", maxSymbols),
		text(&r.sort, "sort", "With symbols: order the rows by an expression such as rsi(14), highest first; rsi(14) asc is lowest first. Also change_24h, up to interval 1d.", 400).also("sort_by", "order_by"),
	}
}

var errNoSymbol = errors.New("symbol is required, such as BTCUSDT; symbols may be given in its place")

// check refuses a request without a symbol. One that was refused is not missing.
func (r *computation) check(sent sent) error {
	r.counted = sent["bars"] != nil
	if sent["symbol"] == nil && sent["symbols"] == nil {
		return errNoSymbol
	}
	return nil
}

// covered returns the question that r asks. It covers the bars that were asked for, or else as many
// as a chart shows, even if the signals of fewer come back: so an indicator that describes all bars,
// such as a volume profile, has the values that the chart of them shows. A scan and a backtest cover
// no fewer.
func (r *computation) covered() question {
	q := r.question
	backtest := slices.ContainsFunc(r.indicators, func(i indicators.Request) bool { return i.Ind.Name == "backtest" })
	if !r.counted || backtest || len(r.symbols) > 0 {
		q.bars = max(computedBars, r.bars)
	}
	return q
}

// getIndicators defines get_indicators: values of one symbol, or a scan of many.
func (h *handlers) getIndicators() tool {
	return define(mcp.Tool{
		Name:  "get_indicators",
		Title: "Indicator values",
		Description: "The newest value of each line, recent signals and levels of indicators, of one symbol or of many in a table; the values of more bars are in generate_chart with format=series. " +
			"{\"name\":\"rule\",\"when\":\"rsi(14) < 30 and close > ema(200)@1d\"} says which make it true and since when. " +
			"{\"name\":\"backtest\",\"enter\":\"ema(10) crosses above ema(30)\",\"exit\":\"rsi(14) > 70\",\"stop_loss\":3} with bars 5000 says what trading that would have made; list_indicators names [backtest] has its targets, sizes, fees and splits. " +
			reading + " Of signals, " + leaving + ".",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		Cost:        mcp.Heavy,
	}, reports, (*computation).args, (*computation).check, func(ctx context.Context, c mcp.Call, r *computation) (*mcp.Result, error) {
		switch {
		case len(r.symbols) > 0:
			return h.scan(ctx, c, r)
		case r.symbol == "":
			return nil, fixable(errNoSymbol)
		}
		return h.computation(ctx, c.Caller, r)
	})
}

// computation answers get_indicators for one symbol. It uses the bars that the engine
// holds if they are enough for the values that a longer history would give, and fetches
// bars otherwise.
func (h *handlers) computation(ctx context.Context, caller mcp.Caller, r *computation) (*mcp.Result, error) {
	q := r.covered()
	source := "fetched"
	var v *chart.View
	var err error
	if q.symbol, err = market.Resolve(h.Source, q.symbol); err != nil {
		return nil, fixable(err)
	}
	if window := h.window(ctx, caller, q); window != nil {
		source = "engine_cache"
		v, err = compute(ctx, window, q.indicators, q.bars)
	} else {
		v, _, err = h.span(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	return &mcp.Result{Content: bounded(chart.Computed(v, source, r.bars), v.Series, replySize)}, nil
}

// window returns the engine's bars if they are enough to answer the question, else nil.
// It returns nil for a caller that may not trade: the reply says where its bars come from,
// and so would tell which symbols the owner trades.
func (h *handlers) window(ctx context.Context, caller mcp.Caller, q question) *market.Series {
	if !h.mayRead(ctx, caller) {
		return nil
	}
	s, ok := h.Engine.Window(q.symbol, q.interval)
	if !ok {
		return nil
	}
	for _, req := range q.indicators {
		others, err := req.Others(q.interval)
		if err != nil || len(others)+len(req.Needs()) > 0 || q.bars+req.WarmupAt(q.interval, s.Time[s.Len()-1]) > s.Len() {
			return nil
		}
	}
	return s
}

// table is the answer of a scan: a row for each symbol, its cells in the order
// of the columns.
type table struct {
	Interval  market.Interval   `json:"interval"`
	Source    string            `json:"source"`
	Synthetic bool              `json:"synthetic"`
	Bars      int               `json:"bars"`    // newest bars whose signals are shown
	Columns   []string          `json:"columns"` // symbol, date of the newest bar, whether that has not closed yet, its close, change_24h in percent, values, since when change_24h is, signals
	Rows      []json.RawMessage `json:"rows"`
	Failed    map[string]string `json:"failed,omitempty"`        // why a symbol has no row
	Older     int               `json:"older_signals,omitempty"` // how many signals were left out because the reply was full
	LeftOut   []string          `json:"left_out,omitempty"`      // symbols that were left out for the same reason, for another call
	Note      string            `json:"note,omitempty"`          // why a row has no change_24h
}

// signal is a signal in a row.
type signal struct {
	Indicator string `json:"indicator"`
	Label     string `json:"label"`
	Date      string `json:"date"`
	BarsAgo   int    `json:"bars_ago"`
}

const (
	// scanners is how many symbols of one scan are computed at once. Each holds the bars
	// and values of one chart meanwhile; afterwards only its row is kept.
	scanners = 4

	// rowSignals is how many signals of a symbol are kept, the newest: more would never
	// fit into a reply.
	rowSignals = 200
)

// row is what a scan found for one symbol. It holds texts and a few numbers but no bars,
// which would take most of the memory of two hundred symbols.
type row struct {
	symbol    string
	err       error // if not nil, the symbol failed and the fields below are zero
	synthetic bool
	head      []any                      // the cells before the values
	names     []string                   // of the values, in order
	cells     map[string]json.RawMessage // newest values and facts, by name
	sort      float64                    // what the rows are ordered by
	since     any                        // when the change of a day counts from; nil without one
	noChange  bool                       // that could not be computed
	holds     bool                       // a rule is true on the newest bar
	signals   []signal                   // newest first
}

// scan computes the indicators of many symbols and returns one table. Bars are always
// fetched, so the answer does not tell what the engine watches. A symbol that fails is
// named with the reason, and the others still have their rows.
func (h *handlers) scan(ctx context.Context, c mcp.Call, r *computation) (*mcp.Result, error) {
	symbols, malformed, err := r.scanned(h.Source, h.Watchlists)
	if err != nil {
		return nil, fixable(err)
	}
	// The expression by which rows are ordered is computed as one more indicator, under a
	// key of its own. The change of a day needs none: it is a column anyway, but bars of a
	// whole day must be fetched.
	q := r.covered()
	expr, sign := ranking(r.sort)
	switch {
	case expr == changeColumn && r.interval.Seconds() > market.Day1.Seconds():
		return nil, fixable(fmt.Errorf("sort %s needs bars of a day or shorter, and these are of %s: take interval %s or a shorter one", expr, r.interval, market.Day1))
	case expr == changeColumn:
		q.least = int(market.Day1.Seconds()/r.interval.Seconds()) + 3 // with the bar before it and the one that is forming, and one to spare
	case expr != "":
		by, err := indicators.New("formula", map[string]json.RawMessage{"expr": json.RawMessage(encode(expr))})
		if err == nil {
			err = cmp.Or(by.Check(), by.CanRank())
		}
		if err != nil {
			return nil, fixable(fmt.Errorf("sort: %w", err))
		}
		by.Key = sortKey
		q.indicators = append(slices.Clone(q.indicators), by)
	}
	rows, err := h.computeAll(ctx, c, q, symbols, r.bars)
	if err != nil {
		return nil, err
	}
	rows = append(rows, malformed...)
	if !slices.ContainsFunc(rows, func(r row) bool { return r.err == nil }) {
		var reasons []string
		for _, r := range rows {
			reasons = append(reasons, fmt.Sprintf("%s: %v", r.symbol, r.err))
		}
		return nil, errors.New("no symbol could be computed: " + atMostTen(reasons))
	}
	// By the sort value, NaN last, or else those first for which a rule is true. Equal rows
	// stay in the order in which the symbols were given.
	slices.SortStableFunc(rows, func(a, b row) int {
		switch {
		case expr != "":
			return cmp.Compare(sign*b.sort, sign*a.sort)
		case a.holds == b.holds:
			return 0
		case a.holds:
			return -1
		}
		return 1
	})
	// If the table does not fit into a reply, older signals are left out first, then the
	// last rows.
	t := tabulate(r, rows, rowSignals)
	if len(t.LeftOut) > 0 {
		t = tabulate(r, rows, 1+sort.Search(rowSignals-1, func(i int) bool { return len(tabulate(r, rows, i+2).LeftOut) > 0 }))
	}
	result := mcp.JSON(t)
	if n := len(t.LeftOut); n > 0 {
		result.Content = append(result.Content, mcp.Content{Text: fmt.Appendf(nil,
			"%d more of %d symbols: call get_indicators with those in left_out for the next ones; fewer indicators make shorter rows.", n, len(rows))})
	}
	return result, nil
}

// computeAll returns a row for each symbol, with what q asks for and the signals of the
// newest bars, or with an error, which the table shows. The change of a day is computed from
// the bars that the values cover, or from q.least bars if that is more; the values are the same
// either way.
func (h *handlers) computeAll(ctx context.Context, c mcp.Call, q question, symbols []string, bars int) ([]row, error) {
	// Each goroutine writes the row of its own index, so the rows need no lock.
	rows := make([]row, len(symbols))
	var done atomic.Int64
	giveWay := func() {
		if ctx.Err() == nil {
			c.GiveWay()
		}
	}
	each(scanners, len(symbols), giveWay, func(i int) {
		if ctx.Err() != nil {
			return // nobody wants the rest
		}
		q, r := q, &rows[i]
		q.symbol, r.symbol = symbols[i], symbols[i]
		s, err := h.load(ctx, q)
		if err == nil && s.Len() == 0 {
			err = fmt.Errorf("there are no bars of %s", q.symbol)
		}
		var v *chart.View
		if err == nil {
			v, err = compute(ctx, s, q.indicators, q.bars)
		}
		if r.err = err; err == nil {
			r.fill(v, s.Tail(max(q.bars, q.least)), bars)
		}
		if ctx.Err() == nil { // else the row may be none, and would be told as done
			c.Report(int(done.Add(1)), len(symbols))
		}
	})
	return rows, ctx.Err()
}

// ranking splits the argument sort into an expression and the direction that may follow
// it, asc or desc. The sign is -1 for lowest first. Without a direction the highest comes
// first.
func ranking(sort string) (expr string, sign float64) {
	at := max(0, strings.LastIndexByte(sort, ' '))
	switch strings.ToLower(sort[at:]) {
	case " asc", " ascending":
		return sort[:at], -1
	case " desc", " descending":
		return sort[:at], 1
	}
	return sort, 1
}

// ListName is what the name of a list of symbols looks like: a scan writes it after an @.
var ListName = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// scanned returns the symbols of a scan as the source spells them, each once, and a row
// with an error for each text that is not a symbol. If that is the only text, scanned
// returns its error. "@name" stands for the symbols of a list.
func (r *computation) scanned(source market.Source, lists map[string][]string) (symbols []string, malformed []row, err error) {
	given := r.symbols
	if r.symbol != "" {
		given = append([]string{r.symbol}, given...)
	}
	// First lists replace their names, then every symbol is resolved: lists may contain the
	// same symbol in different spellings.
	var all []string
	for _, text := range given {
		name, isList := strings.CutPrefix(text, "@")
		if list := lists[strings.ToLower(name)]; isList && list == nil {
			there := ": the operator names none with --watchlist; give the symbols themselves"
			if len(lists) > 0 {
				there = "; there are @" + strings.Join(slices.Sorted(maps.Keys(lists)), ", @")
			}
			return nil, nil, fmt.Errorf("there is no list %q%s", limit.Clip(text), there)
		} else if isList {
			all = append(all, list...)
		} else {
			all = append(all, text)
		}
	}
	for _, text := range all {
		symbol, err := market.Resolve(source, text)
		if err != nil {
			malformed = append(malformed, row{symbol: limit.Clip(text), err: err})
		} else if !slices.Contains(symbols, symbol) {
			symbols = append(symbols, symbol)
		}
	}
	switch n := len(symbols) + len(malformed); {
	case n > maxSymbols:
		return nil, nil, fmt.Errorf("%d symbols are too many: at most %d a call", n, maxSymbols)
	case len(symbols) == 0 && n == 1:
		return nil, nil, malformed[0].err
	}
	return symbols, malformed, nil
}

const (
	sortKey      = "sort"       // the key and the column of the expression that rows are ordered by
	changeColumn = "change_24h" // a column, by which rows can be ordered too
)

// fill sets the fields of the row from v, the newest values and the signals of the newest
// bars, and from day, the change of a day. A value is named by the indicator's key and, if
// the indicator has several, by the line's label.
func (r *row) fill(v *chart.View, day *market.Series, bars int) {
	s := v.Series
	n := s.Len()
	r.synthetic = s.Synthetic
	change, since, _ := chart.Change24h(day)
	r.sort, r.noChange = change, math.IsNaN(change) // an expression replaces it below
	r.head = []any{s.Symbol, stamp(s.Time[n-1]), s.Forming, s.Close[n-1], number(change)}
	if !r.noChange {
		r.since = stamp(since)
	}
	r.cells = make(map[string]json.RawMessage)
	for _, p := range v.Panels {
		lines, histogram, shaded := p.Result.Lines, p.Result.Histogram, p.Result.Shaded
		if p.Key == sortKey {
			r.sort = last(lines[0].Values)
		}
		r.holds = r.holds || len(shaded) > 0 && shaded[len(shaded)-1]
		for _, f := range p.Result.Facts {
			if !slices.Contains([]string{"how", "leaves", indicators.Trades, indicators.OtherBars}, f.Name) { // these are the same in every row, or too long
				r.set(p.Key+"."+f.Name, f.Value)
			}
		}
		for _, l := range lines {
			name := p.Key
			if len(lines)+len(histogram) > 1 {
				name += "." + l.Label
			}
			r.set(name, number(last(l.Values)))
		}
		for _, l := range histogram {
			name := "histogram"
			if len(histogram) > 1 {
				name = l.Label
			}
			r.set(p.Key+"."+name, number(last(l.Values)))
		}
		// The levels of an indicator that has nothing else, such as a volume profile; those of
		// others are the same in every row. Several of one name are numbered.
		for _, h := range p.Result.HLines {
			name := p.Key + "." + h.Label
			for n := 2; r.cells[name] != nil; n++ {
				name = fmt.Sprintf("%s.%s#%d", p.Key, h.Label, n)
			}
			if len(lines)+len(histogram) == 0 {
				r.set(name, number(h.Y))
			}
		}
		if shaded != nil || p.Key == sortKey {
			continue // the facts of a rule say since when it is true, and of the sort expression only the value is needed
		}
		for _, g := range p.Result.Signals[max(0, len(p.Result.Signals)-rowSignals):] {
			if n-g.Bar <= bars {
				r.signals = append(r.signals, signal{p.Key, g.Label, stamp(s.Time[g.Bar]), n - 1 - g.Bar})
			}
		}
	}
	// The newest come first. The clone lets the longer array be freed.
	slices.SortStableFunc(r.signals, func(a, b signal) int { return a.BarsAgo - b.BarsAgo })
	r.signals = slices.Clone(r.signals[:min(len(r.signals), rowSignals)])
}

// set adds a cell with its name, which becomes a column of the table.
func (r *row) set(name string, cell json.RawMessage) {
	r.names = append(r.names, name)
	r.cells[name] = cell
}

// last returns the newest value, NaN if there is none.
func last(values indicators.Values) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return values[len(values)-1]
}

// tabulate returns the rows as a table, with at most most signals in each. All rows have
// the same columns: a value that a symbol lacks is null. The first row that does not fit
// into a reply and all after it are only named in LeftOut.
func tabulate(r *computation, rows []row, most int) table {
	t := table{Interval: r.interval, Source: "fetched", Bars: r.bars, Rows: []json.RawMessage{}, Failed: make(map[string]string)}
	var values []string // names of all rows: an indicator may have other lines for another symbol
	size := 0           // the length of the reply so far, with the names of all symbols, which may be left out
	for _, row := range rows {
		for _, name := range row.names {
			if !slices.Contains(values, name) {
				values = append(values, name)
			}
		}
		size += len(row.symbol) + len(`"",`)
	}
	t.Columns = slices.Concat([]string{"symbol", "date", "forming", "close", changeColumn}, values, []string{"change_24h_since", "signals"})
	size += len(encode(t.Columns))
	for i, row := range rows {
		text, shown := row.text(values, most)
		// The first row is in the table however long it is: if even that were left out, a
		// client that asks for the rest again and again would never be done.
		if size += len(text); i > 0 && (size > replySize || len(t.LeftOut) > 0) {
			t.LeftOut = append(t.LeftOut, row.symbol)
			continue
		}
		if row.err != nil {
			t.Failed[row.symbol] = row.err.Error()
			continue
		}
		t.Older += len(row.signals) - shown
		t.Synthetic = t.Synthetic || row.synthetic
		t.Rows = append(t.Rows, text)
		if row.noChange {
			t.Note = changeColumn + " is null where the bars do not reach back a day or are longer than one: sort " + changeColumn + " fetches more of them where there are more."
		}
	}
	return t
}

// text returns the row as JSON with at most most signals, and how many signals it shows.
// The text of a row that failed is its error.
func (r *row) text(values []string, most int) (text json.RawMessage, shown int) {
	if r.err != nil {
		return mcp.Encode(r.err.Error()), 0
	}
	cells := slices.Clone(r.head)
	for _, name := range values {
		cell, ok := r.cells[name]
		if !ok {
			cell = number(math.NaN())
		}
		cells = append(cells, cell)
	}
	shown = min(most, len(r.signals))
	return mcp.Encode(append(cells, r.since, append([]signal{}, r.signals[:shown]...))), shown
}

// number returns a computed value as JSON, as every payload has it: with ten digits, and
// null for NaN and the infinities.
func number(v float64) json.RawMessage { return indicators.AppendValue(nil, v) }
