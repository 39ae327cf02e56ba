package trade

import (
	"errors"
	"strings"
	"testing"

	"wick/journal/journaltest"
)

// TestRecoverySays: the owner reads how many orders and alerts are kept and given
// up, and from when.
func TestRecoverySays(t *testing.T) {
	d := journaltest.NewDisk()
	e, err := openOn(testOptions(t), d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if _, err := buy(t, e, i); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.SetAlert(t.Context(), AlertRequest{Symbol: "AAA", Condition: Condition{Type: PriceAbove, Threshold: dec(t, "110")}}); err != nil {
		t.Fatal(err)
	}
	f := d.Files["journal-1.wal"]
	at := strings.Index(string(f.Data), `"client_order_id":"c3"`)
	f.Data[at] ^= 1
	o := testOptions(t)
	shown := errors.New("shown")
	var got Recovery
	o.Recover = func(r Recovery) error { got = r; return shown }
	if _, err := openOn(o, d); !errors.Is(err, shown) {
		t.Fatal(err)
	}
	if got.Orders != 3 || got.Alerts != 0 || got.LostOrders != 2 || got.LostAlerts != 1 || got.LostRecords != 3 || got.LostSince.IsZero() {
		t.Errorf("%+v, want 3 orders and no alert kept, and 3 records lost: 2 orders and an alert", got)
	}
	for _, want := range []string{"kept: 3 orders (0 open), 0 alerts", "damaged: journal-1.wal from byte ", "2 new orders and 1 new alerts"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
