package trade

import "time"

// breaker makes ev the step to reducing if the account has reached the limit of the
// daily loss on this day, in UTC. Once it has, trading stays reducing for the rest of the
// day, whatever the prices do, also after a restart. Called with mu held.
func (e *Engine) breaker(ev *event) {
	most, today := e.options.Limits.DailyLoss, ev.At.UTC().Format(time.DateOnly)
	if most == 0 {
		return
	}
	if e.ahead.tripped != today && !e.lost(today) {
		return
	}
	ev.Trading, ev.Tripped, ev.By = Reducing, today, &Who{Name: "--max-daily-loss"}
}

// keepTripped keeps in ev that the account reached the limit of the daily loss today, if
// something else restricts trading: once that is over, the loss counts again. A halt keeps
// the day of an earlier loss as well, which means nothing any more, so that midnight is no
// change that the owner is told of. Called with mu held. On a shared log only a halt keeps
// it, because refreshTrading takes reducing with such a day for the breaker's.
func (e *Engine) keepTripped(ev *event) {
	today := e.ahead.tripped == ev.At.UTC().Format(time.DateOnly)
	reduces := ev.Trading == Reducing && today && e.options.Shared == nil
	if ev.Tripped == "" && (ev.Trading == Halted || reduces) {
		ev.Tripped = e.ahead.tripped
	}
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
