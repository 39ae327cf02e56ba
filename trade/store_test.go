package trade

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wick/exact"
	"wick/journal"
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
	if _, err := e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One}); err != nil {
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
		o := place(t, e, Buy, Limit, "1", "90")
		a, err := setAlert(t, e, `{"price_above":110}`, "")
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		out := bufio.NewWriter(&text)
		if err := auditEntry(journal.Entry{Seq: 3, File: "snapshot-1.json", Payload: []byte(encoded(t, e.shown))}, out); err != nil {
			t.Fatal(err)
		}
		out.Flush()
		lines := strings.Split(text.String(), "\n")
		if len(lines) != 3 || !strings.Contains(lines[0], ` 3 order_kept {"order_id":"`+o.ID) || !strings.Contains(lines[1], ` 3 alert_kept {"alert_id":"`+a.ID) {
			t.Errorf("audit:\n%s", text.String())
		}
		if err := auditEntry(journal.Entry{File: "snapshot-1.json", Payload: []byte("{")}, out); err == nil || !strings.Contains(err.Error(), "snapshot-1.json") {
			t.Errorf("a damaged snapshot: %v, want an error with its name", err)
		}
	})
}

// TestJournalUnlinked: the journal is deleted while wick runs. The next order is refused at
// once, and the status says that the journal is broken.
func TestJournalUnlinked(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	buy := func() error {
		_, err := e.Place(t.Context(), OrderRequest{Who: anyone(), Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One})
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
	if err := buy(); !errors.Is(err, journal.ErrMoved) || e.Status().Journal != "broken" || len(e.Orders(true)) > 1 {
		t.Errorf("%v, %+v, with %d orders shown", err, e.Status(), len(e.Orders(true)))
	}
	if err := e.Close(); !errors.Is(err, journal.ErrMoved) {
		t.Errorf("Close: %v", err)
	}
}
