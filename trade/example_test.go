package trade_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"wick/internal/exact"
	"wick/market"
	"wick/trade"
	"wick/trade/book"
)

// An engine on paper: open a directory, place an order, and after the next
// start it is still there.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "wick")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	source := market.Sample{}
	options := trade.Options{Dir: dir, Source: source, Feed: market.NewFeed(source, nil)}

	engine, err := trade.Open(options)
	if err != nil {
		log.Fatal(err)
	}
	quantity, err := exact.Parse([]byte("0.10"))
	if err != nil {
		log.Fatal(err)
	}
	order, err := engine.Place(context.Background(), book.OrderRequest{
		Symbol: "btcusdt", Side: book.Buy, Type: book.Market, Quantity: quantity, ClientOrderID: "first",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(order.Symbol, order.Status, order.FilledQuantity)
	if err := engine.Close(); err != nil {
		log.Fatal(err)
	}

	engine, err = trade.Open(options)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	orders, err := engine.Orders(false)
	if err != nil {
		log.Fatal(err)
	}
	positions, err := engine.Positions(false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(orders), positions[0].Quantity)
	// Output:
	// BTCUSDT filled 0.1
	// 1 0.1
}
