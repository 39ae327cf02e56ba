package book

import (
	"time"

	"wick/internal/exact"
)

// Breaker makes ev the step to reducing if the account has reached the limit of the
// daily loss on this day, in UTC. Once it has, trading stays reducing for the rest of the
// day, whatever the prices do, also after a restart.
func (b *Book) Breaker(ev *Event) {
	if day := b.lossDay(ev.At); day != "" {
		ev.Trading, ev.Tripped, ev.By = Reducing, day, &byLoss
	}
}

// byLoss is who changes the trading state when the account has lost too much.
var byLoss = Who{Name: "--max-daily-loss"}

// KeepTripped notes in ev that the account has reached the limit of the daily loss today,
// before or only now, if something else restricts trading: once that is over, the loss
// counts. A halt keeps the day of an earlier loss as well, which means nothing any more, so
// that midnight is no change that the owner is told of.
func (b *Book) KeepTripped(ev *Event) {
	if ev.Tripped != "" || ev.Trading == Active {
		return
	}
	ev.Tripped = b.lossDay(ev.At)
	switch {
	case ev.Tripped == "" && ev.Trading == Halted:
		ev.Tripped = b.Tripped
	case ev.Tripped != b.Tripped && ev.Trading == b.Trading:
		ev.By = &byLoss // the loss is all that is new
	}
}

// lossDay returns the day of a step if the account has reached the limit of the daily loss
// on it, else "".
func (b *Book) lossDay(at Time) string {
	today := at.UTC().Format(time.DateOnly)
	there, known := b.Remote.lost()
	if most := b.Rules.Limits.DailyLoss; most != 0 && (b.Tripped == today || b.lost(today) || known && there >= most) {
		return today
	}
	return ""
}

// lost reports whether the account has reached the limit of the daily loss on a day. It
// reports false as long as a price is missing.
func (b *Book) lost(date string) bool {
	loss, known := b.loss(date)
	return known && Minus(loss, b.Rules.Limits.DailyLoss.Money()).Sign() >= 0
}

// loss returns what the account has lost since the first look at it on a day, and false if
// there was none or a price is missing.
func (b *Book) loss(date string) (exact.Money, bool) {
	n := len(b.Days)
	l := b.ledger()
	if n == 0 || b.Days[n-1].Date != date || !l.whole {
		return exact.Money{}, false
	}
	return Minus(b.Days[n-1].With(b.Rules.Account.Cash).Equity, l.equity), true
}

// lossNow says what the account has lost by now on a day.
func (b *Book) lossNow(date string) string {
	loss, known := b.loss(date)
	if more, also := b.Remote.lost(); also && (!known || Minus(more.Money(), loss).Sign() > 0) {
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
