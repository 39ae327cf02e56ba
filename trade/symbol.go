package trade

import (
	"wick/market"
	"wick/trade/book"
)

// symbol returns the one name under which everything of a market is kept, for any
// spelling that the source understands. An open order or a position that was made with
// another source keeps its name until it is gone, because otherwise nobody could close it.
// It is called without mu.
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
	if e.book.Holdings[written].Quantity != 0 || len(e.book.Open[written]) > 0 {
		return written, nil
	}
	return canonical, nil
}
