package trade

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/market"
	"wick/trade/book"
)

// Exports are what [Export] can write: every order, every execution, every trade that is closed, or
// what the account was worth when it was first valued on each day.
var Exports = []string{"orders", "fills", "trades", "equity"}

// Export writes one of [Exports] of a state directory to w, oldest first, as CSV
// with a header or as a JSON array. It only reads, so it may run beside the
// process that owns the directory.
func Export(dir, what, format string, w io.Writer) error {
	var list any
	var columns string // of CSV, by their names in JSON
	var err error
	switch what {
	case "fills":
		columns = "sequence time order_id client_order_id symbol side quantity price fee source synthetic"
		list, err = readFills(dir)
	case "trades": // without notes, which are anybody's words: a spreadsheet may take them for formulas
		columns = "trade_id symbol side opened_at closed_at quantity entry_price exit_price profit fees r best worst given_back opened_by closed_by closed_how tag broker currency synthetic"
		list, err = readTrades(dir)
	default:
		columns = "order_id client_order_id symbol side type quantity price stop_price status filled_quantity " +
			"average_price fee created_at updated_at price_at source synthetic role group reason"
		all, s, failed := allOrders(dir)
		orders := []book.Order{}
		for _, o := range all {
			orders = append(orders, o.Public())
		}
		if list, err = orders, failed; what == "equity" && err == nil {
			columns = "date equity realized fees synthetic"
			list = markSynthetic(s.Days, all)
		}
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if format == "json" {
		_, err = w.Write(append(text, '\n'))
		return err
	}
	var rows []map[string]json.RawMessage
	if err := json.Unmarshal(text, &rows); err != nil {
		return err
	}
	names := strings.Fields(columns)
	table := [][]string{strings.Fields(strings.Replace(columns, "realized", "realized_pnl", 1))}
	for _, row := range rows {
		cells := make([]string, len(names))
		for i, name := range names {
			switch value := row[name]; {
			case string(value) == "null":
			case bytes.HasPrefix(value, []byte{'"'}):
				err = cmp.Or(err, json.Unmarshal(value, &cells[i]))
			default:
				cells[i] = string(value) // a number as it is
			}
		}
		table = append(table, cells)
	}
	return errors.Join(err, csv.NewWriter(w).WriteAll(table))
}

// markSynthetic marks the days from the first on which an order was placed that was filled
// at an invented price. The orders are sorted by age. The days' own mark is not enough: it
// is made before the first order of the day, and older versions did not write it.
func markSynthetic(days []book.DayMark, orders []*book.Order) []book.DayMark {
	days = append([]book.DayMark{}, days...) // not nil, so that JSON has an empty list
	first := slices.IndexFunc(orders, func(o *book.Order) bool { return o.Synthetic && o.FilledQuantity != 0 })
	for i := range days {
		days[i].Synthetic = days[i].Synthetic || first >= 0 && days[i].Date >= orders[first].CreatedAt.UTC().Format(time.DateOnly)
	}
	return days
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

// readFills returns the executions of a directory in the order in which they happened. They
// are read from the journal, of which no record is ever removed: an order says what was
// filled of it in all, which is not enough if another order was filled in between. If the
// journal does not reach back to the beginning, or is damaged, readFills fails.
func readFills(dir string) ([]exportedFill, error) {
	fills, held := []exportedFill{}, make(map[string]book.Holding) // not nil, so that JSON has an empty list
	err := records(dir, func(r journal.Entry, ev *book.Event, _ *book.State) error {
		switch {
		case ev == nil && r.Seq > 0: // the snapshot of record 0 is empty
			return fmt.Errorf("the journals before it are gone, and with them the fills up to record %d; wick audit prints what is left", r.Seq)
		case ev == nil:
			return nil
		}
		if ev.Order != nil && ev.Holding != nil {
			x, err := executed(ev.Order, held[ev.Order.Symbol], *ev.Holding)
			if err != nil {
				return err
			}
			x.Sequence, x.Time = r.Seq, ev.At
			fills, held[ev.Order.Symbol] = append(fills, x), *ev.Holding
		}
		maps.Copy(held, ev.Holdings)
		return nil
	})
	return fills, err
}

// readTrades returns the trades of a directory that are closed, with the labels that they have now.
// If the journal does not reach back to the beginning, those of the oldest snapshot come first.
func readTrades(dir string) ([]book.TradeShown, error) {
	shown := []book.TradeShown{} // not nil, so that JSON has an empty list
	add := func(trades []*book.Trade, broker string) {
		for _, t := range trades {
			shown = append(shown, t.Show(broker, market.Currency(t.Symbol)))
		}
	}
	err := records(dir, func(_ journal.Entry, ev *book.Event, old *book.State) error {
		switch {
		case ev == nil:
			add(old.Done, "")
		case ev.Label != nil:
			for i := range shown {
				if shown[i].OpenedBy == ev.Label.OrderID {
					shown[i].Label = ev.Label.Over(shown[i].Label)
				}
			}
		case ev.Order != nil:
			add(ev.Trades, ev.Order.Broker)
		default:
			add(ev.Trades, "")
		}
		return nil
	})
	return shown, err
}

// executed returns the execution of the order o that changed a holding.
func executed(o *book.Order, before, after book.Holding) (exportedFill, error) {
	x := exportedFill{OrderID: o.ID, ClientOrderID: o.ClientOrderID, Symbol: o.Symbol, Side: o.Side, Source: o.Source, Synthetic: o.Synthetic}
	size, price, fee, ok := book.Executed(before, after)
	x.Quantity, x.Price = size.Abs(), price
	var fits bool
	x.Fee, fits = fee.Per(exact.One)
	if !ok || !fits || (size < 0) != (o.Side == book.Sell) {
		return x, fmt.Errorf("order %s does not fit its position", o.ID)
	}
	return x, nil
}

// allOrders returns every order of a directory, in the order in which they were placed, and
// its newest state. The journal has them all; if a recovery has noted that some of it is
// missing, the state may still have those that were in that part.
func allOrders(dir string) ([]*book.Order, *book.State, error) {
	s, err := newestState(journal.ReadOnly(dir))
	if err != nil {
		return nil, nil, err
	}
	h := orderHistory{orders: make(map[string]*book.Order)}
	if err = records(dir, func(_ journal.Entry, ev *book.Event, old *book.State) error {
		if ev != nil {
			h.add(ev, func(string) bool { return true })
			return nil
		}
		for _, o := range old.Orders { // the records before this snapshot are gone
			h.set(o)
		}
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
