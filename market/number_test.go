package market

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestUnreadableTimes: a row whose time cannot be read, or is in another unit, is left out
// like any bad row; it is no bar of 1970, nor does it end the history. Where all are such, the
// answer is refused.
func TestUnreadableTimes(t *testing.T) {
	for _, c := range []struct {
		name, row string // of the service, and of a row that begins at a time
		unit      int64
	}{
		{"binance", `[%s,"5","6","4","5","1",0,"1",5,"1","1","0"]`, 1000},
		{"coinbase", `[%s,4,6,5,5,1]`, 1},
		{"kraken", `[%s,"5","6","4","5","5","1",3]`, 1},
	} {
		answer := func(bad func(now int64) string, all bool) (*Series, error) {
			s := over(t, c.name, reach{nowhere, replies{"": func() string {
				var rows []string
				now := time.Now().Unix() / 60 * 60
				for i := range int64(40) {
					at := fmt.Sprint((now - i*60) * c.unit)
					if i == 20 || all {
						at = bad((now - i*60) * c.unit)
					}
					rows = append(rows, fmt.Sprintf(c.row, at))
				}
				list := "[" + strings.Join(rows, ",") + "]"
				if c.name == "kraken" {
					list = `{"error":[],"result":{"XXBTZUSD":` + list + `,"last":1}}`
				}
				return list
			}}})
			return s.Bars(t.Context(), Query{Symbol: s.service.example, Interval: Minute1, Limit: 100})
		}
		for what, bad := range map[string]func(int64) string{
			"text":         func(int64) string { return `"soon"` },
			"below 0":      func(n int64) string { return fmt.Sprint(-n) },
			"zero":         func(int64) string { return "0" },
			"too large":    func(int64) string { return "4611686018427387904" },
			"a thousandth": func(n int64) string { return fmt.Sprint(n / 1000) },
			"times 1000":   func(n int64) string { return fmt.Sprint(n * 1000) },
		} {
			if s, err := answer(bad, false); err != nil || s.Len() != 39 || s.Time[0] < 1e9 {
				t.Errorf("%s, one time is %s: %v", c.name, what, err)
			}
			if _, err := answer(bad, true); err == nil {
				t.Errorf("%s: all times are %s, and there is no error", c.name, what)
			}
		}
	}
}
