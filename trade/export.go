package trade

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"wick/journal"
)

// Exports are what [Export] can write: every order, the orders of which something was
// filled, or what the account was worth when it was first valued on each day.
var Exports = []string{"orders", "fills", "equity"}

// Export writes one of [Exports] of a state directory to w, oldest first, as CSV
// with a header or as a JSON array. It only reads, so it may run beside the
// process that owns the directory.
func Export(dir, what, format string, w io.Writer) error {
	orders, days, err := readHistory(dir)
	if err != nil {
		return err
	}
	markSynthetic(days, orders)
	var header []string
	var rows [][]string
	var list any = orders
	switch what {
	case "equity":
		header, list = []string{"date", "equity", "realized_pnl", "fees", "synthetic"}, days
		for _, d := range days {
			rows = append(rows, []string{d.Date, d.Equity.String(), d.Realized.String(), d.Fees.String(), text(true, d.Synthetic)})
		}
	// Fills are the orders of which something was filled, in the columns of orders.
	case "fills":
		orders = slices.DeleteFunc(orders, func(o Order) bool { return o.FilledQuantity == 0 })
		list = orders
		fallthrough
	default:
		header = orderHeader
		for _, o := range orders {
			rows = append(rows, o.row())
		}
	}
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
func markSynthetic(days []dayMark, orders []Order) {
	first := slices.IndexFunc(orders, func(o Order) bool { return o.Synthetic && o.FilledQuantity != 0 })
	for i := range days {
		days[i].Synthetic = days[i].Synthetic || first >= 0 && days[i].Date >= orders[first].CreatedAt.UTC().Format(time.DateOnly)
	}
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
func (o *Order) row() []string {
	return []string{
		o.ID, o.ClientOrderID, o.Symbol, string(o.Side), string(o.Type), o.Quantity.String(), text(o.Price, o.Price != nil), text(o.StopPrice, o.StopPrice != nil),
		string(o.Status), o.FilledQuantity.String(), text(o.AveragePrice, o.AveragePrice != nil), o.Fee.String(), o.CreatedAt.String(), o.UpdatedAt.String(),
		text(o.PriceAt, o.PriceAt != nil), o.Source, text(true, o.Synthetic), string(o.Role), o.Group, o.Reason,
	}
}

// readHistory returns the orders of a directory in the order in which they were placed,
// and the days of its account. A directory that is in use changes meanwhile: an order
// that is archived between the two reads is returned once.
func readHistory(dir string) (orders []Order, days []dayMark, err error) {
	d := journal.ReadOnly(dir)
	s, err := newestState(d)
	if err != nil {
		return nil, nil, err
	}
	orders, days = []Order{}, append([]dayMark{}, s.days...) // not nil, so that JSON has an empty list
	known := make(map[string]bool)                           // a crash may leave an order in two places
	_, err = readArchive(d, s.store, s.archived, func(order []byte) error {
		o := new(Order)
		if err := json.Unmarshal(order, o); err != nil {
			return err
		}
		if !known[o.ID] {
			orders = append(orders, o.public())
		}
		known[o.ID] = true
		return nil
	})
	for _, o := range s.orders {
		if !known[o.ID] {
			orders = append(orders, o.public())
		}
	}
	slices.SortStableFunc(orders, func(a, b Order) int { return a.CreatedAt.Compare(b.CreatedAt.Time) })
	return orders, days, err
}
