package trade

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/trade/book"

	"golang.org/x/sync/errgroup"
)

// TestDryRunOfUsedID: a dry run whose client_order_id is taken returns that
// order, says that it exists, and changes nothing of it.
func TestDryRunOfUsedID(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		r := book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One, ClientOrderID: "mine"}
		first, err := e.Place(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		r.DryRun = true
		o, err := e.Place(t.Context(), r)
		if err != nil || o.ID != first.ID || !strings.Contains(o.Reason, `"mine" exists`) || !strings.Contains(o.Reason, "would return this order") {
			t.Errorf("dry run: %+v, %v, want the first order and a reason that says so", o, err)
		}
		if kept := must(e.Orders(false)); len(kept) != 1 || kept[0].Reason != "" {
			t.Errorf("orders %+v, want the first alone, without a reason", kept)
		}
	})
}

// TestDryRunTellsReason: a dry run of an order that may not wait, and that the market has not
// reached, says what the order itself would say.
func TestDryRunTellsReason(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		order := func(r *book.OrderRequest) { r.Type, r.Price, r.TimeInForce = book.Limit, 90*exact.One, book.FOK }
		const want = "fok: the market at 100 has not reached the limit"
		if dry := ask(t, e, func(r *book.OrderRequest) { order(r); r.DryRun = true }); dry.Status != book.StatusCancelled || dry.Reason != "dry run: every check passed, no order was made; without dry_run: "+want {
			t.Errorf("a dry run: %s, %q", dry.Status, dry.Reason)
		}
		if o := ask(t, e, order); o.Status != book.StatusCancelled || o.Reason != want {
			t.Errorf("the order: %s, %q", o.Status, o.Reason)
		}
	})
}

// TestHaltHoldsRestingOrders: while HALT is there nothing fills, the refusal of
// a new order says so, and afterwards a limit that was passed fills at the limit.
func TestHaltHoldsRestingOrders(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	place(t, e, book.Buy, book.Limit, "1", "95")
	price(e, "AAA", 100)
	halt := filepath.Join(o.Dir, haltName)
	for _, c := range []struct{ text, says string }{
		{"", "resting orders stay open and none is filled"},
		{"reducing", "resting orders stay open and only those that shrink a position are filled"},
	} {
		if err := os.WriteFile(halt, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("HALT %q: %v, want it to say: %s", c.text, err, c.says)
		}
		price(e, "AAA", 80)
		if len(must(e.Orders(true))) != 1 {
			t.Errorf("HALT %q: the resting order was filled", c.text)
		}
	}
	os.Remove(halt)
	if err := e.refreshTrading(); err != nil {
		t.Fatal(err)
	}
	price(e, "AAA", 81)
	if got := show(must(e.Orders(false))[0].AveragePrice); got != "95" {
		t.Errorf("filled at %s, want its limit of 95", got)
	}
}

// TestUnreadHaltHalts: while it cannot be told whether HALT is there, trading is halted, and resting
// orders are held. What came meanwhile is written down as judged, so that a restart does not fill
// them at it, and afterwards the next price fills a limit that was passed, at the limit.
func TestUnreadHaltHalts(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Limit, "1", "95")
		price(e, "AAA", 100)
		dir := e.brake.dir
		e.brake.dir += "\x00" // no system takes it as the name of a folder
		if err := e.refreshTrading(); err != nil || e.Status().Trading != book.Halted {
			t.Fatalf("HALT in a folder that cannot be looked at: trading is %s, %v, want halted", e.Status().Trading, err)
		}
		price(e, "AAA", 80)
		if got := must(e.Orders(false))[0].Status; got != book.StatusOpen {
			t.Errorf("the resting order is %s, want open", got)
		}
		e.brake.dir = dir
		if err := e.refreshTrading(); err != nil || e.Status().Trading != book.Active {
			t.Fatalf("the folder is there again: trading is %s, %v, want active", e.Status().Trading, err)
		}
		if s := e.book.Seen["AAA"]; s == nil || s.Price != 80*exact.One {
			t.Errorf("80 was judged while orders were held: the journal has %+v", s)
		}
		price(e, "AAA", 81)
		if got := show(must(e.Orders(false))[0].AveragePrice); got != "95" {
			t.Errorf("filled at %s, want its limit of 95", got)
		}
	})
}

// haltByHand makes the file HALT as an owner may, beside an engine whose disk is in memory.
func haltByHand(t *testing.T, e *Engine) {
	t.Helper()
	if err := errors.Join(os.WriteFile(filepath.Join(e.options.Dir, haltName), nil, 0o600), e.refreshTrading()); err != nil {
		t.Fatal(err)
	}
}

// renames is a disk that notes which names files were given. A name that Rename gave is on
// disk when it returns, and WriteAtomic syncs what is in the file before.
type renames struct {
	journal.Disk
	to []string
}

func (r *renames) Rename(from, to string) error {
	r.to = append(r.to, to)
	return r.Disk.Rename(from, to)
}

// TestHaltIsOnDisk: the file by which trading was halted is on disk when SetHalt returns: a
// start after a power cut goes by that file alone.
func TestHaltIsOnDisk(t *testing.T) {
	o := testOptions(t)
	d, err := journal.OpenDir(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	disk := &renames{Disk: d}
	e, err := openOn(o, disk)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.SetHalt(true); err != nil || e.Status().Trading != book.Halted || !slices.Contains(disk.to, haltName) {
		t.Errorf("%v, trading is %s; renamed on disk: %v, want %s among them", err, e.Status().Trading, disk.to, haltName)
	}
}

// TestHaltsTogether: of owners who halt at the same time each is told that trading is
// halted.
func TestHaltsTogether(t *testing.T) {
	e, err := Open(testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for range 50 {
		var halts errgroup.Group
		for range 4 {
			halts.Go(func() error { return e.SetHalt(true) })
		}
		if err := errors.Join(halts.Wait(), e.SetHalt(false)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHaltStays: somebody who looked for the file HALT just before it was made does not let
// trading go on after it.
func TestHaltStays(t *testing.T) {
	e := openTest(t, testOptions(t))
	defer e.Close()
	var looks errgroup.Group
	var done atomic.Bool
	for range 4 {
		looks.Go(func() error {
			for !done.Load() {
				if err := e.refreshTrading(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 200 {
		if err := e.SetHalt(true); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			if got := e.Status().Trading; got != book.Halted {
				t.Fatalf("trading is %s after a halt", got)
			}
		}
		if err := e.SetHalt(false); err != nil {
			t.Fatal(err)
		}
	}
	done.Store(true)
	if err := looks.Wait(); err != nil {
		t.Error(err)
	}
}

// TestSyntheticIsSaid: orders, filled or not, a position and an account at
// invented prices say so.
func TestSyntheticIsSaid(t *testing.T) {
	for _, synthetic := range []bool{true, false} {
		inBubble(t, func(o *Options) {
			o.Account.Cash = 10000 * exact.One
			if !synthetic {
				o.Source = real{flat(100)}
			}
		}, func(t *testing.T, e *Engine) {
			if o := place(t, e, book.Buy, book.Market, "1", ""); o.Synthetic != synthetic || must(e.Positions(false))[0].Synthetic != synthetic {
				t.Errorf("order %+v, position %+v; want synthetic %t", o, must(e.Positions(false))[0], synthetic)
			}
			ask(t, e, func(r *book.OrderRequest) { bracket(t, "80", "120")(r); r.Type, r.Price = book.Limit, 90*exact.One })
			ask(t, e, bracket(t, "80", "120"))
			for _, o := range must(e.Orders(false)) {
				if o.Synthetic != synthetic {
					t.Errorf("%s %s %s: synthetic is %t", o.Status, o.Type, o.ID, o.Synthetic)
				}
			}
			if a, _ := e.Account(); a.Synthetic != synthetic {
				t.Errorf("the account says synthetic %t", a.Synthetic)
			}
		})
	}
}

// TestSyntheticInRefusals: a refusal that quotes the price of the market, or what an order
// would be worth by it, says that the price is invented, and no other does.
func TestSyntheticInRefusals(t *testing.T) {
	order := func(change func(*book.OrderRequest)) book.OrderRequest {
		r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}
		change(&r)
		return r
	}
	limit := func(price exact.Decimal, change func(*book.OrderRequest)) book.OrderRequest {
		r := order(func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, price })
		change(&r)
		return r
	}
	for _, synthetic := range []bool{true, false} {
		inBubble(t, func(o *Options) {
			if o.Account.Cash = 1000 * exact.One; !synthetic {
				o.Source = real{o.Source}
			}
		}, func(t *testing.T, e *Engine) {
			for _, c := range []struct {
				want    string
				quotes  bool
				request book.OrderRequest
			}{
				{"price_collar", true, limit(exact.One, func(*book.OrderRequest) {})},
				{"stop_passed", true, order(func(r *book.OrderRequest) { r.Type, r.StopPrice = book.Stop, 90*exact.One })},
				{"bad_trail", true, order(func(r *book.OrderRequest) {
					r.Side, r.Type, r.TrailAmount = book.Sell, book.TrailingStop, 500*exact.One
				})},
				{"bad_exit", true, order(func(r *book.OrderRequest) { r.StopLoss = book.Exit{Price: 500 * exact.One} })},
				{"post_only", true, limit(110*exact.One, func(r *book.OrderRequest) { r.PostOnly = true })},
				{"bad_oco", true, limit(110*exact.One, func(r *book.OrderRequest) { r.OCO = book.OCO{StopPrice: 120 * exact.One} })},
				{"bad_quantity", true, order(func(r *book.OrderRequest) { r.Quantity, r.Notional = 0, 1 })},
				{"max_order_notional", true, order(func(r *book.OrderRequest) { r.Side, r.Quantity = book.Sell, 2000*exact.One })},
				{"buying_power", true, order(func(r *book.OrderRequest) { r.Quantity = 50 * exact.One })},
				{"no_position", false, order(func(r *book.OrderRequest) { r.Side, r.Quantity, r.All = book.Sell, 0, true })},
				{"reduce_only", false, order(func(r *book.OrderRequest) { r.ReduceOnly = true })},
			} {
				_, err := e.Place(t.Context(), c.request)
				if code(err) != c.want || strings.Contains(err.Error(), "; the data is invented (") != (synthetic && c.quotes) {
					t.Errorf("synthetic %t: %v, want %s", synthetic, err, c.want)
				}
			}
		})
	}
}

// TestSyntheticAfterStart: an alert that waits for invented prices is known as that as
// soon as wick runs again, before their bars have come; also after a crash.
func TestSyntheticAfterStart(t *testing.T) {
	for _, synthetic := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o, d := testOptions(t), journaltest.NewDisk()
			if !synthetic {
				o.Source = real{flat(100)}
			}
			for start := range 2 {
				e, err := openOn(o, d)
				if err != nil {
					t.Fatal(err)
				}
				if start == 0 {
					if _, err := setAlert(t, e, `{"price_above":1000}`, ""); err != nil {
						t.Fatal(err)
					}
				}
				if got := e.Synthetic("AAA"); got != synthetic {
					t.Errorf("start %d: synthetic %t, want %t", start, got, synthetic)
				}
				d = d.Cut(journaltest.Dropped)
			}
		})
	}
}

// TestSyntheticEntry: a position that was bought at invented prices says so, and the
// account whose profit it is, also where the price of now is real or not known yet, and
// when it is closed.
func TestSyntheticEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, d := testOptions(t), journaltest.NewDisk()
		o.Account.Cash = 10000 * exact.One
		for start := range 3 {
			e, err := openOn(o, d)
			if err != nil {
				t.Fatal(err)
			}
			if start == 0 {
				place(t, e, book.Buy, book.Market, "1", "")
			}
			says := func(when string) {
				a, _ := e.Account()
				if p := must(e.Positions(true))[0]; !p.Synthetic || !a.Synthetic {
					t.Errorf("start %d, %s: position %t, account %t", start, when, p.Synthetic, a.Synthetic)
				}
			}
			says("open")
			if start == 2 {
				if err := e.ensure(t.Context(), "AAA"); err != nil {
					t.Fatal(err)
				}
				says("at a real price")
				place(t, e, book.Sell, book.Market, "1", "")
				says("closed")
			}
			o.Source = real{flat(100)}
			d = d.Cut(journaltest.Dropped)
		}
	})
}
