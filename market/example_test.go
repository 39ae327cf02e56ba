package market_test

import (
	"context"
	"fmt"
	"time"

	"wick/market"
)

// A source answers a query with the newest bars, and says what they are.
func Example() {
	source, err := market.Open("sample", nil)
	if err != nil {
		panic(err)
	}
	s, err := source.Bars(context.Background(), market.Query{Symbol: "BTCUSDT", Interval: market.Hour1, Limit: 48})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Len(), "bars from", s.Source, "synthetic:", s.Synthetic, "forming:", s.Forming)
	// Output: 48 bars from sample synthetic: true forming: true
}

// Coarse bars follow the clock: the hours 02 to 05 belong to two of them.
func ExampleResample() {
	fine := &market.Series{Interval: market.Hour1, AsOf: 8 * 3600 * 1000}
	for h := int64(2); h < 6; h++ {
		p := float64(100 + h)
		fine.Append(market.Bar{Time: h * 3600, Open: p, High: p + 2, Low: p - 2, Close: p + 1, Volume: 10})
	}
	coarse, err := market.Resample(fine, market.Hour4, nil)
	if err != nil {
		panic(err)
	}
	for i := range coarse.Len() {
		b := coarse.Bar(i)
		fmt.Println(time.Unix(b.Time, 0).UTC().Format("15:04"), b.Open, b.High, b.Low, b.Close, b.Volume)
	}
	// Output:
	// 00:00 102 105 100 104 20
	// 04:00 104 107 102 106 20
}

// A feed tells one listener what is new until its context ends.
func ExampleFeed() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	feed := market.NewFeed(market.Sample{}, nil)
	feed.Watch("BTCUSDT", market.Minute1)
	err := feed.Run(ctx, func(u market.Update) {
		fmt.Println(u.Symbol, u.Price > 0, u.Low <= u.Price && u.Price <= u.High)
		cancel()
	})
	fmt.Println(err)
	// Output:
	// BTCUSDT true true
	// <nil>
}
