package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/indicators"
	"wick/trade"
)

// TestDescriptionsTell: a model that has read only tools/list knows what words in replies
// mean that read like something else. Labels of signals are those of which the catalogue
// says that the line leaves a zone. A description has at most 1,024 characters, which is as
// many as some vendors take.
func TestDescriptionsTell(t *testing.T) {
	told := make(map[string]string)
	d := Deps{Source: &fixed{}, Engine: new(trade.Engine)}
	for _, tool := range All(d) {
		told[tool.Name] = tool.Description + string(tool.Schema)
		if n := len(tool.Description); n > 1024 {
			t.Errorf("the description of %s has %d characters", tool.Name, n)
		}
	}
	type want struct{ tool, words string }
	wants := []want{
		{"get_indicators", "enters_oversold and enters_overbought that it comes in"},
		{"set_alert", "enters_oversold and enters_overbought that it comes in"},
		{"get_indicators", "settled:false marks values that more history could change"},
		{"generate_chart", "settled:false marks values that more history could change"},
		{"get_indicators", "weight in hbars_top is a width in the chart, 0.3 for the heaviest level"},
		{"generate_chart", "weight in hbars_top is a width in the chart, 0.3 for the heaviest level"},
		{"get_indicators", "change_24h in percent, since change_24h_since"},
		{"get_notifications", "Each login reads for itself"},
	}
	for ind := range indicators.All() {
		for _, label := range ind.Signals {
			if m := ind.Meaning(label); strings.Contains(m, " leaves the over") {
				wants = append(wants, want{"get_indicators", label}, want{"set_alert", label})
			}
		}
	}
	for _, w := range wants {
		if !strings.Contains(told[w.tool], w.words) {
			t.Errorf("%s does not tell: %s", w.tool, w.words)
		}
	}
}

// TestPlainWords sends over the protocol calls that a model makes which has read only
// tools/list. Each is for a request in plain words, and the test checks what the call does.
func TestPlainWords(t *testing.T) {
	alert := func(when, more string) string {
		return `{"symbol":"BTCUSDT","condition":{"indicator_signal":{"indicator":"rule","when":"` + when + `","signal":"becomes_true"}}` + more + `}`
	}
	const symbols = `"symbols":["BTCUSDT","ETHUSDT","SOLUSDT"]`
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		server := d.protocol(nil)
		for _, c := range []struct{ words, tool, arguments, want string }{
			{"tell me each time RSI is below 30 and the price above the 200 day average", "set_alert",
				alert("rsi(14) < 30 and close > sma(200)@1d", `,"repeat":"each_time"`), `"repeat":"each_time"`},
			{"tell me of a golden cross on 4h", "set_alert", alert("ema(50) crosses above ema(200)", `,"interval":"4h"`), `"values":{"ema(200)":`},
			{"tell me when the price breaks yesterday's high", "set_alert", alert("close > high@1d", `,"interval":"1h"`), `"other_bars":{"@1d":"1999-12-31T00:00:00Z"}`},
			{"MACD turns positive above the daily EMA 50, at most every 4 hours", "set_alert",
				alert("macd(12,26,9) crosses above 0 and close > ema(50)@1d", `,"interval":"1h","repeat":"each_time","cooldown":"4h"`), `"cooldown":"4h0m0s"`},
			{"which of these has an RSI below 40, lowest first", "get_indicators",
				`{` + symbols + `,"indicators":["rsi",{"name":"rule","when":"rsi(14) < 40"}],"sort":"-(rsi(14))"}`, `"rule.true"`},
			{"test buying RSI back above 30 and selling above 70 with a fee of 0.1 %", "get_indicators",
				`{"symbol":"BTCUSDT","interval":"1d","bars":2000,"indicators":[{"name":"backtest","entry":"rsi(14) crosses above 30","exit":"rsi(14) crosses above 70","fee":0.1}]}`, `"fee_pct":0.1,"slippage_pct":0.05`},
			{"the same short, with a stop of 3 % and a target of 6 %", "get_indicators",
				`{"symbol":"BTCUSDT","interval":"1d","bars":2000,"indicators":[{"name":"backtest","entry":"rsi(14) crosses above 30","exit":"rsi(14) crosses above 70","side":"short","stop_loss":"3%","take_profit":"6%","trades":true}]}`, `,"take_profit",`},
			{"show where the price was above the upper band on twice the volume", "generate_chart",
				`{"symbol":"BTCUSDT","indicators":[{"name":"rule","when":"close > bollinger(20,2).upper and volume > 2 * sma(volume,20)"}],"format":"summary"}`, `"true":`},
			{"chart bitcoin by ether", "generate_chart",
				`{"symbol":"BTCUSDT","indicators":[{"name":"formula","expr":"close / close:ETHUSDT"}],"format":"summary"}`, `close / close:ETHUSDT`},
			{"draw the distance of two averages in ATR", "generate_chart",
				`{"symbol":"BTCUSDT","indicators":[{"name":"formula","expr":"(ema(12) - ema(26)) / atr(14)"}],"format":"summary"}`, `"last_value":`},
			{"is it at its high of 50 bars", "get_indicators", `{"symbol":"BTCUSDT","indicators":[{"name":"rule","when":"high >= highest(high,50)"}]}`, `"highest(high, 50)":`},
			{"tell me when it fell 5 % in 24 hours", "set_alert", alert("close < 0.95 * close[24]", `,"interval":"1h"`), `"true":`},
			{"tell me when it is within half a percent of the EMA 200", "set_alert", alert("abs(close / ema(200) - 1) < 0.005", ""), `"now":{"bar":`},
			{"when was the last golden cross", "get_indicators",
				`{"symbol":"BTCUSDT","interval":"1h","bars":2000,"indicators":[{"name":"rule","when":"sma(50) crosses above sma(200)"}]}`, `"label":"becomes_true"`},
			{"test that cross, the last 30 % apart", "get_indicators",
				`{"symbol":"BTCUSDT","interval":"1h","bars":2000,"indicators":[{"name":"backtest","entry":"sma(50) crosses above sma(200)","exit":"sma(50) crosses below sma(200)","split":0.7}]}`, `"parts":[`},
			{"bitcoin and ether both above their 20 day average", "set_alert", alert("close > sma(20)@1d and close:ETHUSDT > sma(20)@1d:ETHUSDT", ""), `:ETHUSDT@1d`},
			{"RSI above 80, on every bar, until a day", "set_alert", alert("rsi(14) > 80", `,"repeat":"each_bar","expires_at":"2000-01-07"`), `"on every bar on which the condition is true"`},
			{"tell me of a bullish divergence of the RSI", "set_alert",
				`{"symbol":"BTCUSDT","interval":"1h","condition":{"indicator_signal":{"indicator":"rsi_divergence","signal":"bullish_divergence"}}}`, `"signal":"bull_div"`},
			{"who is above its cloud", "get_indicators", `{` + symbols + `,"indicators":[{"name":"rule","when":"close > ichimoku.span_a and close > ichimoku.span_b"}]}`, `"rule.since"`},
			{"tell me when the bands are as narrow as in 100 bars", "set_alert", alert("bbwidth(20,2) <= lowest(bbwidth(20,2),100)", ""), `"lowest(bb_bandwidth(20, 2, 125), 100)":`},
			{"plot solana against ether with the mean of 50 bars", "generate_chart",
				`{"symbol":"SOLUSDT","interval":"4h","indicators":[{"name":"formula","expr":"close / close:ETHUSDT; sma(close / close:ETHUSDT, 50)"}],"format":"summary"}`, `"label":"sma(close / close:ETHUSDT, 50)","last_value":`},
			{"put the mean of three averages on the price", "generate_chart",
				`{"symbol":"BTCUSDT","interval":"1d","indicators":[{"name":"formula","expr":"(ema(20) + ema(50) + ema(100)) / 3","overlay":true}],"format":"summary"}`, `"is_overlay":true`},
			{"above the upper Keltner channel while the index is down", "set_alert", alert("close > keltner(20,2).upper and close:^GSPC < close:^GSPC[1]", `,"interval":"1d","repeat":"each_bar"`), `"other_bars":{":^GSPC":"1999-12-31T00:00:00Z"}`},
			{"ether in bitcoin under its average of 30 days", "set_alert", alert("close / close:BTCUSDT < sma(close / close:BTCUSDT, 30)", `,"interval":"1d"`), `:BTCUSDT`},
			{"short a fall through the lower band, 2 % stop, 3 % target", "get_indicators",
				`{"symbol":"ETHUSDT","interval":"1h","bars":2000,"indicators":[{"name":"backtest","side":"short","enter":"close crosses below bbands(20,2).lower","stop_loss":2,"take_profit":3}]}`, `"leaves":"at the stop, at the target"`},
			{"buy a bullish engulfing above the EMA 100, sold ten bars later", "get_indicators",
				`{"symbol":"BTCUSDT","interval":"4h","bars":2000,"indicators":[{"name":"backtest","enter":"signal(candles(pattern=engulfing), 'engulfing_bull') and close > ema(100)","hold":10}]}`, `"leaves":"after 10 bars"`},
			{"twice the volume in New York's first seven hours", "set_alert", alert("volume > 2 * sma(volume, 20) and since(signal(sessions(session=new_york), 'session_open')) < 7", `,"interval":"1h"`), `"now":{"bar":`},
			{"a rule in short", "set_alert", `{"symbol":"BTCUSDT","condition":{"rule":"rsi(14) < 30"}}`, `"signal":"becomes_true"`},
			{"buy with a stop of 3 % and a target of 6 %", "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":1,"stop_loss":"3%","take_profit":"6%"}`, `"status":"filled"`},
			{"follow it with a stop 2 % behind", "place_order", `{"symbol":"ETHUSDT","side":"buy","type":"trailing_stop","quantity":1,"trail_percent":"2%"}`, `"trail_percent":2`},
			{"$500 of ether", "place_order", `{"symbol":"ETHUSDT","side":"buy","type":"market","notional":500}`, `"status":"filled"`},
			{"sell half of it", "place_order", `{"symbol":"BTCUSDT","side":"sell","type":"market","quantity":"50%"}`, `"of":"position"`},
			{"risk $25 with a stop 3 % away", "place_order", `{"symbol":"XRPUSDT","side":"buy","type":"market","risk":25,"stop_loss":"3%"}`, `"risk":25`},
			{"close everything", "place_order", `{"symbol":"all","side":"sell","type":"market","quantity":"all"}`, `"status":"filled"`},

			// What cannot be meant is refused, and the refusal has the right form.
			{"a stop of 3 % as a number", "place_order", `{"symbol":"SOLUSDT","side":"buy","type":"market","quantity":1,"stop_loss":3}`, `in percent write \"3%\"`},
			{"half of it in a word", "place_order", `{"symbol":"BTCUSDT","side":"sell","type":"market","quantity":"half"}`, `or all for the whole position`},
			{"until next Friday", "set_alert", alert("rsi(14) > 80", `,"expires_at":"next Friday"`), `is no time: write a date such as 2026-01-31`},
			{"for a year", "set_alert", alert("rsi(14) > 80", `,"expires_at":2099`), `is no time: write a date such as 2026-01-31`},
			{"ether's price by a dot", "set_alert", alert("ETHUSDT.close > 1", ""), `is written close:ETHUSDT`},
		} {
			var result json.RawMessage
			ask(t, server, trader, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.arguments), &result)
			text := strings.ReplaceAll(string(result), `\"`, `"`)
			want := strings.ReplaceAll(c.want, `\"`, `"`)
			if !strings.Contains(text, want) && !strings.Contains(text, strings.ReplaceAll(want, `"3%"`, `\"3%\"`)) {
				t.Errorf("%s: %s %s gives\n%.1500s\nwithout %s", c.words, c.tool, c.arguments, text, want)
			}
		}
	})
}
