package trade

import (
	"time"

	"wick/internal/exact"
	"wick/trade/book"
)

// breaker makes ev the step to reducing if the account has reached the limit of the
// daily loss on this day, in UTC. Once it has, trading stays reducing for the rest of the
// day, whatever the prices do, also after a restart. Called with mu held.
func (d *desk) breaker(ev *book.Event) {
	if day := d.lossDay(ev.At); day != "" {
		ev.Trading, ev.Tripped, ev.By = book.Reducing, day, &byLoss
	}
}

// byLoss is who changes the trading state when the account has lost too much.
var byLoss = book.Who{Name: "--max-daily-loss"}

// keepTripped notes in ev that the account has reached the limit of the daily loss today,
// before or only now, if something else restricts trading: once that is over, the loss
// counts. A halt keeps the day of an earlier loss as well, which means nothing any more, so
// that midnight is no change that the owner is told of. Called with mu held.
func (d *desk) keepTripped(ev *book.Event) {
	if ev.Tripped != "" || ev.Trading == book.Active {
		return
	}
	ev.Tripped = d.lossDay(ev.At)
	switch {
	case ev.Tripped == "" && ev.Trading == book.Halted:
		ev.Tripped = d.ahead.Tripped
	case ev.Tripped != d.ahead.Tripped && ev.Trading == d.ahead.Trading:
		ev.By = &byLoss // the loss is all that is new
	}
}

// lossDay returns the day of a step if the account has reached the limit of the daily loss
// on it, else "". Called with mu held.
func (d *desk) lossDay(at book.Time) string {
	today := at.UTC().Format(time.DateOnly)
	if d.options.Limits.DailyLoss == 0 || d.ahead.Tripped != today && !d.lost(today) && !d.lostAtBroker() {
		return ""
	}
	return today
}

// lostAtBroker is lost for the account at the broker, by its last report. Called with mu
// held.
func (d *desk) lostAtBroker() bool {
	loss, known := d.lossAtBroker()
	return known && loss >= d.options.Limits.DailyLoss
}

// lossAtBroker returns what the account at the broker has lost since the day before, by its
// last report, and false if there is none. Called with mu held.
func (d *desk) lossAtBroker() (exact.Decimal, bool) {
	v := &d.remote
	if !v.judged || v.closed != "" {
		return 0, false
	}
	return v.report.Account.LastEquity - v.report.Account.Equity, true
}

// lost reports whether the account has reached the limit of the daily loss on a day. It
// reports false as long as a price is missing. Called with mu held.
func (d *desk) lost(date string) bool {
	loss, known := d.loss(date)
	return known && book.Minus(loss, d.options.Limits.DailyLoss.Money()).Sign() >= 0
}

// loss returns what the account has lost since the first look at it on a day, and false if
// there was none or a price is missing. Called with mu held.
func (d *desk) loss(date string) (exact.Money, bool) {
	n := len(d.ahead.Days)
	l := d.ledger(d.ahead)
	if n == 0 || d.ahead.Days[n-1].Date != date || !l.whole {
		return exact.Money{}, false
	}
	return book.Minus(d.ahead.Days[n-1].With(d.options.Account.Cash).Equity, l.equity), true
}

// lossNow says what the account has lost by now on a day. Called with mu held.
func (d *desk) lossNow(date string) string {
	loss, known := d.loss(date)
	if more, there := d.lossAtBroker(); there && (!known || book.Minus(more.Money(), loss).Sign() > 0) {
		loss, known = more.Money(), true
	}
	switch {
	case !known:
		return "what it has lost by now is not known"
	case loss.Sign() <= 0:
		return "has made up for it since"
	}
	return "has lost " + loss.String() + " by now"
}
