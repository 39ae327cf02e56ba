package trade

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// TestDirectory: the modes of the directory and its files, the lock that keeps a second
// process out, and a path that is no directory.
func TestDirectory(t *testing.T) {
	o := testOptions(t)
	o.Dir = filepath.Join(o.Dir, "made")
	e := openTest(t, o)
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "another wick is running on it") || strings.Contains(err.Error(), "\n") {
		t.Errorf("second process: %v", err)
	}
	if _, err := e.Subscribe(from("caller"), Filter{}); err != nil {
		t.Fatal(err)
	}
	filepath.WalkDir(o.Dir, func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	openTest(t, o).Close() // the lock is free again

	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	o.Dir = file
	if _, err := Open(o); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file in place of the directory: %v, want an error of one line", err)
	}
}

func TestAudit(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Audit(o.Dir, &out); err != nil { // beside the process that owns it
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], " 0 header ") || !strings.Contains(lines[1], " 1 started ") ||
		!strings.Contains(lines[2], ` 2 order_placed {"at":`) {
		t.Errorf("audit:\n%s", out.String())
	}
}

// TestAuditOfSnapshot: of what was made before the oldest record that is left, the orders and
// alerts of the snapshot are listed. One that cannot be read is an error that names it.
func TestAuditOfSnapshot(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		o := place(t, e, book.Buy, book.Limit, "1", "90")
		a, err := setAlert(t, e, `{"price_above":110}`, "")
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		out := bufio.NewWriter(&text)
		if err := auditEntry(journal.Entry{Seq: 3, File: "snapshot-1.state", Payload: []byte(encoded(t, e.book.State))}, out); err != nil {
			t.Fatal(err)
		}
		out.Flush()
		lines := strings.Split(text.String(), "\n")
		if len(lines) != 3 || !strings.Contains(lines[0], ` 3 order_kept {"order_id":"`+o.ID) || !strings.Contains(lines[1], ` 3 alert_kept {"alert_id":"`+a.ID) {
			t.Errorf("audit:\n%s", text.String())
		}
		if err := auditEntry(journal.Entry{File: "snapshot-1.state", Payload: []byte("{")}, out); err == nil || !strings.Contains(err.Error(), "snapshot-1.state") {
			t.Errorf("a damaged snapshot: %v, want an error with its name", err)
		}
	})
}

// TestJournalUnlinked: the journal is deleted while wick runs; the next order is refused at
// once, and the status says that the journal is broken. What was on disk before that order
// cannot be read any more, so reads are refused, too.
func TestJournalUnlinked(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	buy := func() error {
		_, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One})
		return err
	}
	if err := buy(); err != nil {
		t.Fatal(err)
	}
	journals, err := filepath.Glob(filepath.Join(o.Dir, "journal-*.wal"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	if err := os.Remove(journals[0]); err != nil {
		t.Fatal(err)
	}
	if err := buy(); !errors.Is(err, journal.ErrMoved) || e.Status().Journal != "broken" {
		t.Errorf("%v, %+v", err, e.Status())
	}
	if orders, err := e.Orders(true); !errors.Is(err, journal.ErrMoved) {
		t.Errorf("%d orders are shown, %v", len(orders), err)
	}
	if err := e.Close(); !errors.Is(err, journal.ErrMoved) {
		t.Errorf("Close: %v", err)
	}
}

// TestReadsAfterFailure: a write fails while an order and its fill are on their way to the
// disk; a read that has seen them fails as well; from then on reads show what is on
// disk and nothing else, whether the write left something there or not.
func TestReadsAfterFailure(t *testing.T) {
	for _, after := range []bool{false, true} { // the failing call has its effect all the same
		synctest.Test(t, func(t *testing.T) {
			d := journaltest.NewDisk()
			e, err := openOn(testOptions(t), d)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			kept := place(t, e, book.Buy, book.Limit, "1", "95")
			alert, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "105")}})
			if err != nil {
				t.Fatal(err)
			}
			want := encoded(t, e.book.State)
			// An order that the lock has let through and that nobody has written yet.
			if _, _, err := e.accept(book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}, book.Inquiry{Answered: true}, e.venue.(book.Arrival)); err != nil {
				t.Fatal(err)
			}
			d.FailAt, d.Forever, d.After = d.Calls+2, true, after // the sync of the group
			if orders, err := e.Orders(false); !errors.Is(err, journal.ErrStorage) {
				t.Fatalf("a read of what cannot be written: %d orders, %v", len(orders), err)
			}
			if got := encoded(t, e.book.State); got != want {
				t.Errorf("the state is\n%s\nwant what is on disk\n%s", got, want)
			}
			if orders := must(e.Orders(false)); len(orders) != 1 || orders[0].ID != kept.ID || orders[0].Status != book.StatusOpen {
				t.Errorf("orders are %+v, want the one that is on disk", orders)
			}
			if alerts := must(e.Alerts("")); len(alerts) != 1 || alerts[0].ID != alert.ID {
				t.Errorf("alerts are %+v, want the one that is on disk", alerts)
			}
			if held := must(e.Positions(false)); len(held) != 0 {
				t.Errorf("positions are %+v, want none", held)
			}
			if _, err := e.CancelOrder(book.Who{}, kept.ID); !errors.Is(err, journal.ErrStorage) {
				t.Errorf("a cancel after the failure: %v", err)
			}
		})
	}
}
