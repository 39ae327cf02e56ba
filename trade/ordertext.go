package trade

import (
	"encoding/json"
	"strconv"

	"wick/exact"
)

// appendJSON adds the order to b as encoding/json writes it, byte for byte. A snapshot
// has thousands of orders, and whoever places an order meanwhile waits for it: this
// function takes a fifth of the time that encoding/json takes. A test compares the two
// for orders of every shape.
func (o *Order) appendJSON(b []byte) []byte {
	b = appendText(b, `{"order_id":`, o.ID)
	b = appendText(b, `,"client_order_id":`, o.ClientOrderID)
	b = appendText(b, `,"symbol":`, o.Symbol)
	b = appendText(b, `,"side":`, string(o.Side))
	b = appendText(b, `,"type":`, string(o.Type))
	b = appendDecimal(b, `,"quantity":`, &o.Quantity)
	b = appendDecimal(b, `,"price":`, o.Price)
	b = appendText(b, `,"status":`, string(o.Status))
	b = appendDecimal(b, `,"filled_quantity":`, &o.FilledQuantity)
	b = appendDecimal(b, `,"average_price":`, o.AveragePrice)
	b = appendDecimal(b, `,"fee":`, &o.Fee)
	b = appendText(b, `,"broker":`, o.Broker)
	b = o.CreatedAt.append(append(b, `,"created_at":`...))
	b = o.UpdatedAt.append(append(b, `,"updated_at":`...))
	b = appendText(b, `,"reason":`, o.Reason)
	if o.PriceAt != nil {
		b = o.PriceAt.append(append(b, `,"price_at":`...))
	}
	b = appendGiven(b, `,"source":`, o.Source)
	b = appendTrue(b, `,"synthetic":`, o.Synthetic)
	b = appendGiven(b, `,"account":`, o.Account)
	b = appendGiven(b, `,"broker_order_id":`, o.BrokerID)
	return append(o.appendTerms(b), '}')
}

// appendTerms adds the members that only some orders have.
func (o *Order) appendTerms(b []byte) []byte {
	if o.StopPrice != nil {
		b = appendDecimal(b, `,"stop_price":`, o.StopPrice)
	}
	if o.TriggeredAt != nil {
		b = o.TriggeredAt.append(append(b, `,"triggered_at":`...))
	}
	b = appendNonzero(b, `,"trail_amount":`, o.TrailAmount)
	b = appendNonzero(b, `,"trail_percent":`, o.TrailPercent)
	b = appendGiven(b, `,"time_in_force":`, string(o.TimeInForce))
	if o.ExpiresAt != nil {
		b = o.ExpiresAt.append(append(b, `,"expires_at":`...))
	}
	b = appendTrue(b, `,"post_only":`, o.PostOnly)
	b = appendTrue(b, `,"reduce_only":`, o.ReduceOnly)
	b = appendNonzero(b, `,"notional":`, o.Notional)
	b = appendGiven(b, `,"replaces":`, o.Replaces)
	if o.StopLoss != nil {
		b = appendValue(b, `,"stop_loss":`, o.StopLoss)
	}
	if o.TakeProfit != nil {
		b = appendValue(b, `,"take_profit":`, o.TakeProfit)
	}
	b = appendGiven(b, `,"group":`, o.Group)
	b = appendGiven(b, `,"role":`, string(o.Role))
	b = appendGiven(b, `,"asked":`, o.Asked)
	if o.Turn != 0 {
		b = strconv.AppendUint(append(b, `,"turn":`...), o.Turn, 10)
	}
	if o.By != nil {
		b = appendValue(b, `,"by":`, o.By)
	}
	return appendGiven(b, `,"evidence":`, o.Evidence)
}

// appendText adds a member whose value is text. Name is the member's name as JSON, with
// the comma before it and the colon after it.
func appendText(b []byte, name, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return appendValue(b, name, text) // encoding/json knows what to escape
		}
	}
	b = append(append(b, name...), '"')
	return append(append(b, text...), '"')
}

// appendGiven is like appendText, but leaves out an empty text.
func appendGiven(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendText(b, name, text)
}

// appendDecimal adds a member whose value is a number, or null for nil.
func appendDecimal(b []byte, name string, d *exact.Decimal) []byte {
	if d == nil {
		return append(append(b, name...), "null"...)
	}
	return d.Append(append(b, name...))
}

// appendNonzero is like appendDecimal, but leaves out a zero.
func appendNonzero(b []byte, name string, d exact.Decimal) []byte {
	if d == 0 {
		return b
	}
	return d.Append(append(b, name...))
}

// appendTrue adds a member whose value is true, or nothing if set is false.
func appendTrue(b []byte, name string, set bool) []byte {
	if !set {
		return b
	}
	return append(append(b, name...), "true"...)
}

// appendValue adds a member as encoding/json writes it.
func appendValue(b []byte, name string, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // text, numbers and structs of them can always be encoded
	}
	return append(append(b, name...), text...)
}
