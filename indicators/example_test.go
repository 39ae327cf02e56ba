package indicators_test

import (
	"encoding/json"
	"fmt"

	"wick/indicators"
	"wick/market"
)

// Parse reads what a client sent, Compute runs it over bars, and Tail leaves
// out the bars that only warmed it up.
func Example() {
	requests, err := indicators.Parse([]json.RawMessage{
		json.RawMessage(`"rsi"`),
		json.RawMessage(`{"name":"sma","length":3}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := &market.Series{Symbol: "EXAMPLE", Interval: market.Hour1}
	for i, price := range []float64{10, 11, 12, 11, 9} {
		s.Append(market.Bar{Time: int64(i) * 3600, Open: price, High: price, Low: price, Close: price, Volume: 1})
	}
	for _, r := range requests {
		result := r.Compute(s).Tail(s.Len(), 3)
		values, _ := json.Marshal(result.Lines[0].Values)
		fmt.Printf("%s %s\n", result.Label, values)
	}
	// Output:
	// RSI(14) [null,null,null]
	// SMA(3) [11,11.33333333,10.66666667]
}

// An error says what was refused and what would be right.
func ExampleNew() {
	_, err := indicators.New("bolinger", nil)
	fmt.Println(err)
	_, err = indicators.New("rsi", map[string]json.RawMessage{"length": json.RawMessage("0")})
	fmt.Println(err)
	// Output:
	// unknown indicator "bolinger", did you mean "bollinger", "klinger" or "keltner"?: call list_indicators for the names
	// bad indicator parameter: length of rsi: 0 is out of bounds, 1 to 1000
}
