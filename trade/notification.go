package trade

import (
	"encoding/json"
	"fmt"

	"wick/exact"
	"wick/indicators"
	"wick/indicators/shape"
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
	Note        string          `json:"note,omitempty"`    // the alert's
	Message     string          `json:"message,omitempty"` // all of it in one sentence, for people

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

	Params map[string]json.RawMessage `json:"params,omitempty"` // of the indicator, as they were set
}

// notification builds what a tells its subscribers.
func (a *Alert) notification(value json.Number, at Time) *Notification {
	n := &Notification{AlertID: a.ID, Symbol: a.Symbol, Interval: a.Interval, Value: value, TriggeredAt: at, Note: a.Note, Message: a.message(value)}
	n.Condition.Type = a.Condition.Type
	if a.Condition.Type == IndicatorSignal {
		n.Condition.Indicator, n.Condition.Signal, n.Condition.Params = a.Condition.Indicator, a.Condition.Signal, a.Condition.Params
	} else {
		n.Condition.Threshold = &a.Condition.Threshold
	}
	return n
}

// valueOf writes an indicator's value as every other payload does.
func valueOf(x float64) json.Number { return json.Number(indicators.AppendValue(nil, x)) }

// message says in a sentence that a fired, and at which value.
func (a *Alert) message(value json.Number) string {
	switch a.Condition.Type {
	case PriceAbove:
		return fmt.Sprintf("%s is at %s, at or above %s.", a.Symbol, value, a.Condition.Threshold)
	case PriceBelow:
		return fmt.Sprintf("%s is at %s, at or below %s.", a.Symbol, value, a.Condition.Threshold)
	}
	s := fmt.Sprintf("%s on %s, %s bars: %s at %s", a.Condition.Indicator, a.Symbol, a.Interval, a.Condition.Signal, value)
	if meaning := shape.Meaning(a.Condition.Signal); meaning != "" {
		s += ", which means that " + meaning
	}
	return s + "."
}
