package trade

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"wick/internal/exact"
	"wick/trade/book"
)

// Closed is the result of [Engine.CloseAll] for one position.
type Closed struct {
	book.Placed
	Error string `json:"error,omitempty"` // why the position stays
}

// MarshalJSON writes the order or, of a position that stays, its symbol and why.
func (c Closed) MarshalJSON() ([]byte, error) {
	if c.Error == "" {
		return json.Marshal(c.Placed)
	}
	return json.Marshal(struct {
		Symbol string `json:"symbol"`
		Error  string `json:"error"`
	}{c.Symbol, c.Error})
}

// CloseAll places r, which is of type market, for every open position: the side that
// closes it, and all of it. Each position gets an order of its own: if one is refused, the
// others are closed all the same, and the reason is in the list. If its ClientOrderID was used
// before, the earlier orders are returned, and of the other positions those are closed that were
// held then and left: neither opened nor changed since.
//
// Previews, if not nil, are the result of a dry run. Then only what the dry run would have
// closed is closed, and a position that has changed since stays.
func (e *Engine) CloseAll(ctx context.Context, r book.OrderRequest, previews []Closed) ([]Closed, error) {
	if r.Type != book.Market || !r.All || r.Replaces != "" {
		return nil, book.Refuse("bad_symbol", "symbol all closes every position, with type market and quantity all and without replaces: for any other order name one symbol; "+
			"a market of that name is written in capital letters, ALL")
	}
	// What cannot be asked of all positions at once is refused even if there are none. The side
	// is set for each position; here any will do.
	r.Side = book.Sell
	if err := r.Normalize(); err != nil {
		return nil, err
	}
	if err := r.CheckExpiry(now()); err != nil {
		return nil, err
	}
	out, err := e.closedBefore(r)
	if err != nil {
		return nil, err
	}
	id, since := r.ClientOrderID, map[string]bool{}
	if len(out) > 0 {
		if since, err = e.filledSince(out); err != nil {
			return nil, err
		}
	}
	positions, err := e.Positions(false)
	if err != nil {
		return nil, err
	}
	for _, p := range positions {
		switch {
		case p.Quantity == 0, slices.ContainsFunc(out, func(c Closed) bool { return c.Symbol == p.Symbol }):
			continue // only the account has it, and not this book; or it was closed, or is being closed
		case since[p.Symbol]:
			out = append(out, Closed{Placed: book.Placed{Order: book.Order{Symbol: p.Symbol}}, Error: "client_order_id was used before this position was opened or changed: choose another id"})
			continue
		}
		r.Symbol, r.Side, r.ClientOrderID = p.Symbol, book.Sell, closingID(id, p.Symbol)
		if p.Side == "short" {
			r.Side = book.Buy
		}
		if previews != nil {
			seen := slices.IndexFunc(previews, func(c Closed) bool { return c.Symbol == p.Symbol })
			if seen >= 0 && previews[seen].Error != "" {
				out = append(out, previews[seen])
				continue
			}
			r.Held = new(exact.Decimal) // zero: the dry run saw no position here
			if seen >= 0 {
				*r.Held = -previews[seen].Side.Sign(previews[seen].Quantity)
			}
		}
		p, err := e.PlaceOrder(ctx, r)
		c := Closed{Placed: p}
		if err != nil {
			c.Symbol, c.Error = r.Symbol, err.Error()
		}
		out = append(out, c)
	}
	return out, nil
}

// closedBefore returns the orders by which an earlier CloseAll with the ClientOrderID of r
// closed positions; none if the id is empty or new. It refuses r if the earlier request
// had other arguments.
func (e *Engine) closedBefore(r book.OrderRequest) ([]Closed, error) {
	out, id := []Closed{}, r.ClientOrderID
	if id == "" {
		return out, nil
	}
	positions, err := e.Positions(true)
	if err != nil {
		return nil, err
	}
	for _, p := range positions {
		r := r
		r.Symbol, r.Side, r.ClientOrderID = p.Symbol, "", closingID(id, p.Symbol)
		if earlier, err := e.earlier(&r); err != nil {
			return nil, err
		} else if earlier.ID != "" {
			out = append(out, Closed{Placed: earlier})
		}
	}
	return out, nil
}

// filledSince returns the symbols in which something was filled when the first of these orders was placed, or later.
func (e *Engine) filledSince(closed []Closed) (since map[string]bool, err error) {
	first := slices.MinFunc(closed, func(a, b Closed) int { return a.CreatedAt.Compare(b.CreatedAt.Time) }).CreatedAt.Time
	since = make(map[string]bool)
	err = e.View(func(s *book.State) {
		for symbol, t := range s.Trades { // its orders may have left memory
			since[symbol] = !t.OpenedAt.Before(first)
		}
		for _, o := range s.Orders {
			since[o.Symbol] = since[o.Symbol] || o.FilledQuantity > 0 && !o.UpdatedAt.Before(first)
		}
	})
	return since, err
}

// closingID returns the client_order_id of the order that closes the position of
// a symbol when all are closed under id: the two joined, or a digest of them if the
// joined text is no valid client_order_id. An empty id stays empty.
func closingID(id, symbol string) string {
	joined := id + ":" + symbol
	switch {
	case id == "":
		return ""
	case book.ClientIDShape.MatchString(joined):
		return joined
	}
	digest := sha256.Sum256([]byte(joined))
	return "all:" + hex.EncodeToString(digest[:16])
}
