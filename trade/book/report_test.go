package book

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"wick/internal/exact"
)

// TestReport: a month is that in which a trade ended, in the zone that is asked for; each currency has
// a line of its own; what is not defined is null and says why. The figures are worked out by hand: in
// January 30, -10, -20 and 0 are made, which is highest at 30 and ends at 0.
func TestReport(t *testing.T) {
	trade := func(at, symbol string, profit, risk int64) *Trade {
		end, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		made := (exact.Decimal(profit) * exact.One).Money()
		v := &Trade{Symbol: symbol, ClosedAt: &Time{end}, Profit: made, Fees: exact.One.Money(), Best: (40 * exact.One).Money(), Worst: (-25 * exact.One).Money()}
		if risk != 0 {
			v.Risk = &Risk{Amount: exact.Decimal(risk) * exact.One}
		}
		return v
	}
	days := []DayMark{{Date: "2026-01-30", Equity: (1000 * exact.One).Money()}, {Date: "2026-01-31", Equity: (970 * exact.One).Money()}, {Date: "2026-02-01", Equity: (990 * exact.One).Money()}}
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	r := NewTally("month", zone, days)
	lost := trade("2026-01-28T12:00:00Z", "AAA", 7, 0)
	lost.Gone = exact.One
	unseen := trade("2026-01-27T12:00:00Z", "AAA", 30, 15)
	unseen.Range.Unseen = true
	for _, v := range []*Trade{ // the last first
		trade("2026-02-01T04:00:00Z", "AAA", 0, 0), // in New York the day before
		trade("2026-01-30T12:00:00Z", "AAA", -20, 20),
		trade("2026-01-29T12:00:00Z", "AAA", -10, 0),
		lost, unseen,
	} {
		r.Add(v, "USD")
	}
	r.Add(trade("2025-12-31T23:00:00Z", "BBB", 5, 0), "BTC")
	groups, all := r.Done()
	text, err := json.Marshal(groups)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"group":"2026-01","currency":"USD","trades":4,"wins":1,"losses":2,"left_out":1,"profit":0,"fees":4,"win_rate":0.25,"average_win":30,"average_loss":15,` +
		`"profit_factor":1,"expectancy":0,"r":{"trades":2,"average":0.5,"most":2},"drawdown":{"closed":30,"marked":30},` +
		`"heat_of_winners":{"trades":0,"average":null},"favor_of_losers":{"trades":2,"average":40,"most":40},"given_back":{"trades":3,"average":50,"most":60},` +
		`"why":{"heat_of_winners.average":"there is no such trade whose prices were seen"}},` +
		`{"group":"2025-12","currency":"BTC","trades":1,"wins":1,"losses":0,"profit":5,"fees":1,"win_rate":1,"average_win":5,"average_loss":null,"profit_factor":null,"expectancy":5,` +
		`"r":{"trades":0,"average":null},"drawdown":{"closed":0,"marked":null},"heat_of_winners":{"trades":1,"average":25,"most":25},"favor_of_losers":{"trades":0,"average":null},` +
		`"given_back":{"trades":1,"average":35,"most":35},"why":{"average_loss":"no trade has lost",` +
		`"drawdown.marked":"it needs a paper account that was valued on two days, and a report of all its trades",` +
		`"favor_of_losers.average":"there is no such trade whose prices were seen","profit_factor":"no trade has lost, so there is nothing to divide by","r.average":"no trade has a first risk"}}]`
	if string(text) != want {
		t.Errorf("the report is\n%s\nwant\n%s", strings.ReplaceAll(string(text), "},", "},\n"), strings.ReplaceAll(want, "},", "},\n"))
	}
	if len(all) != 2 || all[0].Currency != "BTC" || all[1].Trades != 4 {
		t.Errorf("in all %+v", all)
	}
}
