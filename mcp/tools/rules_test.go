package tools

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/indicators"
	"wick/indicators/rules"
)

// TestRulesPage runs the examples of docs/charts.md, and holds its table of names
// to the language.
func TestRulesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/charts.md")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		examples := regexp.MustCompile(`(?m)^ +([a-z]+_[a-z]+) (\{.*\})$`).FindAllStringSubmatch(string(page), -1)
		if len(examples) != 10 {
			t.Errorf("%d examples, want 10", len(examples))
		}
		for _, e := range examples {
			r, err := d.call(trader, e[1], e[2])
			if err != nil {
				t.Errorf("%s %s: %v", e[1], e[2], err)
				continue
			}
			for _, c := range r.Content {
				if strings.Contains(string(c.Text), `"ignored"`) {
					t.Errorf("%s %s: %s", e[1], e[2], c.Text)
				}
			}
		}
	})
	for _, name := range regexp.MustCompile("`([a-z_]+)\\(").FindAllStringSubmatch(string(page), -1) {
		if name := name[1]; !rules.Builtin(name) && name != "ema" && name != "sma" && name != "bbands" && name != "rsi" && name != "close" {
			t.Errorf("the page tells of %s, which is not of the language", name)
		}
	}
}

// TestLanguageIsTaught: a client that has nothing but the tools can read how
// rules are written, in a few lines, and finds them by the words it would use.
// The examples in those lines, but for the forms with a letter in place of a value, are read by
// the parser.
func TestLanguageIsTaught(t *testing.T) {
	type listed struct {
		Indicators []struct {
			Name     string
			Language []string
			Params   []struct{ Name string } `json:"configurable_params"`
		}
	}
	for _, arguments := range []string{
		`{"names":["rule"]}`, `{"query":"rule"}`, `{"query":"crosses above bars since golden cross"}`, `{"query":"crossover"}`, `{"category":"rules"}`,
	} {
		r, err := call(t, Deps{}, "list_indicators", arguments)
		if err != nil {
			t.Fatal(err)
		}
		var found listed
		if err := json.Unmarshal(r.Content[0].Text, &found); err != nil || len(found.Indicators) == 0 {
			t.Fatalf("%s: %v", arguments, err)
		}
		rule := found.Indicators[0]
		if rule.Name != "rule" || len(rule.Params) == 0 || len(rule.Language) == 0 || len(rule.Language) > 12 {
			t.Errorf("%s: %+v", arguments, rule)
		}
	}
	if !strings.Contains(string(guide), "ema(50) crosses above ema(200)") {
		t.Error("the guide does not teach the language")
	}
	for _, text := range []string{
		"ema(50) crosses above ema(200)", "rsi(14) crosses below 30", "close > close[1]", "close > highest(high, 20)[1]", "close < 0.95 * close[24]",
		"since(rsi(14) crosses above 30) < 10", `signal(rsi(14), "bull_div")`, `close:"BTC-USD" > 1`, "hour >= 9 and weekday < 6", `hour("America/New_York") > 1`, `line("2026-11-01T00:00", 100, "2026-11-10T00:00", 120) > 1`, "sma(20)@1d:ETHUSDT > 1", "high[1]@1d > 1", "sma(volume, 20) > 1",
		"ema(200) > 1", "macd(12,26,9).signal > 1", "bbands(length=20, mult=2).upper > 1", "high@1d > 1", "close:ETHUSDT > 1", "obv > avg(obv, 20)",
	} {
		if _, err := indicators.New("rule", map[string]json.RawMessage{"when": json.RawMessage(encode(text))}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if !strings.Contains(rules.Language, strings.TrimSuffix(text, " > 1")) {
			t.Errorf("%s is not in the lesson any more", text)
		}
	}
}
