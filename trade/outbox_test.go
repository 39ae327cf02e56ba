package trade

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// list is an outbox that remembers each step as a text.
type list struct {
	steps []string
	last  uint64 // sequence of the newest in this process
}

func (l *list) Restore(snapshot []byte) error {
	l.steps, l.last = nil, 0
	if snapshot == nil {
		return nil
	}
	return json.Unmarshal(snapshot, &l.steps)
}

func (l *list) Snapshot() ([]byte, error) { return json.Marshal(l.steps) }

func (l *list) Apply(s book.Step) error {
	what := string(s.Record)
	switch {
	case s.Order != nil:
		what = fmt.Sprintf("%s %s", s.Order.ID, s.Order.Status)
		if !reflect.DeepEqual(*s.Order, s.Order.Public()) {
			what += fmt.Sprintf(" with what clients do not see: %+v", s.Order)
		}
	case s.Notification != nil:
		what = fmt.Sprintf("%s fired at %s", s.Notification.AlertID, s.Notification.Value)
	case s.Trading != "":
		what = string(s.Trading)
	}
	if s.Again {
		what += " again"
	}
	if s.By != nil {
		what += " by " + s.By.Name
	}
	if s.Seq <= l.last {
		return fmt.Errorf("step %d after %d", s.Seq, l.last)
	}
	l.last = s.Seq
	l.steps = append(l.steps, s.ID+" "+what)
	return nil
}

// TestOutboxSteps: what the outbox is told, with whose order or alert it was. Of an order
// with a stop_loss it gets nothing that clients do not see.
func TestOutboxSteps(t *testing.T) {
	box := &list{}
	o := testOptions(t)
	o.Outbox = box
	e := openTest(t, o)
	who := book.Who{Name: "claude", Client: "c"}
	ctx := context.Background()
	if err := e.WriteOutbox([]byte(`{"mine":1}`)); err != nil {
		t.Fatal(err)
	}
	bought, err := e.Place(ctx, book.OrderRequest{Who: who, Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: dec(t, "1"), StopLoss: book.Exit{Percent: 3 * exact.One}})
	if err != nil {
		t.Fatal(err)
	}
	resting, err := e.Place(ctx, book.OrderRequest{Who: who, Symbol: "AAA", Side: book.Buy, Type: book.Limit, Quantity: dec(t, "2"), Price: dec(t, "90")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.CancelOrder(who, resting.ID); err != nil {
		t.Fatal(err)
	}
	a, err := e.SetAlert(ctx, book.AlertRequest{Who: who, Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "101")}})
	if err != nil {
		t.Fatal(err)
	}
	price(e, "AAA", 102.5)
	if err := os.WriteFile(filepath.Join(o.Dir, haltName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := e.refreshTrading(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, step := range box.steps {
		_, what, _ := strings.Cut(step, " ")
		got = append(got, what)
	}
	want := []string{`{"mine":1}`, bought.ID + " filled by claude", resting.ID + " cancelled by claude", a.ID + " fired at 102.5 by claude", "halted"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	again := &list{}
	o.Outbox = again
	openTest(t, o).Close()
	if !slices.Equal(again.steps, box.steps) {
		t.Errorf("after a restart: %q\nbefore: %q", again.steps, box.steps)
	}
}

// TestOutboxGroups: one record says that an order is filled and that its partner ends with
// it. The outbox gets two steps, with ids of their own.
func TestOutboxGroups(t *testing.T) {
	box := &list{}
	o := testOptions(t)
	o.Outbox = box
	e := openTest(t, o)
	defer e.Close()
	if _, err := e.Place(context.Background(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: dec(t, "1")}); err != nil {
		t.Fatal(err)
	}
	placed, err := e.Place(context.Background(), book.OrderRequest{Symbol: "AAA", Side: book.Sell, Type: book.Limit, Quantity: dec(t, "1"), Price: dec(t, "110"), OCO: book.OCO{StopPrice: dec(t, "90")}})
	if err != nil {
		t.Fatal(err)
	}
	price(e, "AAA", 111)
	steps := box.steps[1:]
	if len(steps) != 2 || !strings.HasSuffix(steps[0], " "+placed.ID+" filled") || !strings.HasSuffix(steps[1], " "+placed.ID+"-oco cancelled") {
		t.Fatalf("%q", steps)
	}
	first, _, _ := strings.Cut(steps[0], " ")
	if second, _, _ := strings.Cut(steps[1], " "); second != first+".1" {
		t.Errorf("the ids are %s and %s", first, second)
	}
}

// TestOutboxOverCrashes: whenever the power fails, the outbox of the next start has every
// step that it was told before, in the same order and with the same ids. It may have
// further steps that were on disk, but not told yet.
func TestOutboxOverCrashes(t *testing.T) {
	for _, fate := range []journaltest.Fate{journaltest.Kept, journaltest.Dropped} {
		for failAt := 5; failAt < 300; failAt += 3 * stride() {
			bubble(t, func(ctx context.Context) {
				d := journaltest.NewDisk()
				d.FailAt, d.Forever = failAt, true
				before, after := &list{}, &list{}
				fireSome(ctx, d, before)
				o := scriptOptions()
				o.Outbox = after
				e, err := openOn(o, d.Cut(fate))
				if err != nil {
					t.Fatalf("call %d: %v", failAt, err)
				}
				defer e.Close()
				if len(after.steps) < len(before.steps) || !slices.Equal(after.steps[:len(before.steps)], before.steps) {
					t.Errorf("call %d: had %q, has %q", failAt, before.steps, after.steps)
				}
				fired := 0
				for _, step := range after.steps {
					if strings.Contains(step, " fired at ") {
						fired++
					}
				}
				if polled := len(e.book.Polling); fired != polled {
					t.Errorf("call %d: the outbox has %d firings, the journal %d", failAt, fired, polled)
				}
			})
		}
	}
}

// fireSome sets alerts and lets them fire until the disk dies.
func fireSome(ctx context.Context, d journal.Disk, box *list) {
	o := scriptOptions()
	o.Outbox = box
	e, err := openOn(o, d)
	for i := 0; err == nil && i < 60; i++ {
		if _, err = e.SetAlert(ctx, book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 1}}); err == nil {
			price(e, "AAA", 100+float64(i))
			err = e.WriteOutbox(fmt.Appendf(nil, `{"n":%d}`, i))
		}
	}
}
