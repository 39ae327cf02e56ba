package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"wick/indicators"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/internal/strictjson"
	"wick/market"
	"wick/mcp"
	"wick/trade/book"
)

const (
	maxWeights = 20 // symbols of one rebalancing

	// maxCorrelated is how many positions are compared with each other, the largest: of ten there
	// are 45 pairs.
	maxCorrelated = 10
)

// positionsRequest is what get_positions was asked for.
type positionsRequest struct {
	flat, account bool
	view          string
	weights       map[string]exact.Decimal
	bars          int
	interval      market.Interval
}

func (r *positionsRequest) args() []arg {
	return []arg{
		boolean(&r.flat, "include_flat", "Closed ones too, with what they realized, and totals over all symbols."),
		boolean(&r.account, "account", "Add cash, equity, buying power, profit of the day and in all, by symbol and by day, exposure, risk to the stops, drawdown."),
		word(&r.view, "view", "What to show.", "positions", "positions", "risk"),
		weights(&r.weights),
		whole(&r.bars, "bars", "With view=risk: of the correlation of returns.", 90, 10, 1000),
		interval(&r.interval, "With view=risk: of these bars.", market.Day1),
	}
}

func (r *positionsRequest) check(sent sent) error {
	switch {
	case r.view != "risk" && (r.weights != nil || sent["bars"] != nil || sent["interval"] != nil):
		return errors.New("weights, bars and interval go with view=risk")
	case r.view == "risk" && (r.flat || r.account):
		return errors.New("view=risk has the risk of what is held: leave out include_flat and account")
	}
	return nil
}

// weights declares the parts of a portfolio, an object of percentages by symbol.
func weights(p *map[string]exact.Decimal) arg {
	return arg{
		name: "weights", doc: `With view=risk: percent by symbol, such as {"BTCUSDT":50,"ETHUSDT":50}; what is not named stays as it is. Places nothing.`,
		schema: members(`"type":"object","additionalProperties":{"type":"number","minimum":0,"maximum":100}`), empty: true,
		set: func(v json.RawMessage) error {
			v, err := spelled("weights", v)
			if err != nil {
				return err
			}
			if len(v) == 0 || v[0] != '{' || !json.Valid(v) {
				return fmt.Errorf(`weights must be an object such as {"BTCUSDT":50}, not %s`, limit.Clip(string(v)))
			}
			*p = make(map[string]exact.Decimal)
			var sum exact.Decimal
			for name, value := range strictjson.Each(v) {
				text, err := readText("weights", value)
				if err != nil {
					return err
				}
				percent, err := exact.Parse([]byte(text))
				if err != nil || percent < 0 || percent > 100*exact.One {
					return fmt.Errorf("weights: %s of %s is no percentage from 0 to 100", limit.Clip(text), limit.Clip(string(name)))
				}
				(*p)[string(name)] = percent
				sum += percent
				if len(*p) > maxWeights {
					return fmt.Errorf("weights names more than %d symbols", maxWeights)
				}
			}
			if len(*p) == 0 || sum > 100*exact.One {
				return fmt.Errorf("weights adds up to %s: at least one symbol, and at most 100 percent", sum)
			}
			return nil
		},
	}
}

// correlated says how the returns of positions go together.
type correlated struct {
	Interval market.Interval   `json:"interval"`
	Bars     int               `json:"bars"`
	Symbols  []string          `json:"symbols"`
	Matrix   []json.RawMessage `json:"matrix"` // a row for each symbol: numbers from -1 to 1, null where bars are missing
	Failed   map[string]string `json:"failed,omitempty"`
}

// risk answers view=risk.
func (h *handlers) risk(ctx context.Context, r *positionsRequest) (*mcp.Result, error) {
	p, rebalance, err := h.Engine.Portfolio(ctx, r.weights)
	if err != nil {
		return nil, err
	}
	return mcp.JSON(struct {
		book.Portfolio
		Correlation *correlated     `json:"correlation,omitempty"` // of two positions at least
		Rebalance   *book.Rebalance `json:"rebalance,omitempty"`
	}{p, h.correlation(ctx, p, r), rebalance}), nil
}

// correlation compares the returns of the largest positions by the indicator correlation_versus. It
// returns nil if there are fewer than two. A symbol that has no bars is named with the reason.
func (h *handlers) correlation(ctx context.Context, p book.Portfolio, r *positionsRequest) *correlated {
	held := p.Positions[:min(len(p.Positions), maxCorrelated)]
	if len(held) < 2 {
		return nil
	}
	c := &correlated{Interval: r.interval, Bars: r.bars, Failed: make(map[string]string)}
	rows, failed := make([][]float64, len(held)), make([]error, len(held))
	each(scanners, len(held), func() {}, func(i int) {
		rows[i] = make([]float64, len(held))
		q := question{symbol: held[i].Symbol, interval: r.interval, bars: 1}
		for _, other := range held[i+1:] {
			by, err := indicators.New("correlation_versus", map[string]json.RawMessage{
				"symbol": mcp.Encode(other.Symbol), "length": mcp.Encode(r.bars), "of": mcp.Encode("returns")})
			if failed[i] = err; err != nil {
				return
			}
			q.indicators = append(q.indicators, by)
		}
		v, _, err := h.span(ctx, q)
		if failed[i] = err; err != nil {
			return
		}
		for k, panel := range v.Panels {
			rows[i][i+1+k] = math.Round(100*last(panel.Result.Lines[0].Values)) / 100
		}
	})
	for i := range held {
		c.Symbols = append(c.Symbols, held[i].Symbol)
		rows[i][i] = 1
		var text []byte
		for k := range held {
			v := rows[min(i, k)][max(i, k)]
			if failed[min(i, k)] != nil && i != k {
				v = math.NaN()
			}
			text = indicators.AppendValue(append(text, ','), v)
		}
		text[0] = '['
		c.Matrix = append(c.Matrix, append(text, ']'))
		if failed[i] != nil {
			c.Failed[held[i].Symbol] = failed[i].Error()
		}
	}
	return c
}
