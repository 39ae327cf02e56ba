package trade

import (
	"context"
	"encoding/json"
	"time"

	"wick/indicators"
	"wick/market"
	"wick/trade/book"
)

// standingTimeout bounds how long the source may take for Standing. The alert is set by
// then, and its client waits for the answer.
const standingTimeout = 2 * time.Second

// Standing returns how the market stands to the condition of a now. It returns nil if
// that is not known, or cannot be found out within standingTimeout.
func (e *Engine) Standing(ctx context.Context, a book.Alert) *book.Standing {
	if a.Condition.Type != book.IndicatorSignal {
		price := e.watch.of(a.Symbol).Price
		if price == 0 {
			return nil
		}
		met := a.Condition.Met(price)
		return &book.Standing{Price: json.Number(price.String()), True: &met}
	}
	r, s := e.closedBars(ctx, &a)
	if s == nil || s.Len() == 0 {
		return nil
	}
	// This is computed like the alert itself, on the newest closed bar. The result of a
	// rule is in its facts, that of another indicator in its lines and histograms.
	c := atClose(r, s, s.Len()-1)
	st := &book.Standing{Bar: time.Unix(s.Time[s.Len()-1], 0).UTC().Format(time.RFC3339), Values: make(map[string]json.RawMessage)}
	if c.Shaded != nil {
		read(st, c.Facts)
		return st
	}
	for _, l := range c.Lines {
		st.Values[l.Label] = indicators.AppendValue(nil, l.Values[c.bar])
	}
	for _, h := range c.Histogram {
		st.Values[h.Label] = indicators.AppendValue(nil, h.Values[c.bar])
	}
	return st
}

// closedBars returns the indicator of a and the closed bars that it is judged on, or nil
// in place of the bars if they are not at hand. It asks the source only for bars of other
// markets and intervals that a rule names.
func (e *Engine) closedBars(ctx context.Context, a *book.Alert) (indicators.Request, *market.Series) {
	w := newSignalAlert(a)
	s, _ := e.watch.window(seriesKey{a.Symbol, a.Interval})
	if w.err != nil || s == nil || len(w.request.Needs()) > 0 {
		return w.request, nil
	}
	ctx, cancel := context.WithTimeout(ctx, standingTimeout)
	defer cancel()
	list, err := w.request.Others(a.Interval)
	if err == nil {
		s, err = market.LoadOthers(ctx, e.options.Source, s.Closed(), list)
	}
	if err != nil {
		return w.request, nil
	}
	return w.request, s
}

// read takes over the facts of a rule.
func read(st *book.Standing, facts []indicators.Fact) {
	for _, f := range facts {
		var err error
		switch {
		case f.Name == "true":
			err = json.Unmarshal(f.Value, &st.True)
		case f.Name == "since":
			err = json.Unmarshal(f.Value, &st.Since)
		case f.Name == indicators.AtLeast:
			st.AtLeast = true
		case f.Name == indicators.OtherBars:
			err = json.Unmarshal(f.Value, &st.Bars)
		case f.Name != "bars":
			st.Values[f.Name] = f.Value
		}
		if err != nil {
			panic("trade: a fact of a rule: " + err.Error()) // we wrote it
		}
	}
}

// Synthetic reports whether the prices of a symbol are invented. After a start, until the
// bars of the symbol are loaded, it goes by what the journal says.
func (e *Engine) Synthetic(symbol string) bool {
	if in := e.watch.of(symbol); in.windows != nil {
		return in.Synthetic
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.book.Seen[symbol]
	return s != nil && s.Synthetic
}
