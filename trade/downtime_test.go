package trade

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
	"wick/trade/alert"
	"wick/trade/book"
)

// happening is a line of a timetable: what the market does, or that the process ends
// or starts.
type happening struct {
	at         time.Duration // since the first minute
	price, far float64       // a trade, and an extreme that came before it; no trade if price is zero
	up         bool          // without a trade: the process starts; else it ends
}

// TestRepeatDowntime: price alerts that repeat fire over a downtime as the timetable of
// the market says, for each bar that reached the threshold or each time that the price
// came back to it, whether the process was stopped or killed, the threshold is above
// or below, and the alert had fired before or not. What fires because of a minute that
// closed meanwhile is late and has the minute.
func TestRepeatDowntime(t *testing.T) {
	trade := func(at time.Duration, price, far float64) happening { return happening{at: at, price: price, far: far} }
	const s = time.Second
	down, up := happening{at: 45 * s}, happening{at: 260 * s, up: true}
	for _, c := range []struct {
		name  string
		still bool // no bars of minutes in which nothing changes
		does  []happening
		time  string // what the alert that repeats each time tells: minutes of bars, + for late ones, and values
		bar   string // and the one that repeats each bar
		pause string // and that with a cooldown of two minutes
		rest  string // and the one that repeats each time, with such a cooldown
	}{
		{"comes and goes", false, []happening{down, trade(70*s, 106, 106), trade(80*s, 100, 100), trade(190*s, 107, 107), trade(200*s, 100, 100), up, trade(310*s, 106, 106)},
			"+1:106 +3:107 106", "+1:106 +3:107 106", "+1:106 +3:107", "+1:106 +3:107"},
		{"comes and goes on highs", false, []happening{down, trade(70*s, 100, 106), trade(190*s, 100, 107), up},
			"+1:106 +3:107", "+1:106 +3:107", "+1:106 +3:107", "+1:106 +3:107"},
		{"comes and stays", false, []happening{down, trade(70*s, 106, 106), trade(190*s, 107, 107), up, trade(310*s, 107, 107)},
			"+1:106", "+1:106 +2:106 +3:107 107 107", "+1:106 +3:107", "+1:106"},
		{"in two minutes one after the other", false, []happening{down, trade(70*s, 100, 106), trade(130*s, 100, 107), up},
			"+1:106 +2:107", "+1:106 +2:107", "+1:106", "+1:106"},
		{"fired before", false, []happening{trade(32*s, 106, 106), trade(36*s, 100, 100), down, trade(70*s, 106, 106), trade(80*s, 100, 100), up},
			"106 +1:106", "106 +1:106", "106", "106"},
		{"fired before, and stays", false, []happening{trade(32*s, 106, 106), down, up},
			"106", "106 +1:106 +2:106 +3:106 106", "106 +2:106", "106"},
		{"fired before, and leaves and comes back within a minute", false, []happening{trade(32*s, 108, 108), down, trade(130*s, 106, 100), trade(180*s, 104, 104), up},
			"108 +2:106", "108 +1:108 +2:108", "108 +2:106", "108"},
		{"fired before, and nothing is traded until it leaves", true, []happening{trade(32*s, 106, 106), down, trade(190*s, 104, 104), up},
			"106", "106", "106", "106"},
		{"within minutes without a trade between", true, []happening{down, trade(70*s, 100, 106), trade(190*s, 100, 107), trade(245*s, 100, 100), up},
			"+1:106 +3:107", "+1:106 +3:107", "+1:106 +3:107", "+1:106 +3:107"},
		{"in the last minute that has trades", true, []happening{down, trade(70*s, 100, 106), up}, "+1:106", "+1:106", "+1:106", "+1:106"},
		{"after the stop in its minute, the last that has trades", true, []happening{down, trade(50*s, 106, 106), up}, "+0:106", "+0:106", "+0:106", "+0:106"},
		{"reached while one rests, and leaves", true, []happening{trade(32*s, 106, 106), trade(125*s, 110, 110), {at: 127 * s}, trade(140*s, 104, 104), trade(184*s, 101, 101), up},
			"106", "106 110", "106", "106"},
		{"reached while one rests, twice, and leaves", true, []happening{trade(32*s, 106, 106), trade(123*s, 110, 110), trade(126*s, 107, 107), {at: 128 * s}, trade(140*s, 104, 104), trade(184*s, 101, 101), up},
			"106", "106 110", "106", "106"},
		{"reached while one rests, and stays", true, []happening{trade(32*s, 106, 106), trade(125*s, 110, 110), {at: 127 * s}, trade(140*s, 106, 106), trade(184*s, 101, 101), up},
			"106", "106 110", "106 +2:106", "106"},
		{"left and reached while one rests, and left", true, []happening{trade(32*s, 106, 106), trade(36*s, 104, 104), trade(125*s, 110, 110), {at: 127 * s}, trade(140*s, 104, 104), trade(184*s, 101, 101), up},
			"106 110", "106 110", "106", "106"},
		{"reached while one rests, and left after that", true, []happening{trade(32*s, 106, 106), trade(125*s, 110, 110), trade(165*s, 104, 104), trade(184*s, 101, 101), {at: 200 * s}, up},
			"106", "106 110", "106", "106"},
		{"in the minute of the start", true, []happening{down, trade(245*s, 106, 106), up}, "106", "106", "106", "106"},
	} {
		for name, end := range map[string]func(*process){"stopped": (*process).stop, "killed": (*process).kill} {
			for _, mirror := range []bool{false, true} {
				t.Run(fmt.Sprint(c.name, name, mirror), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						got := playDowntime(t, c.does, c.still, mirror, end)
						once, _, _ := strings.Cut(c.time, " ")
						for kind, want := range map[string]string{"once": once, "time": c.time, "bar": c.bar, "pause": c.pause, "rest": c.rest} {
							if strings.Join(got[kind], " ") != want {
								t.Errorf("each %s: told %q, want %q", kind, got[kind], want)
							}
						}
					})
				})
			}
		}
	}
}

// TestDowntimeAfterStillMinute: nothing was traded in the minute in which alerts are
// set. The first trades after that come while the process is down, and all of their
// minute counts.
func TestDowntimeAfterStillMinute(t *testing.T) {
	for name, end := range map[string]func(*process){"stopped": (*process).stop, "killed": (*process).kill} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := newStill(t, 100)
				time.Sleep(65 * time.Second)
				p.alert(`{"price_above":105}`, "")
				p.alert(`{"price_below":95}`, "")
				end(p)
				p.start()
				end(p)
				time.Sleep(2 * time.Minute) // 00:04
				s.trade(100, 106, 94)
				time.Sleep(time.Minute)
				s.trade(100, 100, 100)
				p.start()
				p.stop()
				if got := strings.Join(p.lines(), ", "); got != "price_above 106 00:04 true, price_below 94 00:04 true" {
					t.Errorf("told %s, want both alerts at 00:04, late", got)
				}
			})
		})
	}
}

// TestRepeatOutage: the source did not answer for three minutes while the process ran.
// The update that comes then fires alerts that repeat for each of those minutes, and
// nothing of it is late.
func TestRepeatOutage(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		if err := e.ensure(t.Context(), "AAA"); err != nil {
			t.Fatal(err)
		}
		minute := time.Now().Unix()
		update(e, 100, 100, 100)
		last := time.Now().UnixMilli()
		time.Sleep(time.Second)
		repeating(t, e, `{"price_above":105}`, book.AlertRequest{Repeat: book.EachTime, Note: "time"})
		repeating(t, e, `{"price_above":105}`, book.AlertRequest{Repeat: book.EachBar, Interval: "1m", Note: "bar"})
		time.Sleep(3 * time.Minute)
		e.deliver(t.Context(), market.Update{Symbol: "AAA", From: 100, Price: 106, High: 109, Low: 99, At: time.Now().UnixMilli(), Since: last, Step: market.Minute1,
			Path: []market.Bar{{Time: minute, Open: 100, High: 101, Low: 99, Close: 100}, {Time: minute + 60, Open: 100, High: 108, Low: 100, Close: 101},
				{Time: minute + 120, Open: 101, High: 109, Low: 101, Close: 107}, {Time: minute + 180, Open: 107, High: 107, Low: 106, Close: 106}}})
		n, _, err := e.Notifications("", false, Page{Size: 1 << 20})
		var got []string
		for _, one := range n {
			got = append(got, fmt.Sprint(one.Note, one.Value, one.Late))
		}
		if want := "time108false time109false bar108false bar109false bar107false"; err != nil || strings.Join(got, " ") != want {
			t.Errorf("told %q, %v, want %q", got, err, want)
		}
	})
}

// TestManyFirings: of what met an alert that repeats during a long downtime only the
// newest maxFirings are told and counted. What fits is told in full.
func TestManyFirings(t *testing.T) {
	const rule = `{"indicator_signal":{"indicator":"rule","when":"close > 90","signal":"becomes_true"}}`
	for _, c := range []struct {
		name, condition string
		request         book.AlertRequest
		down            time.Duration // from the first second of 10:00
		told            string        // first and last bar told
	}{
		{"a rule", rule, book.AlertRequest{Repeat: book.EachBar}, 300 * time.Minute, "100 13:20 14:59"},
		{"a rule with a cooldown", rule, book.AlertRequest{Repeat: book.EachBar, Cooldown: "2m"}, 300 * time.Minute, "100 11:40 14:58"},
		{"as many as are told", rule, book.AlertRequest{Repeat: book.EachBar}, 100 * time.Minute, "100 10:00 11:39"},
		{"one more", rule, book.AlertRequest{Repeat: book.EachBar}, 101 * time.Minute, "100 10:01 11:40"},
		// The price after the start is told by itself.
		{"a price", `{"price_above":90}`, book.AlertRequest{Repeat: book.EachBar}, 300 * time.Minute, "101 13:20 now"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProcess(t, 599*time.Minute+56*time.Second, slices.Repeat([]int64{100}, 20)...)
				p.start()
				time.Sleep(time.Second)
				c.request.Interval = "1m"
				repeating(t, p.e, c.condition, c.request)
				p.kill()
				time.Sleep(c.down)
				p.start()
				p.kill()
				bar := func(n book.Notification) string {
					if n.BarTime == nil {
						return "now"
					}
					return n.BarTime.Format("15:04")
				}
				first, last := p.told[0], p.told[len(p.told)-1]
				if got := fmt.Sprint(len(p.told), " ", bar(first), " ", bar(last)); got != c.told {
					t.Errorf("told %s, want %s", got, c.told)
				}
				time.Sleep(2 * time.Minute)
				p.start()
				a := must(p.e.Alerts(""))[0]
				p.stop()
				if a.Fired != len(p.told) {
					t.Errorf("fired %d times, want what was told, %d", a.Fired, len(p.told))
				}
			})
		})
	}
}

// TestManyAlertsFire: what more alerts found during a downtime than a queue keeps is shared
// among them; 11 alerts that each fired on 120 bars tell 90 each, and none of it falls out
// of the polling queue, which keeps 1,000.
func TestManyAlertsFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, 599*time.Minute+56*time.Second, slices.Repeat([]int64{100}, 20)...)
		p.start()
		time.Sleep(time.Second)
		const rule = `{"indicator_signal":{"indicator":"rule","when":"close > 90","signal":"becomes_true"}}`
		for range 11 {
			repeating(t, p.e, rule, book.AlertRequest{Repeat: book.EachBar, Interval: "1m"})
		}
		p.kill()
		time.Sleep(120 * time.Minute)
		p.start()
		alerts, pending := must(p.e.Alerts("")), p.e.PendingNotifications("")
		p.stop()
		told := make(map[string][]book.Notification)
		for _, n := range p.told {
			told[n.AlertID] = append(told[n.AlertID], n)
		}
		for _, a := range alerts {
			list := told[a.ID]
			if len(list) != 90 || list[0].BarTime.Format("15:04") != "10:30" || a.Fired != 90 {
				t.Errorf("alert %s fired %d times and told %d, first %+v; want 90 and 90, first of 10:30", a.ID, a.Fired, len(list), list[:min(1, len(list))])
			}
		}
		if pending != 990 {
			t.Errorf("%d notifications are in the polling queue, want 990", pending)
		}
	})
}

// TestNewest: at most as many firings as a queue keeps are told of all alerts together, of
// each the newest and at least one.
func TestNewest(t *testing.T) {
	for _, c := range []struct {
		alerts, each, told int // so many firings of so many alerts, and how many of each are told
	}{{1, 100, 100}, {10, 100, 100}, {500, 2, 2}, {11, 100, 90}, {501, 2, 1}, {2000, 3, 1}, {2000, 1, 1}} {
		var hits []alert.Hit
		for at := range c.each {
			for id := range c.alerts {
				hits = append(hits, alert.Hit{ID: fmt.Sprint(id), Trigger: book.Trigger{At: int64(at), Value: "1"}})
			}
		}
		got := newest(hits)
		first, last := got[0], got[len(got)-1]
		if len(got) != c.told*c.alerts || int(first.At) != c.each-c.told || int(last.At) != c.each-1 {
			t.Errorf("%d alerts with %d each: %d are told, from %+v to %+v; want the newest %d of each", c.alerts, c.each, len(got), first, last, c.told)
		}
	}
}

// playDowntime runs a timetable on a market that is at 100 and returns what each alert
// told, by its note. With mirror all prices are reflected at 100. After the last event
// the process ends and starts once more, which must tell nothing.
func playDowntime(t *testing.T, does []happening, still, mirror bool, end func(*process)) map[string][]string {
	side := func(price float64) float64 { return price }
	condition := `{"price_above":105}`
	if mirror {
		side = func(price float64) float64 { return 200 - price }
		condition = `{"price_below":95}`
	}
	p, s := newStill(t, 100)
	first := time.Now().Truncate(time.Minute)
	for note, r := range map[string]book.AlertRequest{
		"once": {}, "time": {Repeat: book.EachTime}, "bar": {Repeat: book.EachBar, Interval: "1m"}, "pause": {Repeat: book.EachBar, Interval: "1m", Cooldown: "2m"},
		"rest": {Repeat: book.EachTime, Cooldown: "2m"},
	} {
		r.Note = note
		repeating(t, p.e, condition, r)
	}
	last := 100.0
	// until lets time pass; the first trade of a minute, half a second after it began, is
	// at the last price.
	until := func(at time.Duration) {
		for time.Since(first) < at {
			next := min(at, time.Since(first).Truncate(time.Minute)+time.Minute+500*time.Millisecond)
			time.Sleep(time.Until(first.Add(next)))
			if next < at && !still {
				s.trade(last, last, last)
			}
		}
	}
	for _, h := range does {
		until(h.at)
		switch {
		case h.price > 0:
			last = side(h.price)
			s.trade(last, max(last, side(h.far)), min(last, side(h.far)))
		case h.up:
			p.start()
		default:
			end(p)
		}
	}
	time.Sleep(4 * time.Second)
	end(p)
	p.start()
	p.stop()
	return said(p, side, first)
}

// said returns what was told by the note of the alert: the value, reflected back, and
// before it the minute if it has one, with a + if it is late.
func said(p *process, side func(float64) float64, first time.Time) map[string][]string {
	out := make(map[string][]string)
	for _, n := range p.told {
		value, _ := n.Value.Float64()
		line := fmt.Sprint(side(value))
		if n.BarTime != nil {
			line = fmt.Sprint(int(n.BarTime.Sub(first).Minutes()), ":", line)
		}
		if n.Late {
			line = "+" + line
		}
		out[n.Note] = append(out[n.Note], line)
	}
	return out
}
