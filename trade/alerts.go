package trade

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"wick/internal/limit"
	"wick/market"
	"wick/trade/alert"
	"wick/trade/book"
	"wick/trade/watch"
)

// SetAlert makes an alert wait. When it returns without an error the alert is
// on disk and its symbol is watched.
//
// The same ClientAlertID with the same arguments returns the first alert. If that alert
// has ended meanwhile, its field Ended says how. With other arguments it is refused. What
// can be refused without loading bars is refused first.
func (e *Engine) SetAlert(ctx context.Context, r book.AlertRequest) (book.Alert, error) {
	if r.Changes != "" {
		return e.changeAlert(ctx, r)
	}
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

// changeAlert changes an active alert, under its id and in one step. One that repeats may fire
// meanwhile, and is changed as it is then; one that has ended is not changed.
func (e *Engine) changeAlert(ctx context.Context, r book.AlertRequest) (book.Alert, error) {
	var known *book.Alert
	err := e.View(func(s *book.State) { known = s.Alerts[r.Changes] })
	switch {
	case err != nil:
		return book.Alert{}, err
	case known == nil || known.Over(now()):
		return book.Alert{}, unknownAlert(r.Changes)
	case r.ClientAlertID != "" && r.ClientAlertID != known.ClientAlertID:
		return book.Alert{}, book.Refuse("bad_client_alert_id", "client_alert_id belongs to the call that set alert %s: leave it out of a change", known.ID)
	}
	if symbol, err := e.symbolOrAll(r.Symbol); err != nil {
		return book.Alert{}, err
	} else if symbol != "" && symbol != known.Symbol {
		return book.Alert{}, book.Refuse("bad_symbol", "alert %s is on %q and stays there: cancel it, and set another on %s", known.ID, known.Symbol, symbol)
	}
	whole := r
	if err := cmp.Or(known.Fill(&whole), whole.CheckExpiry(now())); err != nil {
		return book.Alert{}, err
	}
	a, err := e.newAlert(whole)
	if err == nil {
		err = e.prepare(ctx, a)
	}
	if err != nil {
		return book.Alert{}, err
	}
	err = e.Do(func(s *book.State) error {
		is := s.Alerts[r.Changes]
		switch {
		case is == nil:
			return unknownAlert(r.Changes)
		case !is.Same(known): // what r leaves out is now another
			return errBetween
		case is.Same(a):
			a = is
			return nil
		}
		at := now()
		is.Becomes(a, at)
		ev := &book.Event{At: at, Alert: a, By: r.Who.Short()}
		e.noteFor(ev, a.Symbol)
		return e.book.Propose(book.KindAlertChanged, ev)
	})
	if err == errBetween {
		return e.changeAlert(ctx, r)
	}
	return a.Public(), err
}

// unknownAlert refuses an id that no active alert has.
func unknownAlert(id string) *book.Refusal {
	return book.Refuse("unknown_alert", "no active alert has the id %q: it has fired, was cancelled or never was; "+
		"list_alerts shows the active ones and get_notifications those that fired", limit.Clip(id))
}

// newAlert returns the alert that r asks for, without an id, or refuses what cannot be
// right.
func (e *Engine) newAlert(r book.AlertRequest) (*book.Alert, error) {
	resolve := e.symbolOrAll
	if r.Condition.NeedsSymbol() {
		resolve = e.symbol
	}
	symbol, err := resolve(r.Symbol)
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
	if a.Condition.OnSignal() || a.Repeat == book.EachBar {
		a.Interval = e.options.Intervals[0]
		if r.Interval != "" {
			if a.Interval, err = market.ParseInterval(r.Interval); err != nil {
				return nil, book.Refuse("bad_interval", "%v", err)
			}
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
	if !a.Condition.OnSignal() {
		if a.Symbol != "" {
			if err := e.ensure(ctx, a.Symbol); err != nil {
				return err
			}
		}
		switch c := a.Condition; {
		case c.OnPrice():
			return e.watch.Of(a.Symbol).CheckExact(a.Symbol)
		case c.OnTime() && c.Moment.Next(c.Type, time.Now()).IsZero():
			return book.Refuse("bad_time", "%s %s is over", limit.Clip(c.Moment.Time), limit.Clip(c.Moment.Zone))
		case c.OnProfit():
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.book.CanProfit(c.Of)
		}
		return nil
	}
	w := alert.NewWaiting(a)
	if w.Err != nil {
		return w.Err
	}
	if err := w.CheckChart(); err != nil {
		return err
	}
	if err := e.ensure(ctx, a.Symbol, watch.Need{Interval: a.Interval, Bars: w.Bars()}); err != nil {
		return err
	}
	bars, _ := e.watch.Window(a.Symbol, a.Interval)
	return w.CheckBars(ctx, e.options.Source, bars)
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
	e.noteFor(ev, a.Symbol)
	return e.book.Propose(book.KindAlertSet, ev)
}

// noteFor notes in ev how far the market of its alert was judged, or that of an order that waits for
// its rule: after a crash it must not fire on a price that was judged before it was set. Called with
// mu held.
func (e *Engine) noteFor(ev *book.Event, symbol string) {
	if s := e.watch.Seen(symbol); s != nil && !s.Equal(e.book.Seen[symbol]) {
		ev.Seen, ev.Stops = map[string]*book.Seen{symbol: s}, e.book.Drawn(symbol)
	}
}

// Alerts returns the active alerts, oldest first: all of them, or those of one market if symbol
// is not empty.
func (e *Engine) Alerts(symbol string) (alerts []book.Alert, err error) {
	if symbol, err = e.symbolOrAll(symbol); err != nil {
		return nil, err
	}
	err = e.View(func(s *book.State) {
		alerts = make([]book.Alert, 0, len(s.Alerts))
		for _, a := range s.SortedAlerts() {
			if !a.Over(now()) && (symbol == "" || a.Symbol == symbol) {
				alerts = append(alerts, a.Public())
			}
		}
	})
	return alerts, err
}

// symbolOrAll returns a symbol as the source writes it, and an empty text, which stands for all,
// as it is.
func (e *Engine) symbolOrAll(symbol string) (string, error) {
	if symbol == "" {
		return "", nil
	}
	return e.symbol(symbol)
}

// History returns what alerts have told since a time, oldest first, of all markets or of one:
// the newest [book.MaxFired] firings are remembered, also of alerts that are gone.
func (e *Engine) History(symbol string, from time.Time) (fired []book.Notification, err error) {
	if symbol, err = e.symbolOrAll(symbol); err != nil {
		return nil, err
	}
	err = e.View(func(s *book.State) {
		for _, n := range s.Fired {
			if !n.TriggeredAt.Before(from) && (symbol == "" || n.Symbol == symbol) {
				fired = append(fired, *n)
			}
		}
	})
	return fired, err
}

// CancelAlert cancels an active alert on behalf of who, and returns it.
func (e *Engine) CancelAlert(who book.Who, id string) (book.Alert, error) {
	var a *book.Alert
	err := e.Do(func(*book.State) error {
		if a = e.book.Alerts[id]; a == nil {
			return unknownAlert(id)
		}
		return e.book.Propose(book.KindAlertGone, &book.Event{At: now(), Alert: a, By: who.Short()})
	})
	return a.Public(), err
}

// CancelAlerts cancels on behalf of who those of the active alerts that have one of the ids or,
// without ids, those of one market, or all if symbol is empty. It does so in one step, and
// returns their ids, and which of the ids no active alert has.
func (e *Engine) CancelAlerts(who book.Who, symbol string, ids []string) (cancelled, unknown []string, err error) {
	if symbol, err = e.symbolOrAll(symbol); err != nil {
		return nil, nil, err
	}
	err = e.Do(func(s *book.State) error {
		for _, id := range ids {
			if s.Alerts[id] == nil && !slices.Contains(unknown, id) {
				unknown = append(unknown, id)
			}
		}
		for _, a := range s.SortedAlerts() {
			if ids != nil && !slices.Contains(ids, a.ID) || symbol != "" && a.Symbol != symbol {
				continue
			}
			if err := e.book.Propose(book.KindAlertGone, &book.Event{At: now(), Alert: a, By: who.Short()}); err != nil {
				return err
			}
			cancelled = append(cancelled, a.ID)
		}
		return nil
	})
	return cancelled, unknown, err
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

// Pushed reports whether a subscription is told when a fires.
func (e *Engine) Pushed(a book.Alert) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.book.Recipients(&a)) > 0
}

// Standing returns how the market stands to the condition of a now. It returns nil if
// that is not known, or cannot be found out soon.
func (e *Engine) Standing(ctx context.Context, a book.Alert) *book.Standing {
	switch c := a.Condition; {
	case c.OnSignal():
		bars, _ := e.watch.Window(a.Symbol, a.Interval)
		return alert.NewWaiting(&a).Standing(ctx, e.options.Source, bars)
	case c.OnTime():
		return &book.Standing{Next: &book.Time{Time: c.Moment.Next(c.Type, time.UnixMilli(a.Since())).UTC()}}
	case c.OnProfit():
		e.mu.Lock()
		defer e.mu.Unlock()
		p, known := e.book.Profit(c.Of, a.Symbol, now())
		if !known {
			return nil
		}
		met := c.Has(p)
		return &book.Standing{Value: json.Number(p.String()), True: &met}
	}
	price := e.watch.Of(a.Symbol).Price
	if price == 0 {
		return nil
	}
	met := a.Condition.Met(price)
	return &book.Standing{Price: json.Number(price.String()), True: &met}
}

// Synthetic reports whether the prices of a symbol are invented. After a start, until the
// bars of the symbol are loaded, it goes by what the journal says.
func (e *Engine) Synthetic(symbol string) bool {
	if e.watch.Has(symbol) {
		return e.watch.Of(symbol).Synthetic
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.book.Seen[symbol]
	return s != nil && s.Synthetic
}
