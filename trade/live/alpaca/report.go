package alpaca

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"wick/trade/book"
	"wick/trade/live"
)

// Sizes of the pages that lists come in, and how many of them are read.
const (
	ordersPage = 500
	maxPages   = 40 // 20,000 orders
)

// Account asks for the account: its number, its money, and whether it may trade.
func (c *Client) Account(ctx context.Context) (book.BrokerAccount, error) {
	var a account
	if err := c.do(ctx, ordinary, http.MethodGet, "/v2/account", nil, nil, &a); err != nil {
		return book.BrokerAccount{}, err
	}
	return a.account()
}

// Report asks for the account, its open orders and its positions. It returns an error
// unless it has read all of them. So the book may be compared with a report: what is
// missing in it does not exist at Alpaca.
func (c *Client) Report(ctx context.Context) (r live.Report, err error) {
	// Orders are read before positions. A fill between the two is already part of the
	// position but not yet of the order; the next report has both.
	if r.Open, err = c.open(ctx); err != nil {
		return r, err
	}
	var held []position
	if err = c.do(ctx, ordinary, http.MethodGet, "/v2/positions", nil, nil, &held); err != nil {
		return r, err
	}
	for i := range held {
		p, err := held[i].position()
		if err != nil {
			return r, err
		}
		r.Positions = append(r.Positions, p)
	}
	r.Account, err = c.Account(ctx)
	return r, err
}

// open asks for all open orders, oldest first. Each page begins a moment before the time of
// the last order of the page before, because others may have been placed at the same time: that
// order comes again. An order that ends between two pages may be missing: the caller asks for it
// by its id before it believes that it is gone.
func (c *Client) open(ctx context.Context) (all []live.State, err error) {
	seen := make(map[string]bool)
	query := url.Values{"status": {"open"}, "limit": {strconv.Itoa(ordersPage)}, "direction": {"asc"}, "nested": {"true"}}
	for range maxPages {
		var page []order
		if err := c.do(ctx, ordinary, http.MethodGet, "/v2/orders", query, nil, &page); err != nil {
			return nil, err
		}
		before := len(seen)
		for i := range page {
			s, err := page[i].state()
			if err != nil {
				return nil, err
			}
			if !seen[s.ID] {
				seen[s.ID], all = true, append(all, s)
			}
		}
		if len(page) < ordersPage {
			return all, nil
		}
		if len(seen) == before { // all of the page were placed at the same time: the next would be the same
			break
		}
		query.Set("after", page[len(page)-1].CreatedAt.Add(-time.Nanosecond).Format(time.RFC3339Nano))
	}
	return nil, errors.New("alpaca: there are more open orders than can be read")
}
