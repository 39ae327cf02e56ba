package modeltest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	rule "wick/trade/book"
)

// alert is an alert on a profit or a time as the model has it.
type alert struct {
	id, symbol, of string
	above          bool
	level          num
	repeats, armed bool
	at             int64 // of a time, in unix milliseconds; else zero
	fired          bool
}

// profit returns what a position, or all of them together, have made, and false if nothing is held.
func (b *book) profit(of, symbol string) (num, bool) {
	sum := new0()
	for name, at := range b.places {
		open := sub(mul(at.held.qty, at.price), at.held.cost)
		switch {
		case of == "account":
			sum = add(sum, add(at.held.realized, open))
		case name == symbol:
			return nearest(open, unit), at.held.qty.Sign() != 0
		}
	}
	return nearest(sum, unit), of == "account"
}

// setAlert sets an alert with the engine and with the model.
func (s *scene) setAlert() {
	a := &alert{of: "account", above: s.rand.IntN(2) == 0, level: price(s.rand.Int64N(4000) - 2000), repeats: s.rand.IntN(2) == 0, armed: true}
	arguments := map[string]any{"of": a.of}
	word := "profit_below"
	if a.above {
		word = "profit_above"
	}
	switch s.rand.IntN(3) {
	case 0:
		a.of, a.symbol = "position", s.symbols[s.rand.IntN(len(s.symbols))]
		arguments = map[string]any{"of": a.of, "symbol": a.symbol}
	case 1:
		seconds := time.Now().Unix() + 1 + s.rand.Int64N(300)
		a.at, a.repeats, word, arguments = seconds*1000, false, "at", map[string]any{}
		arguments["at"] = time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	}
	if a.at == 0 {
		arguments[word] = json.Number(show(a.level))
	}
	if a.repeats {
		arguments["repeat"] = "each_time"
	}
	texts, err := s.call("set_alert", arguments)
	s.note("alert %v: %s %v", arguments, texts, err)
	var reply struct {
		ID string `json:"alert_id"`
	}
	if err != nil || json.Unmarshal(texts[0], &reply) != nil {
		s.t.Errorf("set_alert %v: %v", arguments, err)
		return
	}
	a.id = reply.ID
	s.alerts = append(s.alerts, a)
}

// changeAlert changes an alert with the engine and with the model: what is left out stays. If it waits for
// something else then, or repeats otherwise, it begins anew.
func (s *scene) changeAlert() {
	if len(s.alerts) == 0 {
		return
	}
	a := s.alerts[s.rand.IntN(len(s.alerts))]
	is := *a
	arguments := map[string]any{"alert_id": a.id}
	switch kind := s.rand.IntN(4); {
	case kind == 0:
		arguments["note"] = fmt.Sprint("changed at ", s.now)
	case kind == 1 && a.at == 0:
		a.repeats, arguments["repeat"] = !a.repeats, "each_time"
		if !a.repeats {
			arguments["repeat"] = "once"
		}
	case kind == 2:
		seconds := time.Now().Unix() + 1 + s.rand.Int64N(300)
		a.at, a.repeats = seconds*1000, false
		arguments["at"], arguments["repeat"] = time.Unix(seconds, 0).UTC().Format(time.RFC3339), "once"
	default:
		if a.at != 0 {
			a.at, a.of, arguments["of"] = 0, "account", "account"
		}
		word := "profit_below"
		if a.above = s.rand.IntN(2) == 0; a.above {
			word = "profit_above"
		}
		a.level = price(s.rand.Int64N(4000) - 2000)
		arguments[word] = json.Number(show(a.level))
	}
	if a.at != is.at || a.at == 0 && (a.above != is.above || a.repeats != is.repeats || !equal(a.level, is.level)) {
		a.armed, a.fired = true, false
	}
	texts, err := s.call("set_alert", arguments)
	s.note("change alert %v: %s %v", arguments, texts, err)
	if err != nil {
		s.t.Errorf("set_alert %v: %v", arguments, err)
	}
}

// compareAlerts holds what has fired since the last call against the model. At least a second has
// passed since anything changed, and nothing since the engine has looked.
func (s *scene) compareAlerts() {
	texts, err := s.call("get_notifications", map[string]any{"limit": 500})
	if err != nil {
		s.t.Fatal(err)
	}
	var told []struct {
		ID    string `json:"alert_id"`
		Value json.Number
	}
	if err := json.Unmarshal(texts[0], &told); err != nil {
		s.t.Fatal(err)
	}
	var got, want []string
	for _, n := range told {
		if n.ID != "" { // orders that ended are told, too
			got = append(got, fmt.Sprint(n.ID, " at ", n.Value))
		}
	}
	for _, a := range s.alerts {
		line := fmt.Sprint(a.id, " at ", a.at/1000)
		met := a.at != 0 && s.now >= a.at
		if met && s.now < a.at+1000 && !slices.Contains(got, line) {
			met = false // the look comes within the second
		}
		if a.at == 0 {
			value, known := s.book.profit(a.of, a.symbol)
			if !known {
				continue
			}
			met = !less(value, a.level) && a.above || !less(a.level, value) && !a.above
			line = fmt.Sprint(a.id, " at ", show(value))
		}
		if met && a.armed {
			want, a.fired = append(want, line), true
		}
		a.armed = a.armed && !met || a.repeats && !met
	}
	s.alerts = slices.DeleteFunc(s.alerts, func(a *alert) bool { return a.fired && !a.repeats })
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.t.Errorf("alerts fired\n got %s\nwant %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// forgetLooks is what a restart does to alerts: one that has fired does so again only after the
// profit was elsewhere since the start.
func (s *scene) forgetLooks() {
	for _, a := range s.alerts {
		a.armed = a.armed && !a.fired
	}
}

// TestMoments: the clocks of all kinds of places, looked at every minute of a year and more, first
// show a time, or have been put forward over it, when an alert says that they do.
func TestMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 1))
	// Half an hour is changed on Lord Howe Island, two hours at Troll, midnight in Havana and Cairo,
	// during Ramadan in Casablanca, and Samoa has left out a day.
	for _, c := range []struct {
		name string
		from string
	}{
		{"America/New_York", "2026-01-01"}, {"Europe/Berlin", "2026-01-01"}, {"Australia/Lord_Howe", "2026-01-01"}, {"Antarctica/Troll", "2026-01-01"},
		{"America/Havana", "2026-01-01"}, {"Africa/Cairo", "2026-01-01"}, {"Africa/Casablanca", "2026-01-01"}, {"Asia/Kathmandu", "2026-01-01"},
		{"America/Sao_Paulo", "2018-06-01"}, {"Pacific/Apia", "2011-06-01"}, {"UTC", "2026-01-01"},
	} {
		zone, err := time.LoadLocation(c.name)
		if err != nil {
			t.Fatal(err)
		}
		start, _ := time.Parse(time.DateOnly, c.from)
		// The latest that the clocks have shown, minute by minute, as if the place were at Greenwich.
		// A new latest is the first showing of all that lies between it and the one before.
		first := make(map[int64]int64)
		shown := start.Unix() - 60
		for at := start.Unix() - 24*3600; at < start.AddDate(1, 0, 20).Unix(); at += 60 {
			_, offset := time.Unix(at, 0).In(zone).Zone()
			for shown < at+int64(offset) {
				shown += 60
				first[shown] = at
			}
		}
		firstOf := func(wall time.Time) time.Time { return time.Unix(first[wall.Unix()], 0).In(zone) }
		for range 100 {
			day := start.AddDate(0, 0, 1+r.IntN(364))
			wall := day.Add(time.Duration(r.IntN(4*60)) * time.Minute) // most clocks are changed at night
			if r.IntN(4) == 0 {
				wall = day.Add(time.Duration(r.IntN(24*60)) * time.Minute)
			}
			text, clock, want := wall.Format("2006-01-02T15:04"), wall.Format("15:04"), firstOf(wall)
			if got := (rule.Moment{Time: text, Zone: c.name}).Next(rule.AtTime, start); !got.Equal(want) {
				t.Errorf("at %s in %s: %s, want %s", text, c.name, got, want)
			}
			daily := rule.Moment{Time: clock, Zone: c.name}
			before, after := want.Add(-time.Second), want
			if got := daily.Next(rule.Daily, before); !got.Equal(want) {
				t.Errorf("daily at %s in %s after %s: %s, want %s", clock, c.name, before, got, want)
			}
			if got := daily.Newest(rule.Daily, after); !got.Equal(want) {
				t.Errorf("daily at %s in %s by %s: %s, want %s", clock, c.name, after, got, want)
			}
			if got := daily.Newest(rule.Daily, before); !got.Before(want) {
				t.Errorf("daily at %s in %s by %s: %s, which is to come", clock, c.name, before, got)
			}
			name := strings.ToLower(day.Format("Mon"))
			weekly := rule.Moment{Time: clock, Zone: c.name, Weekdays: []string{name}}
			if got := weekly.Next(rule.Daily, before); !got.Equal(want) {
				t.Errorf("on %s at %s in %s after %s: %s, want %s", name, clock, c.name, before, got, want)
			}
			if got, want := weekly.Next(rule.Daily, after), firstOf(wall.AddDate(0, 0, 7)); !got.Equal(want) {
				t.Errorf("on %s at %s in %s after %s: %s, want %s", name, clock, c.name, after, got, want)
			}
		}
	}
}
