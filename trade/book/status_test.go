package book

import (
	"fmt"
	"strings"
	"testing"

	"wick/internal/exact"
)

// TestStatusAndEvent has every pair of a status and a kind of record about an order: whether the
// record can follow. An order that has ended stays so for ever, but for what a broker elsewhere
// tells of it later; a record of another kind than those of orders takes no order at all.
func TestStatusAndEvent(t *testing.T) {
	const want = `
                      placed  intent  imported  filled  answered  cancelled  rejected  changed
none                  yes     yes     yes       no      no        no         no        no
open                  no      no      no        yes     yes       yes        yes       yes
partially_filled      no      no      no        yes     yes       yes        yes       yes
filled                no      no      no        no      no        no         no        no
cancelled             no      no      no        no      no        no         no        no
rejected              no      no      no        no      no        no         no        no
filled at broker      no      no      no        no      yes       no         no        no
cancelled at broker   no      no      no        no      yes       no         no        no
rejected at broker    no      no      no        no      yes       no         no        no
`
	kinds := []Kind{KindPlaced, KindIntent, KindImported, KindFilled, KindBrokerAnswered, KindCancelled, KindOrderRejected, KindOrderChanged}
	got := fmt.Sprintf("\n%-20s  %-6s  %-6s  %-8s  %-6s  %-8s  %-9s  %-8s  %s\n", "", "placed", "intent", "imported", "filled", "answered", "cancelled", "rejected", "changed")
	for _, row := range strings.Split(strings.TrimSpace(want), "\n")[1:] {
		name := strings.TrimSpace(row[:20])
		cells := []any{name}
		for _, k := range kinds {
			status, account := strings.CutSuffix(name, " at broker")
			s := NewState("0123456789")
			o := Order{ID: "o-0-1", Symbol: "AAA", Side: Buy, Type: Market, Quantity: 2, Status: OrderStatus(status)}
			if account {
				o.Account = "elsewhere"
			}
			if name != "none" {
				before := o
				if err := s.Apply(1, KindPlaced, &Event{Order: &before}); err != nil {
					t.Fatal(err)
				}
			}
			can := "no"
			if s.Apply(s.Seq+1, k, &Event{Order: &o}) == nil {
				can = "yes"
			}
			cells = append(cells, can)
		}
		got += fmt.Sprintf("%-20s  %-6s  %-6s  %-8s  %-6s  %-8s  %-9s  %-8s  %s\n", cells...)
	}
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// BenchmarkDryRun decides about an oco beside 800 others on eight symbols, and takes no step.
func BenchmarkDryRun(b *testing.B) {
	s := &story{Book: NewBook(Rules{Limits: Limits{Open: 10_000, OpenPerSymbol: 250}.WithDefaults(), Account: AccountRules{Cash: 1_000_000 * exact.One}.WithDefaults()}, nil)}
	s.State, s.Markets, s.quote = NewState("0123456789"), s, Quote{Price: 100 * exact.One, At: 60_000}
	for i := range 800 {
		price := exact.Decimal(90) * exact.One
		id := fmt.Sprint("o-0-", i)
		limit := &Order{ID: id, Symbol: string(rune('A' + i%8)), Side: Buy, Type: Limit, Quantity: 1, Price: &price, Status: StatusOpen, Turn: uint64(i)}
		if err := s.Apply(s.Seq+1, KindPlaced, &Event{Order: limit, Begin: []*Order{limit.partner(OCO{StopPrice: 110 * exact.One})}}); err != nil {
			b.Fatal(err)
		}
	}
	r := OrderRequest{Symbol: "A", Side: Buy, Type: Limit, Quantity: 1, Price: 90 * exact.One, OCO: OCO{StopPrice: 110 * exact.One}, ClientOrderID: "x"}
	b.ReportAllocs()
	for b.Loop() {
		at := Time{s.quote.Time().Time}
		o, q, fill, err := s.Draft(&r, noLot, Inquiry{Answered: true}, at)
		if err == nil {
			_, err = s.Arrive(r, o, q, fill)
		}
		if err != nil && !IsRefusal(err, "max_open_orders_symbol") { // it is the last of all checks but one
			b.Fatal(err)
		}
	}
}
