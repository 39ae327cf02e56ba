package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"wick/exact"
	"wick/limit"
	"wick/market"
	"wick/trade"
)

// quantityOrAll declares a quantity, or the word all, which sets all and leaves p at zero.
func quantityOrAll(p *exact.Decimal, all *bool) arg {
	a := decimal(p, "quantity", "How much, in units of the base (0.5 of BTCUSDT is half a bitcoin), above 0, at most 8 decimals; or all, to close the position.")
	number := a.set
	a.schema = members(`"anyOf":[{"type":"number","exclusiveMinimum":0},{"type":"string","enum":["all"]}]`)
	a.set = func(v json.RawMessage) error {
		switch s, _ := readText("quantity", v); { // number refuses what is not a single value
		case strings.EqualFold(s, everything):
			*all = true
			return nil
		// A percentage is not read as a number: 50% could be of the position or of the
		// account, and so could half.
		case strings.HasSuffix(s, "%"), s != "" && !strings.ContainsAny(s, "0123456789"): // half, max
			return fmt.Errorf("quantity %q: write units of the base, such as 0.5, or all for the whole position; get_positions has how much is held", limit.Clip(s))
		}
		return number(v)
	}
	return a
}

// percent returns a, which declares a number, so that it also accepts a percent sign after
// the number. It is for arguments whose unit is percent anyway.
func percent(a arg) arg {
	number := a.set
	a.set = func(v json.RawMessage) error {
		if s, err := readText(a.name, v); err == nil {
			v = json.RawMessage(encode(strings.TrimSpace(strings.TrimSuffix(s, "%"))))
		}
		return number(v)
	}
	return a
}

// exit declares a stop_loss or a take_profit: a price, or a text such as 3% or 2atr. An
// empty text is refused and does not count as absent, since then the order would be
// placed without its protection.
func exit(p *trade.Exit, name, doc string) arg {
	schema := members(`"anyOf":[{"type":"number","exclusiveMinimum":0},{"type":"string"}]`)
	return arg{name: name, doc: doc, schema: schema, empty: true, set: single(p, name, func(s string) (trade.Exit, error) {
		x, err := trade.ParseExit(s)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return x, err
	})}
}

// oco declares the stop beside a limit order, an object. The engine checks whether it is
// on the right side of the market. An empty text is refused, as by exit: in its place the
// order would have no stop, and in that of its price a stop without a limit.
func oco(p *trade.OCO) arg {
	return arg{
		name: "oco", doc: "Beside an order of type limit: a stop on the other side of the market for the same quantity, with price a stop_limit. Of the two one is filled at most and the other ends with it.",
		empty:  true,
		schema: members(`"type":"object","properties":{"stop_price":{"type":"number","exclusiveMinimum":0},"price":{"type":"number","exclusiveMinimum":0}},"required":["stop_price"]`),
		set: func(v json.RawMessage) error {
			// The object is read like the arguments of a tool, with the same messages. Unknown
			// members are refused, as place_order refuses unknown arguments.
			price := decimal(&p.Price, "price", "")
			price.empty = true
			declared := []arg{decimal(&p.StopPrice, "stop_price", "").required("below the price for a sell, above it for a buy"), price}
			object, err := spelled("oco", v)
			if err != nil {
				return err
			}
			if !bytes.HasPrefix(object, []byte("{")) || !json.Valid(object) {
				return fmt.Errorf(`oco must be an object such as {"stop_price":95}, not %s`, limit.Clip(string(v)))
			}
			_, unknown, err := read(declared, object)
			if err != nil { // a line for each mistake
				err = errors.New("oco: " + strings.ReplaceAll(err.Error(), "\n", "\noco: "))
			}
			if len(unknown) > 0 {
				err = errors.Join(errors.New(sentence("oco", declared, unread(declared, unknown))), err)
			}
			return err
		},
	}
}

// deadline declares when an order or an alert ends: a moment, or a date, which means the
// end of that day in UTC. An empty text is refused, as by exit: the order would wait for
// ever.
func deadline(p *time.Time, name, doc string) arg {
	doc += ": a date (2026-01-31, to its end), a time in UTC (2026-01-31 14:30), RFC 3339 (2026-01-31T16:00:00Z) or unix seconds."
	return moment(p, name, doc, true)
}

// moment declares a time. A date means the beginning of that day in UTC, or with end its
// last second.
func moment(p *time.Time, name, doc string, end bool) arg {
	return arg{name: name, doc: doc, schema: members(`"type":"string"`), empty: true, set: single(p, name, func(s string) (time.Time, error) {
		if t, err := time.Parse(time.RFC3339, s); err == nil { // which keeps fractions of a second
			return t, nil
		}
		at, err := market.ParseTime(s, time.UTC, end)
		if err != nil {
			return time.Time{}, fmt.Errorf("%s %q is no time: write a date such as 2026-01-31, 2026-01-31 14:30 in UTC, RFC 3339 or unix seconds", name, limit.Clip(s))
		}
		return time.Unix(at, 0).UTC(), nil
	})}
}
