package trade

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wick/internal/exact"
	"wick/trade/book"
)

// TestWho: the owner can see in the audit which client did what, also after several
// restarts. Clients see nothing of one another.
func TestWho(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	ada, bob := book.Who{Name: "Ada's agent", ID: strings.Repeat("a", 64)}, book.Who{Name: "Bob\n2030-01-01T00:00:00.000Z 9 forged", ID: "b-digest"}
	order, err := e.Place(t.Context(), book.OrderRequest{Who: ada, Symbol: "AAA", Side: book.Buy, Type: book.Limit, Quantity: exact.One, Price: 90 * exact.One})
	if err != nil {
		t.Fatal(err)
	}
	cancelled, err := e.CancelOrder(bob, order.ID)
	if err != nil {
		t.Fatal(err)
	}
	alert, err := e.SetAlert(t.Context(), book.AlertRequest{Who: ada, Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 200 * exact.One}})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := e.CancelAlert(bob, alert.ID)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(o.Dir, haltName), nil, 0o600)
	if err := e.refreshTrading(); err != nil {
		t.Fatal(err)
	}
	for _, shown := range []any{order, cancelled, alert, gone, must(e.Orders(false)), must(e.Alerts(""))} {
		if text, _ := json.Marshal(shown); strings.Contains(string(text), `"by"`) || strings.Contains(string(text), "Ada") {
			t.Errorf("a client sees %s", text)
		}
	}
	want := []string{ // kind, and who
		"order_placed", `"by":{"name":"Ada's agent","id":"aaaaaaaa"}`,
		"order_cancelled", `"by":{"name":"Bob\n2030-01-01T00:00:00.000Z 9 forged","id":"b-digest"}`,
		"alert_set", `"by":{"name":"Ada's agent","id":"aaaaaaaa"}`,
		"alert_cancelled", `"by":{"name":"Bob\n2030-01-01T00:00:00.000Z 9 forged","id":"b-digest"}`,
		"trading_state", `"by":{"name":"owner, by the file HALT"}`,
	}
	lines := audit(t, o.Dir)[2:] // the header and the start
	for i := 0; i < len(want); i += 2 {
		if line := lines[i/2]; !strings.Contains(line, " "+want[i]+" ") || !strings.Contains(line, want[i+1]) {
			t.Errorf("audit says\n%s\nwant %s with %s", line, want[i], want[i+1])
		}
	}
	e.Close()
	for range 2 {
		openTest(t, o).Close()
	}
	if later := audit(t, o.Dir)[2:]; !slices.Equal(later[:len(lines)], lines) {
		t.Errorf("after three clean stops the audit begins with\n%s\nwant\n%s", strings.Join(later, "\n"), strings.Join(lines, "\n"))
	}
}

func audit(t *testing.T, dir string) []string {
	t.Helper()
	var out strings.Builder
	if err := Audit(dir, &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}
