package trade

import (
	"testing"
	"testing/synctest"
	"time"

	"wick/exact"
	"wick/market"
)

// TestShareOverRestart: one unit is traded in each minute, and orders get a tenth of it.
// In the first minute a buy takes that tenth and a sell waits. In the second the price
// reaches the limit of the buy again, or does not, and the process ends then, or has ended
// before. A minute that was judged and is over when the next process starts fills nothing
// more. The share of the minute in which it starts can be used again, by what is traded
// after the start.
func TestShareOverRestart(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name     string
		end      time.Duration // since the first minute
		start    time.Duration
		first    float64 // the price that the first minute ends at
		second   float64 // the price of the second minute
		sells    bool    // there is a sell too
		up, then string  // what is filled at the start, and with the next price
	}{
		{"taken in both", 66 * s, 67 * s, 100.7, 99, true, "0.2 0", "0.25 0.03"},
		{"taken in the first", 66 * s, 67 * s, 100.5, 103, false, "0.1", "0.2"},
		{"taken in the first, and started in the second", 20 * s, 67 * s, 100.5, 103, false, "0.1", "0.2"},
		{"started after both", 20 * s, 127 * s, 100.5, 103, false, "0.1", "0.2"},
	} {
		for name, end := range map[string]func(*process){"stopped": (*process).stop, "killed": (*process).kill} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m, p := new(still), newProcess(t, time.Minute)
					m.trade(100, 100, 100)
					time.Sleep(50 * s)
					p.change = func(o *Options) {
						o.Source, o.Feed, o.Intervals, o.Participation = m, market.NewFeed(m, nil), []market.Interval{market.Minute1}, exact.One/10
					}
					p.start()
					time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
					minute := time.Now()
					until := func(at time.Duration) { time.Sleep(time.Until(minute.Add(at))) }
					until(3 * s)
					m.trade(100, 100, 100)
					until(6 * s)
					ids := []string{place(t, p.e, Buy, Limit, "0.25", "101").ID}
					if c.sells {
						ids = append(ids, place(t, p.e, Sell, Market, "0.03", "").ID)
					}
					m.trade(c.first, c.first, 100)
					filled := func() (out string) {
						for _, id := range ids {
							o, err := p.e.Order(id)
							if err != nil {
								t.Fatal(err)
							}
							out += " " + o.FilledQuantity.String()
						}
						return out[1:]
					}
					if c.end < 60*s {
						until(c.end)
						end(p)
					}
					until(63 * s)
					m.trade(c.second, c.second, c.second)
					if c.end > 60*s {
						until(c.end)
						end(p)
					}
					until(c.start)
					p.start()
					if got := filled(); got != c.up {
						t.Errorf("at the start filled %s, want %s", got, c.up)
					}
					m.trade(98.5, 98.5, 98.5)
					time.Sleep(3 * s)
					if got := filled(); got != c.then {
						t.Errorf("with the next price filled %s, want %s", got, c.then)
					}
					p.stop()
				})
			})
		}
	}
}
