package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"wick/indicators"
	"wick/market"
	"wick/trade/book"
)

// CheckChart refuses an indicator whose values at a bar are not the same on
// every chart.
func (w Waiting) CheckChart() error {
	r, iv := w.request, w.Interval
	warmup := r.WarmupAt(iv, time.Now().Unix())
	_, err := r.Others(iv)
	switch {
	case err != nil:
		return book.Refuse("bad_indicator", "%v", err)
	case r.Slides():
		return book.Refuse("bad_indicator", "%s without a beginning starts at the first bar of a chart and moves with it: give its %s, a moment such as 2026-01-31", r.Ind.Name, beginning(r.Ind))
	case r.Endless() != "":
		return book.Refuse("bad_indicator", "%s runs from the first bar loaded, so its values depend on how many bars there are: set %s", r.Label(), r.Endless())
	case warmup > indicators.MaxWarmup:
		return book.Refuse("too_long", "%s needs %d bars of %s before the newest one, a chart loads at most %d: choose shorter lengths, a longer interval or a later anchor",
			r.Label(), warmup, iv, indicators.MaxWarmup)
	}
	return nil
}

// beginning names the parameter that says where an indicator begins.
func beginning(ind *indicators.Indicator) string {
	for _, p := range ind.Params {
		if p.Kind == indicators.Date {
			return p.Name
		}
	}
	return "source an anchor or from"
}

// CheckBars refuses an indicator that has no value on any of the bars that the source has, and
// one that needs data beside the bars, such as open interest, which the source does not have: it
// could never fire. Bars are those of its window, nil if the symbol was dropped meanwhile.
func (w Waiting) CheckBars(ctx context.Context, source market.Source, bars *market.Series) error {
	if needs := w.request.Needs(); len(needs) > 0 {
		s, err := source.Bars(ctx, market.Query{Symbol: w.Symbol, Interval: w.Interval, Limit: 2, Extra: needs})
		if err != nil {
			return fmt.Errorf("no data of %s for %s: %w", w.Symbol, w.request.Ind.Name, err)
		}
		for _, column := range needs {
			if s.Extra[column] == nil {
				return book.Never.Refuse("no_data", "%s needs %s, which the source %s does not have for %s", w.request.Ind.Name, column, s.Source, w.Symbol)
			}
		}
		return nil
	}
	if bars == nil {
		return nil
	}
	list, err := w.request.Others(w.Interval)
	if err == nil {
		bars, err = market.LoadOthers(ctx, source, bars, list)
	}
	if err != nil || w.request.Known(bars) {
		return err
	}
	// With as many bars as it needs, here and in other places, it is not their number.
	if bars.Len() <= w.request.WarmupAt(bars.Interval, time.Now().Unix()) || slices.ContainsFunc(list, func(o market.OtherBars) bool {
		return bars.Other(o.Other).Len() <= o.Warmup
	}) {
		return book.Refuse("too_long", "%s has no value on the %d bars of %s %s that the source has: choose shorter lengths or a shorter interval",
			w.request.Label(), bars.Len(), w.Symbol, w.Interval)
	}
	return book.Refuse("bad_indicator", "%s has no value on any of the %d bars of %s %s, though they are enough for its lengths: it is unknown on all of them, as a division by zero is",
		w.request.Label(), bars.Len(), w.Symbol, w.Interval)
}

// standingTimeout bounds how long the source may take for Standing. The alert is set by
// then, and its client waits for the answer.
const standingTimeout = 2 * time.Second

// Standing returns how the market stands to the condition of an alert on a signal now. It is
// computed like the alert itself, on the newest closed bar. It returns nil if that is not known,
// or cannot be found out in time: the source is asked only for bars of other markets and
// intervals that a rule names.
func (w Waiting) Standing(ctx context.Context, source market.Source, bars *market.Series) *book.Standing {
	if w.Err != nil || bars == nil || bars.Closed().Len() == 0 || len(w.request.Needs()) > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, standingTimeout)
	defer cancel()
	list, err := w.request.Others(w.Interval)
	if err == nil {
		bars, err = market.LoadOthers(ctx, source, bars.Closed(), list)
	}
	if err != nil {
		return nil
	}
	st := atClose(w.request, bars, bars.Len()-1).standing()
	st.Bar = time.Unix(bars.Time[bars.Len()-1], 0).UTC().Format(time.RFC3339)
	return st
}

// standing returns what c says at its last closed bar: the values of a rule's operands and whether
// it is true, or the lines and histograms of another indicator.
func (c *closed) standing() *book.Standing {
	st := &book.Standing{Values: make(map[string]json.RawMessage)}
	// The result of a rule is in its facts, that of another indicator in its lines and histograms.
	if c.Shaded == nil {
		for _, l := range c.Lines {
			st.Values[l.Label] = indicators.AppendValue(nil, l.Values[c.bar])
		}
		for _, h := range c.Histogram {
			st.Values[h.Label] = indicators.AppendValue(nil, h.Values[c.bar])
		}
		return st
	}
	for _, f := range c.Facts {
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
	return st
}
