package chart

import (
	"slices"
	"strings"

	"wick/indicators"
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

// withAlerts returns the result of a panel with the levels of it that alerts wait for, the
// newest and at most as many as most, and how many it leaves out. It changes neither the
// account nor the panel.
func (a *Account) withAlerts(p *Panel, most int) (result *indicators.Result, left int) {
	if a == nil || p.Result == nil {
		return p.Result, 0
	}
	var alerts []Alert
	for _, alert := range a.Alerts {
		if alert.Key == p.Key && alert.Text != "" && usable(alert.Price) {
			alerts = append(alerts, alert)
		}
	}
	r := *p.Result
	r.HLines = slices.Clip(r.HLines)
	left = max(0, len(alerts)-most)
	for _, alert := range alerts[left:] {
		r.HLines = append(r.HLines, indicators.HLine{Y: alert.Price, Label: "alert " + watched(&r, alert.Line) + alert.Text, Tone: indicators.Accent})
	}
	return &r, left
}

// watched names the line that an alert waits for, if r has several. The only line over the
// price has the name of the indicator, or it would look like an alert for a price; that of a
// panel needs none.
func watched(r *indicators.Result, line string) string {
	names := make([]string, 0, len(r.Lines)+len(r.Histogram))
	for _, l := range r.Lines {
		names = append(names, l.Label)
	}
	for _, h := range r.Histogram {
		names = append(names, h.Label)
	}
	switch {
	case len(names) > 1:
		i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, line) })
		return printable(names[max(i, 0)], 14) + " "
	case r.Overlay:
		return printable(studyName(r), 14) + " "
	}
	return ""
}
