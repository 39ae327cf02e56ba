package market

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
)

// Grid is what an exchange counts prices and quantities of a market in, and the least
// value and quantity of an order there, by its own rules. The numbers are decimal text
// as the exchange sent it, because a binary fraction is no step; empty or zero means
// that there is no such rule.
type Grid struct {
	Tick    string // prices are whole multiples of it
	Lot     string // so are quantities of it
	Minimum string // least value of an order, in the quote currency
	Least   string // least quantity of an order
}

// gridAge is how long the rules of a market are used again. Exchanges announce a
// change of them days before.
const gridAge = 24 * time.Hour

// Grid returns the rules of a canonical symbol: an empty Grid if its source has
// none. It asks the exchange once a day.
func (f *Feed) Grid(ctx context.Context, symbol string) (Grid, error) {
	s := serviceOf(f.source, symbol)
	if s == nil || s.grid == nil {
		return Grid{}, nil
	}
	always := func(Grid) bool { return true }
	return f.grids.get(ctx, symbol, symbol, always, func(ctx context.Context) (kept[Grid], error) {
		g, err := s.grid(ctx, s.host, symbol)
		return kept[Grid]{value: g, expiry: time.Now().Add(gridAge)}, err
	})
}

// errNotOne is for an answer that should be about the one symbol in the request.
var errNotOne = errors.New("the answer is not about one symbol")

// binanceGrid reads the filters of a symbol. Some symbols have the older name of
// the least value.
func binanceGrid(ctx context.Context, h *host, symbol string) (g Grid, err error) {
	const weight = 20
	_, err = h.get(ctx, symbol, weight, "/api/v3/exchangeInfo", url.Values{"symbol": {symbol}}, func(body []byte) error {
		var answer struct {
			Symbols []struct {
				Symbol  string `json:"symbol"`
				Filters []struct {
					Type        string `json:"filterType"`
					TickSize    string `json:"tickSize"`
					StepSize    string `json:"stepSize"`
					MinQuantity string `json:"minQty"`
					MinNotional string `json:"minNotional"`
				} `json:"filters"`
			} `json:"symbols"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return err
		}
		if len(answer.Symbols) != 1 || answer.Symbols[0].Symbol != symbol {
			return errNotOne
		}
		for _, f := range answer.Symbols[0].Filters {
			switch f.Type {
			case "PRICE_FILTER":
				g.Tick = f.TickSize
			case "LOT_SIZE":
				g.Lot, g.Least = f.StepSize, f.MinQuantity
			case "NOTIONAL", "MIN_NOTIONAL":
				g.Minimum = f.MinNotional
			}
		}
		return nil
	})
	return g, err
}

// krakenGrid reads the rules of a pair. Quantities are given as a number of
// decimals, and so are prices where there is no step of them.
func krakenGrid(ctx context.Context, h *host, symbol string) (g Grid, err error) {
	_, err = h.get(ctx, symbol, 1, "/0/public/AssetPairs", url.Values{"pair": {symbol}}, func(body []byte) error {
		pairs, err := krakenResult[struct {
			Tick          string `json:"tick_size"`
			PriceDecimals int    `json:"pair_decimals"`
			LotDecimals   int    `json:"lot_decimals"`
			Cost          string `json:"costmin"`
			Least         string `json:"ordermin"`
		}](body)
		if err == nil && len(pairs) != 1 {
			err = errNotOne
		}
		for _, p := range pairs {
			g = Grid{Tick: cmp.Or(p.Tick, decimals(p.PriceDecimals)), Lot: decimals(p.LotDecimals), Minimum: p.Cost, Least: p.Least}
		}
		return err
	})
	return g, err
}

// decimals returns the step of numbers with n decimals, empty for more than a
// market can have.
func decimals(n int) string {
	if n < 0 || n > 18 {
		return ""
	}
	if n == 0 {
		return "1"
	}
	return "0." + strings.Repeat("0", n-1) + "1"
}

// coinbaseGrid reads the increments of a product. Its least value is that of
// market orders.
func coinbaseGrid(ctx context.Context, h *host, symbol string) (g Grid, err error) {
	_, err = h.get(ctx, symbol, 1, "/products/"+symbol, nil, func(body []byte) error {
		var p struct {
			ID    string `json:"id"`
			Quote string `json:"quote_increment"`
			Base  string `json:"base_increment"`
			Funds string `json:"min_market_funds"`
		}
		if err := json.Unmarshal(body, &p); err != nil {
			return err
		}
		if p.ID != symbol {
			return errNotOne
		}
		g = Grid{Tick: p.Quote, Lot: p.Base, Minimum: p.Funds}
		return nil
	})
	return g, err
}
