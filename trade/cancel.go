package trade

import (
	"wick/trade/book"
)

// Cancelled is an order that was cancelled.
type Cancelled struct {
	book.Order
	Ended []string `json:"ended,omitempty"` // ids of the orders that ended with it
}

// CancelOrder cancels an open order on behalf of who, and returns it. An order that has
// ended is refused, with a text that says how it ended. Other orders of its group, such
// as the stop beside a limit, end in the same step.
func (e *Engine) CancelOrder(who book.Who, id string) (c Cancelled, err error) {
	var o *book.Order
	var no *book.Refusal
	if err := e.View(func(s *book.State) { o, no = s.Order(id), e.book.NotOrder(id) }); err != nil {
		return c, err
	}
	if o == nil { // an order that has ended may have left memory
		if o, err = e.archive.order(orderKey(id)); err != nil {
			return c, err
		}
	}
	switch {
	case o == nil:
		return c, no
	case o.Status.Terminal():
		c.Order = o.Public()
		return c, book.Uncancellable(o, id)
	}
	cancelled, err := e.cancel(who, []string{id})
	if err != nil {
		return c, err
	}
	if len(cancelled) == 0 { // it has ended meanwhile
		if c.Order, err = e.Order(id); err == nil {
			err = book.Uncancellable(&c.Order, id)
		}
		return c, err
	}
	c.Order = cancelled[0]
	for _, with := range cancelled[1:] {
		c.Ended = append(c.Ended, with.ID)
	}
	return c, nil
}

// CancelOrders cancels all open orders, or those of one market if symbol is not empty,
// and returns them. After an error some of them may still be open.
func (e *Engine) CancelOrders(who book.Who, symbol string) ([]book.Order, error) {
	symbol, err := e.symbolOrAll(symbol)
	if err != nil {
		return nil, err
	}
	var open []string
	err = e.View(func(s *book.State) {
		for _, o := range s.OpenOrders() {
			if symbol == "" || o.Symbol == symbol {
				open = append(open, o.ID)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return e.cancel(who, open)
}

// cancel cancels open orders: those that are in this book alone, on paper or because they wait for
// their rule, in one go, so that no price comes in between, and then the others at the venue.
func (e *Engine) cancel(who book.Who, ids []string) (cancelled []book.Order, err error) {
	var there []string
	err = e.Do(func(s *book.State) error {
		for _, id := range ids {
			o := s.Order(id)
			switch {
			case o == nil || o.Status.Terminal(): // it ended meanwhile, or with an order before it
				continue
			case o.Account != "":
				there = append(there, id)
				continue
			}
			ev, err := e.book.Cancel(o, who, book.Reason{}, now())
			if err != nil {
				return err
			}
			cancelled = append(cancelled, ev.Order.Public())
			for _, with := range ev.Ends {
				cancelled = append(cancelled, s.Order(with.ID).Public())
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(there) > 0 {
		var sent []book.Order
		sent, err = e.venue.Cancel(who, there)
		cancelled = append(cancelled, sent...)
	}
	return cancelled, err
}
