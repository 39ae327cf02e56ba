package trade

import (
	"strings"

	"wick/market"
)

// Alert waits for its condition and is gone once it fired.
type Alert struct {
	ID        string          `json:"alert_id"`
	Symbol    string          `json:"symbol"`
	Interval  market.Interval `json:"interval"` // empty for price conditions
	Condition Condition       `json:"condition"`
	CreatedAt Time            `json:"created_at"`

	// By is who set it. It is written down and audited; clients do not see it.
	By *Who `json:"by,omitempty"`
}

// public returns the alert as a client sees it.
func (a *Alert) public() Alert {
	c := *a
	c.By = nil
	return c
}

// AlertRequest asks for an alert.
type AlertRequest struct {
	Who       Who
	Symbol    string
	Interval  string // of an indicator condition; empty means the engine's first
	Condition Condition
}

// compareIDs orders ids of one kind by age: they end in a rising number.
func compareIDs(a, b string) int {
	if d := len(a) - len(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}
