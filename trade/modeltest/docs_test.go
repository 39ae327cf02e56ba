package modeltest

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
)

// TestExampleOfTrades: the example of docs/trades.md is what the tools answer, but for ids and
// times. "at 106" is a price; a line with a name is a call; what follows one is its reply, and where
// nothing follows the reply is not shown.
func TestExampleOfTrades(t *testing.T) {
	text, err := os.ReadFile("../../docs/trades.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "## Trades")
	_, example, _ = strings.Cut(example, "```\n")
	example, _, _ = strings.Cut(example, "```\n")
	changing := regexp.MustCompile(`\b([ot])-[0-9a-f]{8}-\d+|\d{4}-\d\d-\d\dT[0-9:.]+Z`)
	plain := func(text string) string {
		return changing.ReplaceAllString(strings.Join(strings.Fields(text), ""), "$1")
	}
	synctest.Test(t, func(t *testing.T) {
		rule := rules{fee: n("0.001"), maker: n("0.001"), slippage: n("0"), spread: n("0"), tick: unit, lot: unit, minimum: n("0"), maxOrder: n("100000"), maxHeld: n("1000000"), leverage: n("1")}
		d := &desk{t: t, options: rule.options(t.TempDir()), feed: &feed{prices: map[string]float64{"AAAUSD": 100}, beside: make(map[string][2]float64)}}
		d.options.Symbols = []string{"AAAUSD"}
		d.start()
		defer func() { d.stop() }()
		synctest.Wait()
		var reply, shown string
		check := func() {
			if shown != "" && plain(shown) != plain(reply) {
				t.Errorf("docs/trades.md shows\n%s\nand the reply is\n%s", shown, reply)
			}
			shown = ""
		}
		calls, last := 0, 0.0
		for line := range strings.Lines(example) {
			var call struct {
				Name      string
				Arguments map[string]any
			}
			var price float64
			switch {
			case strings.HasPrefix(line, "at "):
				if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "at ")), &price); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				now := time.Now()
				u := market.Update{Symbol: "AAAUSD", Source: "test", Price: price, High: max(price, last), Low: price, At: now.UnixMilli(), From: price}
				if last != 0 {
					u.From, u.Low, u.Since = last, min(price, last), now.Add(-time.Minute).UnixMilli()
				}
				u.Path = []market.Bar{{Time: now.Unix(), Open: u.From, High: u.High, Low: u.Low, Close: price}}
				d.feed.prices["AAAUSD"], last = price, price
				d.deliver(u)
				synctest.Wait()
			case json.Unmarshal([]byte(line), &call) == nil && call.Name != "":
				check()
				texts, err := d.call(call.Name, call.Arguments)
				if err != nil {
					t.Fatalf("%s%v", line, err)
				}
				reply = string(texts[0])
				calls++
			default:
				shown += line
			}
		}
		check()
		if calls < 4 {
			t.Errorf("the example has %d calls", calls)
		}
	})
}
