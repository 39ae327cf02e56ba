package indicators

import (
	"errors"
	"strings"
	"testing"
)

// TestDates: a parameter that is a moment is read as every argument of a tool that is one,
// and refused with how to write it.
func TestDates(t *testing.T) {
	for _, name := range []string{"backtest", "vwap_anchored"} {
		param := map[string]string{"backtest": "from", "vwap_anchored": "anchor"}[name]
		for _, value := range []string{`2026`, `"2026"`, `20261301`, `"202601311430"`, `-5`, `1.5`, `"last friday"`, `true`, `[1]`} {
			_, err := New(name, raw(`{"`+param+`":`+value+`}`))
			if !errors.Is(err, errParam) || !strings.Contains(err.Error(), "want 2026-01-31, 2026-01-31 14:30, RFC 3339 or unix seconds") {
				t.Errorf("%s of %s %s: %v", param, name, value, err)
			}
		}
		if _, err := New(name, raw(`{"`+param+`":"1969-12-31"}`)); !errors.Is(err, errParam) || !strings.HasSuffix(err.Error(), "1969-12-31 is before 1970") {
			t.Errorf("%s of %s before 1970: %v", param, name, err)
		}
	}
}
