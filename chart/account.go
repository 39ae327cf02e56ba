package chart

import "slices"

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
	Profit   float64 // not yet realised, in the currency of the price; NaN if it is not known
}

// Order is an order that waits.
type Order struct {
	Buy      bool
	Kind     string // such as "limit" or "stop"
	Price    float64
	Quantity float64
	Unknown  bool // whether it waits, or was filled meanwhile, is not known
}

// Alert is an alert that has not fired: for a price, or for a level or a signal of an
// indicator in the picture. The marks of such a signal are named before others.
type Alert struct {
	Price  float64 // or the level of the indicator
	Text   string  // names the price or level; empty if there is none
	Key    string  // of the panel; empty for a price
	Line   string  // of the indicator, in any case of letters; empty for its first
	Signal string  // label of the signal; empty if it waits for none
}

// Fill is a trade that was made.
type Fill struct {
	Buy             bool
	Time            int64 // unix seconds
	Price, Quantity float64
}

// awaits reports whether an alert waits for the signal label of the indicator that the
// client asked for as key. It returns false for a nil account.
func (a *Account) awaits(key, label string) bool {
	return a != nil && slices.ContainsFunc(a.Alerts, func(al Alert) bool {
		return al.Signal == label && al.Key == key
	})
}
