package trade

import (
	"errors"
	"strings"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// TestRecoverySays: the owner reads how many orders and alerts are kept, and after which
// record everything is given up.
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
	if _, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "110")}}); err != nil {
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
	if got.Orders != 3 || got.Alerts != 0 {
		t.Errorf("%+v, want 3 orders and no alert kept", got)
	}
	for _, want := range []string{"kept: 3 orders (0 open), 0 alerts", "damaged: journal-1.wal from byte ", "given up: every record after "} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestRecoveryGivesUp: what the owner reads of each kind of damage before he agrees to it.
func TestRecoveryGivesUp(t *testing.T) {
	damaged := func(err error, files ...string) (r Recovery) {
		for _, f := range files {
			r.Journal.Faults = append(r.Journal.Faults, journal.Fault{File: f, Snapshot: strings.HasPrefix(f, "snapshot"), Offset: 5, Bytes: 3, Err: err})
		}
		return r
	}
	for _, c := range []struct {
		r    Recovery
		want string
	}{
		{Recovery{}, "given up: nothing, no file is damaged\n"},
		{damaged(journal.ErrMissing, "journal-1.wal"), "missing: journal-1.wal\n"},
		{damaged(journal.ErrMissing, "journal-1.wal"), "given up: every record after 0. "},
		{damaged(errors.New("bad"), "snapshot-2.state"), "damaged: snapshot-2.state from byte 5, 3 bytes: bad\n"},
		{damaged(errors.New("bad"), "snapshot-2.state"), "given up: nothing, the journals hold all that the snapshot held\n"},
		{Recovery{Journal: journal.Recovery{History: []error{errors.New("bad")}}}, "given up: no open order, alert or position\n"},
	} {
		if got := c.r.String(); !strings.Contains(got, c.want) {
			t.Errorf("%q is not in\n%s", c.want, got)
		}
	}
}
