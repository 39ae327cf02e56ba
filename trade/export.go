package trade

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/trade/book"
)

// Exports are what [Export] can write: every order, every execution, or what the account
// was worth when it was first valued on each day.
var Exports = []string{"orders", "fills", "equity"}

// Export writes one of [Exports] of a state directory to w, oldest first, as CSV
// with a header or as a JSON array. It only reads, so it may run beside the
// process that owns the directory.
func Export(dir, what, format string, w io.Writer) error {
	var header []string
	var rows [][]string
	var list any
	if what == "fills" {
		fills, err := readFills(dir)
		if err != nil {
			return err
		}
		header, list = fillHeader, fills
		for _, f := range fills {
			rows = append(rows, f.row())
		}
		return writeTable(w, format, header, rows, list)
	}
	orders, days, err := readHistory(dir)
	if err != nil {
		return err
	}
	if what == "equity" {
		markSynthetic(days, orders)
		header, list = []string{"date", "equity", "realized_pnl", "fees", "synthetic"}, days
		for _, d := range days {
			rows = append(rows, []string{d.Date, d.Equity.String(), d.Realized.String(), d.Fees.String(), text(true, d.Synthetic)})
		}
		return writeTable(w, format, header, rows, list)
	}
	for _, o := range orders {
		rows = append(rows, row(&o))
	}
	return writeTable(w, format, orderHeader, rows, orders)
}

// writeTable writes a table to w: as CSV its header and rows, as JSON the list.
func writeTable(w io.Writer, format string, header []string, rows [][]string, list any) error {
	if format == "json" {
		text, err := json.Marshal(list)
		if err == nil {
			_, err = w.Write(append(text, '\n'))
		}
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return err
	}
	return out.WriteAll(rows)
}

// markSynthetic marks the days from the first on which an order was placed that was filled
// at an invented price. The orders are sorted by age. The days' own mark is not enough: it
// is made before the first order of the day, and older versions did not write it.
func markSynthetic(days []book.DayMark, orders []book.Order) {
	first := slices.IndexFunc(orders, func(o book.Order) bool { return o.Synthetic && o.FilledQuantity != 0 })
	for i := range days {
		days[i].Synthetic = days[i].Synthetic || first >= 0 && days[i].Date >= orders[first].CreatedAt.UTC().Format(time.DateOnly)
	}
}

// exportedFill is one execution: what changed a position. Counted in their order at average cost,
// all executions of a symbol give its realized profit.
type exportedFill struct {
	Sequence      uint64        `json:"sequence"` // of its record in the journal
	Time          book.Time     `json:"time"`     // when the book took it
	OrderID       string        `json:"order_id"`
	ClientOrderID string        `json:"client_order_id"`
	Symbol        string        `json:"symbol"`
	Side          book.Side     `json:"side"`
	Quantity      exact.Decimal `json:"quantity"`
	Price         exact.Decimal `json:"price"`
	Fee           exact.Decimal `json:"fee"`
	Source        string        `json:"source"`
	Synthetic     bool          `json:"synthetic,omitempty"`
}

// fillHeader names the columns of an execution.
var fillHeader = []string{"sequence", "time", "order_id", "client_order_id", "symbol", "side", "quantity", "price", "fee", "source", "synthetic"}

// row returns an execution as a line of CSV.
func (x *exportedFill) row() []string {
	return []string{strconv.FormatUint(x.Sequence, 10), x.Time.String(), x.OrderID, x.ClientOrderID, x.Symbol, string(x.Side),
		x.Quantity.String(), x.Price.String(), x.Fee.String(), x.Source, text(true, x.Synthetic)}
}

// readFills returns the executions of a directory in the order in which they happened. They
// are read from the journal, of which no record is ever removed: an order says what was
// filled of it in all, which is not enough if another order was filled in between. If the
// journal does not reach back to the beginning, or is damaged, readFills fails.
func readFills(dir string) ([]exportedFill, error) {
	fills, held := []exportedFill{}, make(map[string]book.Holding) // not nil, so that JSON has an empty list
	_, err := inspect(dir, func(r journal.Entry) error {
		if r.Kind == 0 && r.Seq > 0 { // the snapshot of record 0 is empty
			return fmt.Errorf("%s: the journals before it are gone, and with them the fills up to record %d; wick audit prints what is left", r.File, r.Seq)
		}
		if r.Kind == 0 || r.Kind == journal.KindHeader {
			return nil
		}
		ev, err := book.DecodeEvent(r.Payload)
		if err != nil {
			return fmt.Errorf("%s: record %d: %w", r.File, r.Seq, err)
		}
		if ev.Order != nil && ev.Holding != nil {
			x, err := executed(ev.Order, held[ev.Order.Symbol], *ev.Holding)
			if err != nil {
				return fmt.Errorf("%s: record %d: %w", r.File, r.Seq, err)
			}
			x.Sequence, x.Time = r.Seq, ev.At
			fills, held[ev.Order.Symbol] = append(fills, x), *ev.Holding
		}
		maps.Copy(held, ev.Holdings)
		return nil
	})
	return fills, err
}

// executed returns the execution of the order o that changed a holding. What a fill pays is
// in the holding, to the last digit: realized profit plus fees less cost falls by size*price.
// The average price of an order that was filled in parts is rounded.
func executed(o *book.Order, before, after book.Holding) (exportedFill, error) {
	x := exportedFill{OrderID: o.ID, ClientOrderID: o.ClientOrderID, Symbol: o.Symbol, Side: o.Side, Source: o.Source, Synthetic: o.Synthetic}
	size := after.Quantity - before.Quantity
	x.Quantity = size.Abs()
	fee := book.Minus(after.Fees, before.Fees)
	paid := book.Minus(book.Minus(after.Cost, before.Cost), book.Plus(book.Minus(after.Realized, before.Realized), fee))
	var ok, fits bool
	if size != 0 {
		x.Price, ok = paid.Per(size)
		x.Fee, fits = fee.Per(exact.One)
	}
	if !ok || !fits || (size < 0) != (o.Side == book.Sell) {
		return x, fmt.Errorf("order %s does not fit its position", o.ID)
	}
	return x, nil
}

// text returns v as a column of CSV, empty if it was not given.
func text(v any, given bool) string {
	if !given {
		return ""
	}
	return fmt.Sprint(v)
}

// orderHeader names the columns of row.
var orderHeader = []string{
	"order_id", "client_order_id", "symbol", "side", "type", "quantity", "price", "stop_price", "status", "filled_quantity",
	"average_price", "fee", "created_at", "updated_at", "price_at", "source", "synthetic", "role", "group", "reason",
}

// row returns an order as a line of CSV.
func row(o *book.Order) []string {
	return []string{
		o.ID, o.ClientOrderID, o.Symbol, string(o.Side), string(o.Type), o.Quantity.String(), text(o.Price, o.Price != nil), text(o.StopPrice, o.StopPrice != nil),
		string(o.Status), o.FilledQuantity.String(), text(o.AveragePrice, o.AveragePrice != nil), o.Fee.String(), o.CreatedAt.String(), o.UpdatedAt.String(),
		text(o.PriceAt, o.PriceAt != nil), o.Source, text(true, o.Synthetic), string(o.Role), o.Group, o.Reason,
	}
}

// readHistory returns the orders of a directory in the order in which they were placed,
// and the days of its account.
func readHistory(dir string) (orders []book.Order, days []book.DayMark, err error) {
	all, s, err := allOrders(dir)
	if err != nil {
		return nil, nil, err
	}
	orders = []book.Order{} // not nil, so that JSON has an empty list
	for _, o := range all {
		orders = append(orders, o.Public())
	}
	return orders, append([]book.DayMark{}, s.Days...), nil
}

// allOrders returns every order of a directory, in the order in which they were placed, and
// its newest state. The journal has them all; if a recovery has noted that some of it is
// missing, the state may still have those that were in that part.
func allOrders(dir string) ([]*book.Order, *book.State, error) {
	s, err := newestState(journal.ReadOnly(dir))
	if err != nil {
		return nil, nil, err
	}
	var h orderHistory
	if _, err = inspect(dir, func(r journal.Entry) error {
		if r.Kind == 0 { // the records before this snapshot are gone
			old, err := book.DecodeState("", r.Seq, r.Payload)
			if err != nil {
				return fmt.Errorf("%s: %w", r.File, err)
			}
			for _, o := range old.Orders {
				h.set(o)
			}
			return nil
		}
		if r.Kind == journal.KindHeader {
			return nil
		}
		ev, err := book.DecodeEvent(r.Payload)
		if err != nil {
			return fmt.Errorf("%s: record %d: %w", r.File, r.Seq, err)
		}
		h.add(ev, func(string) bool { return true })
		return nil
	}); err != nil {
		return nil, nil, err
	}
	for _, o := range s.Orders {
		if h.orders[o.ID] == nil {
			h.set(o)
		}
	}
	all := make([]*book.Order, len(h.ids))
	for i, id := range h.ids {
		all[i] = h.orders[id]
	}
	slices.SortStableFunc(all, func(a, b *book.Order) int { return a.CreatedAt.Compare(b.CreatedAt.Time) })
	return all, s, nil
}
