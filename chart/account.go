package chart

import (
	"image"
	"math"
	"slices"
)

// Account is what the caller has in the symbol of a picture. Each part may be empty.
// The package draws it as given and knows nothing of trading.
type Account struct {
	Position *Position
	Orders   []Order // open ones
	Alerts   []Alert // waiting ones
	Fills    []Fill
}

// Position is what is held.
type Position struct {
	Quantity float64 // below zero for a short one
	Entry    float64 // average price paid
	Profit   float64 // not yet realised, in the currency of the price
}

// Order is an order that waits.
type Order struct {
	Buy      bool
	Kind     string // such as "limit" or "stop"
	Price    float64
	Quantity float64
}

// Alert is an alert that waits: for a price, or for a signal of an indicator in
// the picture, whose marks are then named.
type Alert struct {
	Price  float64 // 0 for none
	Text   string
	Key    string // of the panel
	Signal string // label of the signal
}

// Fill is a trade that was made.
type Fill struct {
	Buy             bool
	Time            int64 // unix seconds
	Price, Quantity float64
}

// maxShown bounds each part of an account; of more, the last are shown.
const maxShown = 50

// tail returns the last maxShown of items. An account of thousands of orders would
// otherwise hide the prices.
func tail[T any](items []T) []T { return items[max(0, len(items)-maxShown):] }

// accountLevels returns the position, orders and alerts as levels.
func (p *picture) accountLevels() []ownLevel {
	a := p.view.Account
	if a == nil || p.n == 0 {
		return nil
	}
	var out []ownLevel
	// The entry is a solid line, orders are dashed, alerts dotted: what holds
	// money looks heavier than what only waits.
	if pos := a.Position; pos != nil && usable(pos.Entry) && usable(pos.Quantity) && pos.Quantity != 0 {
		side, colour := "long ", inkUp
		if pos.Quantity < 0 {
			side = "short "
		}
		if pos.Profit < 0 {
			colour = inkDown
		}
		text := side + quantityText(math.Abs(pos.Quantity)) + " at " + p.priceText(pos.Entry)
		if usable(pos.Profit) {
			text += " · " + signed(pos.Profit, 2)
		}
		out = append(out, ownLevel{price: pos.Entry, text: text, ink: colour, on: 1})
	}
	for _, o := range tail(a.Orders) {
		side, colour := "sell ", inkDown
		if o.Buy {
			side, colour = "buy ", inkUp
		}
		if usable(o.Price) {
			out = append(out, ownLevel{o.Price, side + printable(o.Kind, 16) + " " + quantityText(o.Quantity), colour, 4, 4})
		}
	}
	for _, al := range tail(a.Alerts) {
		if usable(al.Price) && al.Price != 0 {
			out = append(out, ownLevel{al.Price, "alert " + printable(al.Text, 40), inkAmber, 1, 4})
		}
	}
	return out
}

// quantityText writes a quantity in its shortest form.
func quantityText(v float64) string {
	if !usable(v) {
		return noValue
	}
	return levelText(v)
}

// awaits reports whether an alert waits for the signal label of the indicator that
// was asked for as key. No account awaits nothing.
func (a *Account) awaits(key, label string) bool {
	return a != nil && slices.ContainsFunc(a.Alerts, func(al Alert) bool {
		return al.Signal == label && al.Key == key
	})
}

// placeFills puts an arrow per fill with its tip at the bar and the price: from
// below for a purchase, from above for a sale. Its colour is that of text, which
// no signal has.
func (p *picture) placeFills(o *occupied) {
	if p.view.Account == nil {
		return
	}
	h := p.px(10)
	for _, f := range tail(p.view.Account.Fills) {
		if !usable(f.Price) || f.Time < p.s.Time[0] {
			continue
		}
		// The tip is where the trade was made; the body lies outside of it, so
		// that the price stays visible.
		x, y := int(p.timeX(f.Time)), p.panes[0].scale.row(f.Price)
		m := mark{box: image.Rect(x-h/2, y, x-h/2+h, y+h), up: true, ink: inkText}
		if !f.Buy {
			m.box, m.up = image.Rect(x-h/2, y-h, x-h/2+h, y), false
		}
		if !m.box.In(o.limit) {
			continue
		}
		m.tip = point{float64(x) + 0.5, float64(y)}
		p.marks = append(p.marks, m)
		o.take(m.box)
	}
}
