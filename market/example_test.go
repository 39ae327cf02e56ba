package market_test

import (
	"context"
	"fmt"

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
