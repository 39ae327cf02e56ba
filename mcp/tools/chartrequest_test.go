package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"time"

	"wick/market"
)

// picture draws a chart of 60 bars without indicators; more are further
// arguments as members of a JSON object, such as `"scale":"log"`.
func picture(t *testing.T, more string) []byte {
	t.Helper()
	r, err := call(t, Deps{Source: &fixed{}}, "generate_chart", `{"symbol":"BTCUSDT","bars":60,"width":640,"height":320,"indicators":["rsi"]`+more+`}`)
	if err != nil {
		t.Fatalf("%s: %v", more, err)
	}
	if len(r.Content) != 1 {
		t.Errorf("%s: %d items, the last %q", more, len(r.Content), r.Content[len(r.Content)-1].Text)
	}
	return r.Content[0].Data
}

// TestChartOptions: every option changes the picture, its default does not, and
// the names that models try for it mean the same.
func TestChartOptions(t *testing.T) {
	plain := picture(t, "")
	for _, c := range []struct {
		def, option string
		aliases     []string
	}{
		{`"type":"candles"`, `"type":"heikin_ashi"`, []string{`"chart_type":"Heikin_Ashi"`}},
		{`"scale":"linear"`, `"scale":"log"`, []string{`"log_scale":true`, `"log_scale":"true"`}},
		{`"log_scale":false`, `"scale":"percent"`, nil},
		{`"signals":"auto"`, `"signals":"off"`, nil},
		{`"volume":true`, `"volume":false`, []string{`"show_volume":"no"`}},
		{`"pixel_ratio":1`, `"pixel_ratio":1.5`, []string{`"pixel_ratio":"1.5"`, `"device_pixel_ratio":1.5`}},
		{`"timezone":"UTC"`, `"timezone":"Asia/Kolkata"`, []string{`"tz":"Asia/Kolkata"`}},
		{`"compare":[]`, `"compare":["ETHUSDT"]`, []string{`"compare_to":"ethusdt"`, `"compare_with":["ETHUSDT","BTCUSDT","ethusdt"]`}},
		{`"marks":[]`, `"marks":[{"type":"level","price":6.5,"text":"goal"}]`, []string{`"annotations":{"type":"level","price":6.5,"text":"goal"}`}},
	} {
		if !bytes.Equal(picture(t, ","+c.def), plain) {
			t.Errorf("%s, the default, changes the picture", c.def)
		}
		with := picture(t, ","+c.option)
		if bytes.Equal(with, plain) {
			t.Errorf("%s changes nothing", c.option)
		}
		for _, alias := range c.aliases {
			if !bytes.Equal(picture(t, ","+alias), with) {
				t.Errorf("%s draws something else than %s", alias, c.option)
			}
		}
	}
	img, err := png.Decode(bytes.NewReader(picture(t, `,"pixel_ratio":2`)))
	if err != nil || img.Bounds().Dx() != 1280 || img.Bounds().Dy() != 640 {
		t.Errorf("640x320 at a ratio of 2 has %v, %v", img.Bounds(), err)
	}
}

// TestChartOptionBounds: a bad option is refused with what would be right,
// before any bar is fetched.
func TestChartOptionBounds(t *testing.T) {
	f := &fixed{}
	for arguments, want := range map[string]string{
		`"type":"renko"`:                        "candles, hollow, heikin_ashi, bars, line, area",
		`"scale":"cubic"`:                       "linear, log, percent",
		`"signals":"loud"`:                      "auto, labels, marks, off",
		`"pixel_ratio":"NaN"`:                   "1 to 3",
		`"width":2000,"pixel_ratio":3`:          "4096",
		`"timezone":"Mars/Base"`:                "America/New_York",
		`"from":"yesterday"`:                    "2026-01-31",
		`"to":"31.12.2025"`:                     "2026-01-31",
		`"from":"2026-01-02","to":"2026-01-01"`: "after",
		`"from":"2026"`:                         "2026-01-31",
		`"to":20261301`:                         "unix seconds from 1973 on",
		`"marks":[{"type":"text","text":"x","price":1,"time":2026}]`: "2026-01-31",
		`"from":"2999-01-01"`:            "future",
		`"volume":"loud"`:                "true",
		`"show":["wallet"]`:              "position, orders, alerts, fills",
		`"show":{}`:                      "show must hold strings, not {}",
		`"show":["fills",{"a":1}]`:       `show must hold strings, not {"a":1}`,
		`"marks":[{"type":"circle"}]`:    "level, zone, line or text",
		`"marks":[{"type":"level"}]`:     "price",
		`"compare":["../x"]`:             "BTCUSDT",
		`"scale":"log","log_scale":true`: "one argument",
	} {
		if _, err := call(t, Deps{Source: f}, "generate_chart", `{"symbol":"BTCUSDT",`+arguments+`}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", arguments, err, want)
		}
	}
	if len(f.queries) > 0 {
		t.Errorf("bars were fetched for a request that was refused: %v", f.queries)
	}
	if _, err := call(t, Deps{Source: f}, "generate_chart", `{"compare":"ETHUSDT"}`); err == nil || !strings.Contains(err.Error(), "symbol") {
		t.Errorf("invented bars are compared with real ones: %v", err)
	}
}

// ranged is the part of a series payload that tells what is shown.
type ranged struct {
	Forming bool
	Bars    []struct {
		T    int64
		O, C float64
	}
	Indicators map[string]struct{ Lines []struct{ Values []*float64 } }
	Compare    []struct {
		Symbol, Source string
		Synthetic      bool
		Opens, Closes  []*float64
		ChangePct      float64 `json:"change_pct"`
		LastClose      float64 `json:"last_close"`
	}
}

// ask returns a chart's series payload and the texts beside it.
func askRange(t *testing.T, more string) (r ranged, notes []string) {
	t.Helper()
	result, err := call(t, Deps{Source: &fixed{}}, "generate_chart", `{"symbol":"BTCUSDT","format":"series","indicators":["sma"],`+more+`}`)
	if err != nil {
		t.Fatalf("%s: %v", more, err)
	}
	if err := json.Unmarshal(result.Content[0].Text, &r); err != nil {
		t.Fatal(err)
	}
	for _, c := range result.Content[1:] {
		notes = append(notes, string(c.Text))
	}
	return r, notes
}

// TestChartRange: from and to choose the bars by their start, to a date means
// to its end, and what bars cuts off is said.
func TestChartRange(t *testing.T) {
	for _, c := range []struct {
		arguments   string
		first, last string
		bars        int
		note        string
	}{
		{`"interval":"1d","from":"2025-01-01","to":"2025-01-31"`, "2025-01-01T00:00:00Z", "2025-01-31T00:00:00Z", 31, ""},
		{`"interval":"1d","since":"2025-01-01","until":"2025-12-31"`, "2025-01-01T00:00:00Z", "2025-12-31T00:00:00Z", 365, ""},
		{`"interval":"1d","from":"2025-01-01","to":"2025-01-31","timezone":"America/New_York"`, "2025-01-01T00:00:00Z", "2025-01-31T00:00:00Z", 31, ""},
		{`"interval":"1d","from":"2025-01-01","to":"2025-01-31","bars":10`, "2025-01-22T00:00:00Z", "2025-01-31T00:00:00Z", 10, "31 bars"},
		{`"interval":"4h","to":"2025-01-31","bars":6`, "2025-01-31T00:00:00Z", "2025-01-31T20:00:00Z", 6, ""},
		{`"interval":"4h","from":"2025-01-31","to":"2025-01-31"`, "2025-01-31T00:00:00Z", "2025-01-31T20:00:00Z", 6, ""},
		{`"interval":"4h","from":"2025-01-31 04:00","to":"2025-01-31T12:00:00Z"`, "2025-01-31T04:00:00Z", "2025-01-31T12:00:00Z", 3, ""},
		{`"interval":"4h","from":20250131,"to":"20250131"`, "2025-01-31T00:00:00Z", "2025-01-31T20:00:00Z", 6, ""},
		{`"interval":"4h","from":1738281600,"to":1738339200000`, "2025-01-31T00:00:00Z", "2025-01-31T16:00:00Z", 5, ""},
		{`"interval":"4h","from":"2025-01-31","to":"2025-01-31","tz":"+04:00"`, "2025-01-30T20:00:00Z", "2025-01-31T16:00:00Z", 6, ""},
	} {
		r, notes := askRange(t, c.arguments)
		at := func(i int) string { return time.Unix(r.Bars[i].T, 0).UTC().Format(time.RFC3339) }
		if len(r.Bars) != c.bars || at(0) != c.first || at(len(r.Bars)-1) != c.last || r.Forming {
			t.Errorf("%s: %d bars from %s to %s, want %d from %s to %s", c.arguments, len(r.Bars), at(0), at(len(r.Bars)-1), c.bars, c.first, c.last)
		}
		if said := strings.Join(notes, "\n"); c.note == "" && said != "" || !strings.Contains(said, c.note) {
			t.Errorf("%s: notes %q, want %q", c.arguments, notes, c.note)
		}
		if r.Indicators["sma"].Lines[0].Values[0] == nil {
			t.Errorf("%s: the first value is not warm", c.arguments)
		}
	}
}

// TestChartRangeAlone: from without to ends with the newest bar. What lies
// before the first bar there is, is said or refused.
func TestChartRangeAlone(t *testing.T) {
	from := fixedNow.Add(-47 * time.Hour).Format(time.RFC3339)
	r, _ := askRange(t, fmt.Sprintf(`"interval":"1h","from":%q`, from))
	if last := r.Bars[len(r.Bars)-1].T; !r.Forming || len(r.Bars) < 47 || time.Unix(last, 0).Add(time.Hour).Before(fixedNow) {
		t.Errorf("from %s: %d bars, the last at %d", from, len(r.Bars), last)
	}
	short := Deps{Source: &newborn{}}
	result, err := call(t, short, "generate_chart", `{"symbol":"BTCUSDT","interval":"1d","from":"2020-01-01","format":"summary"}`)
	if err != nil || len(result.Content) != 2 || !strings.Contains(string(result.Content[1].Text), "begin at") {
		t.Errorf("a range that begins before the bars: %v, %v", result, err)
	}
	if _, err := call(t, short, "generate_chart", `{"symbol":"BTCUSDT","interval":"1d","to":"2020-01-01"}`); err == nil || !strings.Contains(err.Error(), "no bars") {
		t.Errorf("a range without bars: %v", err)
	}
}

// TestChartCompare: what is compared comes in both payloads, aligned with the
// bars and with its own change, and from the source under its own name.
func TestChartCompare(t *testing.T) {
	var s, one ranged
	d := Deps{Source: &fixed{}}
	payload(t, d, "generate_chart", `{"symbol":"BTCUSDT","bars":50,"indicators":[],"compare":["eth-usdt"],"format":"series"}`, &s)
	payload(t, d, "generate_chart", `{"symbol":"ETHUSDT","bars":50,"indicators":[],"format":"series"}`, &one)
	if len(s.Compare) != 1 || s.Compare[0].Symbol != "ETHUSDT" || s.Compare[0].Source != "fixed" || len(s.Compare[0].Closes) != 50 {
		t.Fatalf("compare: %+v", s.Compare)
	}
	for i, c := range s.Compare[0].Closes {
		o := s.Compare[0].Opens[i]
		if c == nil || *c != one.Bars[i].C || o == nil || *o != one.Bars[i].O {
			t.Fatalf("bar %d differs from the symbol's own, %v", i, one.Bars[i])
		}
	}
	payload(t, d, "generate_chart", `{"symbol":"BTCUSDT","bars":50,"indicators":[],"compare":["eth-usdt"],"format":"summary"}`, &s)
	first, last := one.Bars[0].O, one.Bars[49].C
	if want := 100 * (last - first) / first; s.Compare[0].LastClose != last || fmt.Sprintf("%.6f", s.Compare[0].ChangePct) != fmt.Sprintf("%.6f", want) {
		t.Errorf("summary: %+v, want a change of %v to %v", s.Compare[0], want, last)
	}
	if _, err := call(t, Deps{Source: market.Sample{}}, "generate_chart", `{"symbol":"BTCUSDT","compare":["ETHUSDT"],"indicators":["rsi"],"format":"both"}`); err != nil {
		t.Error(err)
	}
}

// TestSeriesRepeatsRequest: a series tells what was asked for in the names and the
// spelling of the schema, whatever a model wrote, and only what is not the default.
// The page of the chart draws the same picture from it.
func TestSeriesRepeatsRequest(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{
		{`{}`, ``},
		{`{"symbol":"BTCUSDT","interval":"4h","bars":50,"type":"candles","width":640,"indicators":["ema_stack","rsi","macd"]}`, `{"symbol":"BTCUSDT"}`},
		{`{"indicators":""}`, `{"indicators":[]}`},
		{`{"ticker":"BTCUSDT","timeframe":"1H","panels":"rsi, sma","chart_type":"Hollow","log_scale":true,"show_volume":"no","theme":"Dark","signals":"off"}`,
			`{"symbol":"BTCUSDT","interval":"1h","indicators":["rsi","sma"],"type":"hollow","scale":"log","signals":"off","volume":false,"theme":"dark"}`},
		{`{"symbol":"BTCUSDT","interval":"1h","since":"2025-01-01","until":"2025-01-01","tz":"+02:00","indicators":[],"compare_to":"ETHUSDT",
			"drawings":[{"type":"line","price":1,"time":"2025-01-01","price2":2,"time2":"2025-01-01 12:00"},{"type":"level","price":3,"color":"up"}]}`,
			`{"symbol":"BTCUSDT","interval":"1h","indicators":[],"from":1735682400,"to":1735768799,"compare":["ETHUSDT"],"timezone":"+02:00",
			"marks":[{"type":"line","price":1,"price2":2,"time":1735682400,"time2":1735725600},{"type":"level","price":3,"color":"up"}]}`},
	} {
		var got struct{ Request json.RawMessage }
		payload(t, Deps{Source: &fixed{}}, "generate_chart", strings.TrimSuffix(c.arguments, "}")+strings.Repeat(",", min(1, len(c.arguments)-2))+`"format":"series"}`, &got)
		var want bytes.Buffer
		if c.want != "" {
			if err := json.Compact(&want, []byte(c.want)); err != nil {
				t.Fatal(err)
			}
		}
		if string(got.Request) != want.String() {
			t.Errorf("%s: request %s, want %s", c.arguments, got.Request, want.String())
		}
	}
}
