package trade

import (
	"encoding/json"

	"wick/exact"
	"wick/indicators"
	"wick/market"
)

// Notification says that an alert fired: the params of the specified
// notifications/alert_triggered, for push and polling alike.
type Notification struct {
	AlertID     string          `json:"alert_id"`
	Symbol      string          `json:"symbol"`
	Interval    market.Interval `json:"interval"` // may be empty
	Condition   FiredCondition  `json:"condition"`
	Value       json.Number     `json:"value"` // the price or the signal's value when it fired; text, so no float enters the journal
	TriggeredAt Time            `json:"triggered_at"`

	// Seq is the sequence of the record that made it: unique in the store,
	// rising, the same after a restart.
	Seq uint64 `json:"-"`
}

// FiredCondition is a Condition in the shape of a notification.
type FiredCondition struct {
	Type      ConditionType  `json:"type"`
	Threshold *exact.Decimal `json:"threshold,omitempty"`
	Indicator string         `json:"indicator,omitempty"`
	Signal    string         `json:"signal,omitempty"`
}

// notification builds what a tells its subscribers.
func (a *Alert) notification(value json.Number, at Time) *Notification {
	n := &Notification{AlertID: a.ID, Symbol: a.Symbol, Interval: a.Interval, Value: value, TriggeredAt: at}
	n.Condition.Type = a.Condition.Type
	if a.Condition.Type == IndicatorSignal {
		n.Condition.Indicator, n.Condition.Signal = a.Condition.Indicator, a.Condition.Signal
	} else {
		n.Condition.Threshold = &a.Condition.Threshold
	}
	return n
}

// valueOf writes an indicator's value as every other payload does.
func valueOf(x float64) json.Number { return json.Number(indicators.AppendValue(nil, x)) }
