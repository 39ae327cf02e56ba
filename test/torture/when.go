//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// condition is the rule that an order waits for, as wick shows it.
type condition struct {
	Rule    string     `json:"rule"`
	Skip    bool       `json:"skip_late"`
	Bar     *time.Time `json:"bar"`
	Late    bool       `json:"late"`
	ActedAt *time.Time `json:"acted_at"`
}

// rules become true on about every fourth minute each.
var rules = []string{"close > open", "close < open"}

// onRule makes an order wait until a minute has closed on which a rule becomes true.
func onRule(_ *oracle, _ *client, rng *rand.Rand, a map[string]any) bool {
	a["when"], a["interval"] = rules[rng.IntN(len(rules))], "1m"
	if rng.IntN(4) == 0 {
		a["late"] = "skip"
	}
	return true
}

// pending reports whether an order waits for its rule, or for the bar on which it comes.
func (o *order) pending() bool { return o.open() && o.When != nil && o.When.ActedAt == nil }

// came reports whether an order that was known to wait has come: from then on it may be an exit.
func came(was, is *order) bool {
	return was.pending() && !is.pending() && was.ID == is.ID && was.terms == strings.Replace(is.terms, " reduce_only=true", "", 1)
}

// marks returns the minutes on which the chart marks that a rule becomes true.
func marks(c *client, rule string) (starts []time.Time, err error) {
	var chart struct {
		Bars       []struct{ T int64 }
		Indicators map[string]struct {
			Signals []struct {
				X     int
				Label string
			}
		}
	}
	err = c.call("generate_chart", map[string]any{"symbol": "BTCUSDT", "interval": "1m", "format": "series", "bars": 1500,
		"indicators": []any{map[string]any{"name": "rule", "when": rule}}}, &chart)
	for _, s := range chart.Indicators["rule"].Signals {
		if s.Label == "becomes_true" {
			starts = append(starts, time.Unix(chart.Bars[s.X].T, 0))
		}
	}
	return starts, err
}

// verifyRules checks that each order came by the first minute after it was placed that the chart marks
// for its rule: none is lost, and none comes early. It returns an order that has yet to come, which
// takes a minute, or "". That none comes twice the position says.
func (o *oracle) verifyRules(c *client) (waits string, err error) {
	for _, rule := range rules {
		starts, err := marks(c, rule)
		if err != nil {
			return "", err
		}
		o.mu.Lock()
		for key, note := range o.orders {
			s := note.seen
			if s == nil || s.When == nil || s.When.Rule != rule {
				continue
			}
			i := slices.IndexFunc(starts, func(start time.Time) bool { return start.Add(time.Minute).After(s.CreatedAt) })
			closed := i >= 0 && time.Since(starts[i]) > 70*time.Second
			switch w := s.When; {
			case w.Bar != nil && (i < 0 || !w.Bar.Equal(starts[i])):
				err = fmt.Errorf("order %q, placed at %s, came by the minute of %s and not by the first of %v", key, s.CreatedAt, w.Bar, starts[max(i, 0):])
			case w.Bar == nil && s.open() && closed:
				err = fmt.Errorf("order %q, placed at %s, waits, and its rule became true on %s", key, s.CreatedAt, starts[i])
			case w.Bar != nil && w.ActedAt == nil && s.open():
				waits = key
			}
			if w := s.When; w.ActedAt != nil && err == nil {
				if o.came++; w.Late {
					o.late++
				}
			}
		}
		o.mu.Unlock()
		if err != nil {
			return "", err
		}
	}
	return waits, nil
}

// overdueAlert returns an alert on a time that has come and that has not fired; empty if there is none.
func (o *oracle) overdueAlert() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, a := range o.alerts {
		if !a.at.IsZero() && a.at.Before(time.Now()) && !a.fired && !a.cancelled && !a.cancelSent {
			return id
		}
	}
	return ""
}
