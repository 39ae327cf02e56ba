package trade

import (
	"testing"

	"wick/exact"
)

// TestEstimateWithoutPrice: a market order that waits for volume has no price yet, and
// so no place for exits that stand at a distance from it.
func TestEstimateWithoutPrice(t *testing.T) {
	far := &Exit{ATR: 2 * exact.One, Distance: 4 * exact.One}
	for _, side := range []Side{Buy, Sell} {
		o := Order{Side: side, Type: Market, Quantity: exact.One, Status: StatusOpen, StopLoss: far, TakeProfit: far}
		if got := new(Engine).Estimate(o); got != (Estimate{}) {
			t.Errorf("a %s without a price: %+v", side, got)
		}
	}
}
