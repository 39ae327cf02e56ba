package trade

import "time"

// breaker makes ev the step to reducing if the account has reached the limit of the
// daily loss on this day, in UTC. Once it has, trading stays reducing for the rest of the
// day, whatever the prices do, also after a restart. Called with mu held.
func (e *Engine) breaker(ev *event) {
	if day := e.lossDay(ev.At); day != "" {
		ev.Trading, ev.Tripped, ev.By = Reducing, day, &byLoss
	}
}

// byLoss is who changes the trading state when the account has lost too much.
var byLoss = Who{Name: "--max-daily-loss"}

// keepTripped notes in ev that the account has reached the limit of the daily loss today,
// before or only now, if something else restricts trading: once that is over, the loss
// counts. A halt keeps the day of an earlier loss as well, which means nothing any more, so
// that midnight is no change that the owner is told of. Called with mu held.
func (e *Engine) keepTripped(ev *event) {
	if ev.Tripped != "" || ev.Trading == Active {
		return
	}
	ev.Tripped = e.lossDay(ev.At)
	switch {
	case ev.Tripped == "" && ev.Trading == Halted:
		ev.Tripped = e.ahead.tripped
	case ev.Tripped != e.ahead.tripped && ev.Trading == e.ahead.trading:
		ev.By = &byLoss // the loss is all that is new
	}
}

// lossDay returns the day of a step if the account has reached the limit of the daily loss
// on it, else "". Called with mu held.
func (e *Engine) lossDay(at Time) string {
	today := at.UTC().Format(time.DateOnly)
	if e.options.Limits.DailyLoss == 0 || e.ahead.tripped != today && !e.lost(today) && !e.lostAtBroker() {
		return ""
	}
	return today
}

// lostAtBroker is lost for the account at the broker, by its last report. Called with mu
// held.
func (e *Engine) lostAtBroker() bool {
	v := e.venue
	return v != nil && v.judged && v.closed == "" && v.report.Account.LastEquity-v.report.Account.Equity >= e.options.Limits.DailyLoss
}

// lost reports whether the account has reached the limit of the daily loss on a day. It
// reports false as long as a price is missing. Called with mu held.
func (e *Engine) lost(date string) bool {
	n := len(e.ahead.days)
	l := e.ledger(e.ahead)
	if n == 0 || e.ahead.days[n-1].Date != date || !l.whole {
		return false
	}
	loss := minus(e.ahead.days[n-1].with(e.options.Account.Cash).Equity, l.equity)
	return minus(loss, e.options.Limits.DailyLoss.Money()).Sign() >= 0
}
