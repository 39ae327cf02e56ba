package trade

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
	"wick/trade/live/alpaca/alpacatest"
)

// setTimed sets an alert without a symbol.
func setTimed(t *testing.T, e *Engine, condition string, r book.AlertRequest) (book.Alert, error) {
	t.Helper()
	if err := json.Unmarshal([]byte(condition), &r.Condition); err != nil {
		return book.Alert{}, err
	}
	return e.SetAlert(t.Context(), r)
}

// pulses lets time pass, with a look every second of the last minute and one a minute before.
func pulses(t *testing.T, e *Engine, until time.Time) {
	t.Helper()
	for time.Now().Before(until) {
		step := time.Second
		if time.Until(until) > time.Minute {
			step = time.Minute
		}
		time.Sleep(step)
		if err := e.pulse(); err != nil {
			t.Fatal(err)
		}
	}
}

// toldTimes returns when alerts fired and for which time, with "late" for those that say so, and
// forgets them.
func toldTimes(t *testing.T, e *Engine) (out []string) {
	t.Helper()
	n, _, err := e.Notifications("", false, Page{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range n {
		value, _ := n.Value.Int64()
		line := time.Unix(value, 0).UTC().Format("02 15:04:05")
		if n.Late {
			line += " late"
		}
		out = append(out, line)
	}
	return out
}

// TestTimeAlerts: an alert on a time is told within a second of it, in the zone and on the days that were
// asked for, and not before. The bubble begins on Saturday, 2000-01-01, at midnight in UTC.
func TestTimeAlerts(t *testing.T) {
	for _, c := range []struct {
		condition string
		request   book.AlertRequest
		want      string
	}{
		{`{"at":"2000-01-01T09:30","timezone":"America/New_York"}`, book.AlertRequest{}, "[01 14:30:00]"},
		{`{"at":"2000-01-02T09:30:05Z"}`, book.AlertRequest{}, "[02 09:30:05]"},
		{`{"at":"2000-01-05"}`, book.AlertRequest{}, "[]"},
		{`{"daily":"15:30","timezone":"+05:30"}`, book.AlertRequest{}, "[01 10:00:00 02 10:00:00 03 10:00:00]"},
		{`{"daily":"23:30","timezone":"America/New_York","weekdays":["sun","Saturday"]}`, book.AlertRequest{}, "[02 04:30:00 03 04:30:00]"},
		{`{"daily":"23:30","timezone":"America/New_York","weekdays":"fri"}`, book.AlertRequest{}, "[01 04:30:00]"},
		{`{"daily":"00:00"}`, book.AlertRequest{}, "[02 00:00:00 03 00:00:00 04 00:00:00]"}, // not the one at which it was set
		{`{"daily":"12:00"}`, book.AlertRequest{ExpiresAt: time.Date(2000, 1, 2, 12, 0, 0, 0, time.UTC)}, "[01 12:00:00 02 12:00:00]"},
		{`{"daily":"12:00"}`, book.AlertRequest{Cooldown: "47h", Repeat: book.EachTime}, "[01 12:00:00 03 12:00:00]"},
	} {
		inBubble(t, nil, func(t *testing.T, e *Engine) {
			a, err := setTimed(t, e, c.condition, c.request)
			if err != nil {
				t.Fatal(err)
			}
			next := e.Standing(t.Context(), a).Next.UTC().Format("02 15:04:05")
			pulses(t, e, time.Date(2000, 1, 4, 0, 0, 1, 0, time.UTC))
			got := toldTimes(t, e)
			if fmt.Sprint(got) != c.want || len(got) > 0 && got[0] != next {
				t.Errorf("%s was told at %s, and said that the first is %s; want %s", c.condition, got, next, c.want)
			}
			if left := len(must(e.Alerts(""))); left != 1 && strings.Contains(c.condition, "2000-01-05") || left != 0 && c.want == "[01 14:30:00]" {
				t.Errorf("%s: %d alerts wait", c.condition, left)
			}
		})
	}
}

// TestTimeAlertDowntime: of the times that passed while wick was killed, or the machine slept,
// only the newest is told, once, and says that it is late; afterwards all goes on as before.
func TestTimeAlertDowntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, d := testOptions(t), journaltest.NewDisk()
		e := must(openOn(o, d))
		for _, condition := range []string{`{"daily":"12:00"}`, `{"at":"2000-01-03T18:00"}`} {
			if _, err := setTimed(t, e, condition, book.AlertRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(what, want string) {
			t.Helper()
			if got := fmt.Sprint(toldTimes(t, e)); got != want {
				t.Errorf("%s: told %s, want %s", what, got, want)
			}
		}
		pulses(t, e, time.Date(2000, 1, 1, 13, 0, 0, 0, time.UTC))
		check("on the first day", "[01 12:00:00]")
		time.Sleep(5 * 24 * time.Hour)
		e = must(openOn(o, d.Cut(journaltest.Kept))) // killed on the first day
		time.Sleep(time.Second)
		e.pulse()
		check("after five days", "[06 12:00:00 late 03 18:00:00 late]")
		pulses(t, e, time.Date(2000, 1, 7, 12, 0, 1, 0, time.UTC))
		check("on the next day", "[07 12:00:00]")
		time.Sleep(24 * time.Hour)
		e.pulse()
		check("a second late", "[08 12:00:00]")
		time.Sleep(3 * 24 * time.Hour)
		time.Sleep(time.Hour)
		e.pulse()
		check("after it slept", "[11 12:00:00 late]")
		e.Close()
	})
}

// TestProfitAlerts: an alert on a profit is told when the position, the day or the account has made it, and
// anew only after it was elsewhere. Ten are bought at 100. The profit of the position and of the account are ten
// times what the price has moved, and nothing fires while nothing is held.
func TestProfitAlerts(t *testing.T) {
	for _, c := range []struct {
		condition string
		request   book.AlertRequest
		prices    string
		want      string
	}{
		{`{"profit_below":-50,"of":"position"}`, book.AlertRequest{Symbol: "AAA"}, "100 96 95 90", "-50"},
		{`{"profit_above":50,"of":"position"}`, book.AlertRequest{Symbol: "aaa"}, "100 104.99 107 90", "70"},
		{`{"profit_below":-50,"of":"account"}`, book.AlertRequest{}, "100 94 90", "-60"},
		{`{"profit_above":0,"of":"account"}`, book.AlertRequest{}, "90", "0"}, // true already, before the position
		{`{"profit_below":-50,"of":"day"}`, book.AlertRequest{}, "100 94 90", "-60"},
		{`{"profit_below":-50,"of":"position"}`, book.AlertRequest{Symbol: "AAA", Repeat: book.EachTime}, "95 94 97 93 93 99 90", "-50 -70 -100"},
		{`{"profit_below":-50,"of":"position"}`, book.AlertRequest{Symbol: "AAA", Repeat: book.EachTime, Cooldown: "25s"}, "95 99 94 93 99", "-50 -70"}, // at -60 it rests
	} {
		inBubble(t, func(o *Options) { o.Rules.Account = book.AccountRules{Cash: 10_000 * exact.One} }, func(t *testing.T, e *Engine) {
			if err := e.ensure(t.Context(), "AAA"); err != nil {
				t.Fatal(err)
			}
			update(e, 100, 100, 100)
			if err := e.tidy(); err != nil { // values the account for the first time today
				t.Fatal(err)
			}
			a, err := setTimed(t, e, c.condition, c.request)
			if err != nil {
				t.Fatalf("%s: %v", c.condition, err)
			}
			e.pulse()
			place(t, e, book.Buy, book.Market, "10", "")
			for _, p := range strings.Fields(c.prices) {
				var price float64
				fmt.Sscan(p, &price)
				update(e, price, price, price)
				e.pulse()
				e.pulse()
			}
			if got := firedValues(t, e); got != c.want {
				t.Errorf("%s, %s: told at %s, want %s", c.condition, c.prices, got, c.want)
			}
			if st := e.Standing(t.Context(), a); st == nil || st.Value == "" {
				t.Errorf("%s: the reply does not say how the profit stands: %+v", c.condition, st)
			}
		})
	}
}

// TestTimedRefused: a time or a profit that cannot be is refused, with what would be right.
func TestTimedRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for _, c := range []struct {
			condition string
			request   book.AlertRequest
			code      string
			says      string
		}{
			{`{"at":"1999-12-31T23:59"}`, book.AlertRequest{}, "bad_time", "is over"},
			{`{"at":"soon"}`, book.AlertRequest{}, "bad_time", "want 2026-01-31"},
			{`{"at":5}`, book.AlertRequest{}, "bad_time", `"at": "2026-11-20T15:30"`},
			{`{"at":"2000-01-02T09:30Z","timezone":"Mars/Base"}`, book.AlertRequest{}, "bad_time", "America/New_York"},
			{`{"at":"2000-01-02T09:30:00Z","timezone":"Europe/Berlin"}`, book.AlertRequest{}, "bad_time", "leave out timezone"},
			{`{"at":"2000-01-02T09:30","weekdays":["mon"]}`, book.AlertRequest{}, "bad_time", "with daily"},
			{`{"at":"2000-01-02T09:30"}`, book.AlertRequest{Repeat: book.EachTime}, "bad_repeat", "daily repeats"},
			{`{"daily":"25:00"}`, book.AlertRequest{}, "bad_time", "such as 15:30"},
			{`{"daily":"noon"}`, book.AlertRequest{}, "bad_time", "such as 15:30"},
			{`{"daily":"12:00","weekdays":["Xmas"]}`, book.AlertRequest{}, "bad_time", "mon, tue, wed"},
			{`{"daily":"12:00","weekdays":5}`, book.AlertRequest{}, "bad_time", "a list such as"},
			{`{"daily":"12:00"}`, book.AlertRequest{Repeat: book.EachBar}, "bad_repeat", "no bars"},
			{`{"daily":"12:00","at":"2000-01-02"}`, book.AlertRequest{}, "bad_condition", "exactly one"},
			{`{"daily":"12:00","of":"day"}`, book.AlertRequest{}, "bad_condition", "exactly one"},
			{`{"daily":"` + strings.Repeat("1", 65) + `"}`, book.AlertRequest{}, "bad_time", "daily"},
			{`{"profit_below":-5}`, book.AlertRequest{}, "bad_condition", "position, day, account"},
			{`{"profit_below":-5,"of":"week"}`, book.AlertRequest{}, "bad_condition", "position, day, account"},
			{`{"profit_below":-5,"of":7}`, book.AlertRequest{}, "bad_condition", "position, day, account"},
			{`{"profit_below":"much","of":"day"}`, book.AlertRequest{}, "bad_threshold", "plain number"},
			{`{"profit_below":-5,"of":"day"}`, book.AlertRequest{}, "no_account", "--cash"},
			{`{"profit_below":-5,"of":"position"}`, book.AlertRequest{}, "bad_symbol", ""},
			{`{"profit_below":-5,"of":"account"}`, book.AlertRequest{Repeat: book.EachBar}, "bad_repeat", "no bars"},
		} {
			if _, err := setTimed(t, e, c.condition, c.request); code(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v; want %s with %q", c.condition, err, c.code, c.says)
			}
		}
	})
}

// TestLiveProfitAlerts: at a broker the day has made what the broker says of its account, and a position and
// the account what the fills there come to. Ten are bought at 100 and valued at 97 and then 101; the
// account there goes from 1000 to 940 and to 1075, since others trade in it, too.
func TestLiveProfitAlerts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer func() { l.stop() }()
		v.Equity(shares(1000), shares(1000))
		set := func(condition string, r book.AlertRequest) {
			r.Repeat = book.EachTime
			if _, err := setTimed(t, l.e, condition, r); err != nil {
				t.Fatal(condition, err)
			}
		}
		for _, of := range []string{"day", "account"} {
			set(`{"profit_below":-20,"of":"`+of+`"}`, book.AlertRequest{})
			set(`{"profit_above":5,"of":"`+of+`"}`, book.AlertRequest{})
		}
		set(`{"profit_below":-20,"of":"position"}`, book.AlertRequest{Symbol: "AAA"})
		set(`{"profit_above":5,"of":"position"}`, book.AlertRequest{Symbol: "AAA"})
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(10)}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			price, equity int64
			want          string
		}{
			{100, 1000, ""},
			{97, 940, "day -60, account -30, position -30"},
			{101, 1075, "day 75, account 10, position 10"},
			{101, 1075, ""},
		} {
			v.Equity(shares(c.equity), shares(1000))
			update(l.e, float64(c.price), float64(c.price), float64(c.price))
			time.Sleep(time.Minute) // the account is read
			update(l.e, float64(c.price), float64(c.price), float64(c.price))
			if err := l.e.pulse(); err != nil {
				t.Fatal(err)
			}
			notes, _, err := l.e.Notifications("", false, Page{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range notes {
				got = append(got, fmt.Sprint(n.Condition.Of, " ", n.Value))
			}
			if told := strings.Join(got, ", "); told != c.want {
				t.Errorf("at %d, and %d in the account: told %q, want %q", c.price, c.equity, told, c.want)
			}
			if c.price == 97 {
				l.crash()
				l.e.watchNeeded(t.Context())
			}
		}
	})
}
