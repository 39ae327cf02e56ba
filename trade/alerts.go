package trade

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"wick/indicators"
	"wick/internal/limit"
	"wick/market"
	"wick/trade/book"
)

// SetAlert makes an alert wait. When it returns without an error the alert is
// on disk and its symbol is watched.
//
// The same ClientAlertID with the same arguments returns the first alert. If that alert
// has ended meanwhile, its field Ended says how. With other arguments it is refused. What
// can be refused without loading bars is refused first.
func (e *Engine) SetAlert(ctx context.Context, r book.AlertRequest) (book.Alert, error) {
	a, err := e.newAlert(r)
	if err != nil {
		return book.Alert{}, err
	}
	if known, err := e.earlierAlert(a); known != nil || err != nil {
		return known.Public(), err
	}
	if err := r.CheckExpiry(now()); err != nil { // a retry of an alert that has expired got its answer above
		return book.Alert{}, err
	}
	// Loading takes a while and holds no lock, so an equal request may come in between.
	if err := e.prepare(ctx, a); err != nil {
		return book.Alert{}, err
	}
	var known *book.Alert // with the same id, that came in while we loaded bars
	err = e.Do(func(s *book.State) error {
		if known = s.Named[a.ClientAlertID]; known != nil {
			return nil
		}
		return e.addAlert(a)
	})
	if known != nil {
		a, err = e.earlierAlert(a)
	}
	return a.Public(), err
}

// newAlert returns the alert that r asks for, without an id, or refuses what cannot be
// right.
func (e *Engine) newAlert(r book.AlertRequest) (*book.Alert, error) {
	symbol, err := e.symbol(r.Symbol)
	if err != nil {
		return nil, err
	}
	if err := r.Condition.Check(); err != nil {
		return nil, err
	}
	if r.ClientAlertID != "" && !book.ClientIDShape.MatchString(r.ClientAlertID) {
		return nil, book.Refuse("bad_client_alert_id", "client_alert_id %q: 1 to 48 of A-Z a-z 0-9 . _ : -", limit.Clip(r.ClientAlertID))
	}
	if n := utf8.RuneCountInString(r.Note); n > book.MaxNote {
		return nil, book.Refuse("bad_note", "the note has %d characters, at most %d are taken", n, book.MaxNote)
	}
	a := &book.Alert{Symbol: symbol, Condition: r.Condition, By: r.Who.Short(), ClientAlertID: r.ClientAlertID, Note: r.Note}
	if err := a.Repeats(r); err != nil {
		return nil, err
	}
	// An alert on prices has no interval, unless it repeats on every bar.
	if a.Condition.Type == book.IndicatorSignal || a.Repeat == book.EachBar {
		if a.Interval, err = e.interval(r.Interval); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// earlierAlert returns the alert that a's ClientAlertID was used for, as it stands now,
// or nil. It waits until that alert is on disk: a crash must not lose an alert that a
// client was told of.
func (e *Engine) earlierAlert(a *book.Alert) (*book.Alert, error) {
	var known *book.Alert
	err := e.View(func(s *book.State) { known = s.Remembered(a.ClientAlertID, now()) })
	switch {
	case known == nil || err != nil:
		return nil, err
	case !known.Same(a):
		return nil, book.Refuse("client_alert_id_reused", "client_alert_id %q belongs to alert %s on %s with other arguments; for another alert choose another id",
			known.ClientAlertID, known.ID, known.Symbol)
	}
	return known, nil
}

// prepare loads the bars that a is judged by. It refuses an alert whose indicator would
// not have the values that a chart shows.
func (e *Engine) prepare(ctx context.Context, a *book.Alert) error {
	if a.Condition.Type != book.IndicatorSignal {
		if err := e.ensure(ctx, a.Symbol); err != nil {
			return err
		}
		return e.watch.of(a.Symbol).CheckExact(a.Symbol)
	}
	w := newSignalAlert(a)
	if w.err != nil {
		return w.err
	}
	if err := w.checkChart(); err != nil {
		return err
	}
	if err := e.ensure(ctx, a.Symbol, need{a.Interval, w.bars()}); err != nil {
		return err
	}
	if err := e.checkNeeds(ctx, a, w.request); err != nil {
		return err
	}
	return e.checkHistory(ctx, w)
}

// checkChart refuses an indicator whose values at a bar are not the same on
// every chart.
func (w signalAlert) checkChart() error {
	r, iv := w.request, w.alert.Interval
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

// checkHistory refuses an indicator that has no value on any of the bars that the
// source has.
func (e *Engine) checkHistory(ctx context.Context, w signalAlert) error {
	s, _ := e.watch.window(seriesKey{w.alert.Symbol, w.alert.Interval})
	if s == nil || len(w.request.Needs()) > 0 {
		return nil // dropped meanwhile, or not computed from these bars
	}
	list, err := w.request.Others(w.alert.Interval)
	if err == nil {
		s, err = market.LoadOthers(ctx, e.options.Source, s, list)
	}
	if err != nil {
		return err
	}
	if w.request.Known(s) {
		return nil
	}
	// With as many bars as it needs, here and in other places, it is not their number.
	tooFew := s.Len() <= w.request.WarmupAt(s.Interval, time.Now().Unix()) || slices.ContainsFunc(list, func(o market.OtherBars) bool {
		return s.Other(o.Other).Len() <= o.Warmup
	})
	if !tooFew {
		return book.Refuse("bad_indicator", "%s has no value on any of the %d bars of %s %s, though they are enough for its lengths: it is unknown on all of them, as a division by zero is",
			w.request.Label(), s.Len(), w.alert.Symbol, w.alert.Interval)
	}
	return book.Refuse("too_long", "%s has no value on the %d bars of %s %s that the source has: choose shorter lengths or a shorter interval",
		w.request.Label(), s.Len(), w.alert.Symbol, w.alert.Interval)
}

// checkNeeds refuses an alert whose indicator needs data beside the bars, such as open
// interest, that the source does not have: it could never fire.
func (e *Engine) checkNeeds(ctx context.Context, a *book.Alert, request indicators.Request) error {
	if len(request.Needs()) == 0 {
		return nil
	}
	s, err := e.options.Source.Bars(ctx, market.Query{Symbol: a.Symbol, Interval: a.Interval, Limit: 2, Extra: request.Needs()})
	if err != nil {
		return fmt.Errorf("no data of %s for %s: %w", a.Symbol, request.Ind.Name, err)
	}
	for _, column := range request.Needs() {
		if s.Extra[column] == nil {
			return book.Never.Refuse("no_data", "%s needs %s, which the source %s does not have for %s", request.Ind.Name, column, s.Source, a.Symbol)
		}
	}
	return nil
}

// addAlert gives a its id and takes the step, unless there are too many alerts.
// Called with mu held.
func (e *Engine) addAlert(a *book.Alert) error {
	if most := e.options.Limits.Alerts; len(e.book.Alerts) >= most {
		return book.Refuse("max_alerts", "%d alerts are active, which is the limit; cancel one with cancel_alert", most)
	}
	a.CreatedAt = now()
	a.ID = e.book.NewID("a")
	ev := &book.Event{At: a.CreatedAt, Alert: a}
	// After a crash the alert must not fire on a price that was judged before it was set.
	if s := e.watch.seen(a.Symbol); s != nil && !s.Equal(e.book.Seen[a.Symbol]) {
		ev.Seen, ev.Stops = map[string]*book.Seen{a.Symbol: s}, e.book.Drawn(a.Symbol)
	}
	return e.book.Propose(book.KindAlertSet, ev)
}

// interval settles the interval of an indicator alert.
func (e *Engine) interval(text string) (market.Interval, error) {
	if text == "" {
		return e.options.Intervals[0], nil
	}
	iv, err := market.ParseInterval(text)
	if err != nil {
		return "", book.Refuse("bad_interval", "%v", err)
	}
	return iv, nil
}

// Alerts returns the active alerts, oldest first.
func (e *Engine) Alerts() (alerts []book.Alert, err error) {
	err = e.View(func(s *book.State) {
		alerts = make([]book.Alert, 0, len(s.Alerts))
		for _, a := range s.SortedAlerts() {
			if !a.Over(now()) {
				alerts = append(alerts, a.Public())
			}
		}
	})
	return alerts, err
}

// CancelAlert cancels an active alert on behalf of who, and returns it.
func (e *Engine) CancelAlert(who book.Who, id string) (book.Alert, error) {
	var a *book.Alert
	err := e.Do(func(*book.State) error {
		if a = e.book.Alerts[id]; a == nil {
			return book.Refuse("unknown_alert", "no active alert has the id %q: it has fired, was cancelled or never was; "+
				"list_alerts shows the active ones and get_notifications those that fired", limit.Clip(id))
		}
		return e.book.Propose(book.KindAlertGone, &book.Event{At: now(), Alert: a, By: who.Short()})
	})
	return a.Public(), err
}

// forget removes the alerts that have expired. Called with mu held.
func (e *Engine) forget(at book.Time) error {
	for _, a := range e.book.SortedAlerts() {
		if !a.Expired(at, e.began) {
			continue
		}
		if err := e.book.Propose(book.KindAlertGone, &book.Event{At: at, Alert: a}); err != nil {
			return err
		}
	}
	return nil
}
