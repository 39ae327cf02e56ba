package trade

import (
	"wick/market"
	"wick/trade/book"
)

// symbol returns the one name under which everything of a market is kept, for any
// spelling that the source understands. Earlier versions kept the spelling of the client.
// An open order or a position from then keeps that spelling until it is gone, because
// otherwise nobody could close it. It is called without mu.
func (e *Engine) symbol(text string) (string, error) {
	canonical, err := market.Resolve(e.options.Source, text)
	if err != nil {
		return "", book.Refuse("bad_symbol", "%v", err)
	}
	written, err := market.ParseSymbol(text)
	if err != nil || written == canonical {
		return canonical, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ahead.Holdings[written].Quantity != 0 || len(e.ahead.Open[written]) > 0 {
		return written, nil
	}
	return canonical, nil
}

// sameMarket reports whether two symbols, the first perhaps one that an earlier
// version kept, name one market.
func (d *desk) sameMarket(kept, symbol string) bool {
	if kept == symbol {
		return true
	}
	a, err1 := market.Resolve(d.options.Source, kept)
	b, err2 := market.Resolve(d.options.Source, symbol)
	return err1 == nil && err2 == nil && a == b
}
