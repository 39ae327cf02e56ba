package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wick/indicators"
	"wick/internal/exact"
	"wick/market"
	"wick/mcp"
	"wick/trade/book"
)

// Arguments of prompts are named as those of the tools are.
var (
	symbolArgument   = mcp.Argument{Name: "symbol", Title: "Symbol", Description: "Such as BTCUSDT or AAPL", Required: true, Read: market.Written}
	intervalArgument = mcp.Argument{Name: "interval", Title: "Interval", Description: "Length of a bar, such as 4h", Read: func(s string) (string, error) {
		iv, err := market.ParseInterval(s)
		return string(iv), err
	}}
	sides = []string{string(book.Buy), string(book.Sell)}
)

// readEach returns a reader of at most most names between commas, each read by read.
func readEach(most int, read func(string) (string, error)) func(string) (string, error) {
	return func(list string) (string, error) {
		var names []string
		for part := range strings.SplitSeq(list, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			name, err := read(part)
			if err != nil {
				return "", err
			}
			names = append(names, name)
		}
		switch n := len(names); {
		case n == 0:
			return "", errors.New("none is named")
		case n > most:
			return "", fmt.Errorf("%d are too many: at most %d", n, most)
		}
		return strings.Join(names, ", "), nil
	}
}

// readListed returns a symbol, or the name of a list of symbols after an @.
func readListed(text string) (string, error) {
	if name, isList := strings.CutPrefix(strings.ToLower(text), "@"); isList && ListName.MatchString(name) {
		return "@" + name, nil
	}
	return market.Written(text)
}

// readWords returns a person's own words, quoted. They are one line, as those of a note.
func readWords(text string) (string, error) {
	if n := utf8.RuneCountInString(text); n > maxNote {
		return "", fmt.Errorf("%d characters, at most %d are taken", n, maxNote)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", errors.New("one line of text is taken, without control characters")
	}
	return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`, nil
}

// Prompts returns the prompts, which hosts show as commands. Each is a text for the
// model, which names the tools to call and in which order; none of them has it place an
// order. Arguments are read as the tools read them, and put in as they spell them.
func Prompts() []mcp.Prompt {
	return []mcp.Prompt{{
		Name: "chart", Title: "Chart of a symbol", Description: "Draw a chart and say what it shows",
		Arguments: []mcp.Argument{symbolArgument, intervalArgument,
			{Name: "indicators", Title: "Indicators", Description: "Names separated by commas, such as rsi,macd", Read: readEach(maxIndicators, func(name string) (string, error) {
				ind, err := indicators.Lookup(name)
				if err != nil {
					return "", err
				}
				return ind.Name, nil
			})}},
		Text: func(a map[string]string) string {
			text := fmt.Sprintf("Call generate_chart with format=both for %s at %s", a["symbol"], cmp.Or(a["interval"], "4h"))
			if names := a["indicators"]; names != "" {
				text += " with the indicators " + names
			}
			return text + ". Show me the picture, then say in a few sentences what it shows: the trend, the levels that matter with their prices, " +
				"what the indicators say and where they disagree. Judge by closed bars. If the data is synthetic, say so first."
		},
	}, {
		Name: "morning", Title: "Morning round", Description: "The watchlist with levels, and which alerts fired",
		Arguments: []mcp.Argument{
			{Name: "symbols", Title: "Symbols", Description: "Separated by commas; without them, those that I hold or watch", Read: readEach(maxSymbols, readListed)}, intervalArgument},
		Text: func(a map[string]string) string {
			which := "the symbols of my positions and alerts (get_positions, list_alerts); if there are none, BTCUSDT and ETHUSDT"
			if a["symbols"] != "" {
				which = a["symbols"]
			}
			return fmt.Sprintf("Give me a morning round. First get_notifications with again=true: which alerts fired. Then get_indicators with symbols, "+
				"for %s, at %s, with rsi, atr and ema_stack. Answer with one table: symbol, price, change, trend, nearest level above and below, "+
				"what fired, what to look at today. No advice to trade. If the data is synthetic, say so first.",
				which, cmp.Or(a["interval"], "1d"))
		},
	}, {
		Name: "review", Title: "Review of the account", Description: "Positions, open orders, risk, and whether there is room for more",
		Text: func(map[string]string) string {
			return "Review my paper account. Call get_positions with include_flat=true and account=true, get_orders with filter=open, and list_alerts. For every open position call get_indicators with atr and rsi " +
				"at 4h. Say for each: what is held, since which price, the profit, how far the price is from the entry in ATR, and which open orders and alerts guard it; " +
				"name positions that nothing guards. Then say whether there is room for more: the account has the buying power, if there is one, and place_order with dry_run=true says of one order " +
				"whether it would pass. A refusal names the limit; an order that passes does not say how much more would, so name the size you tried. Place nothing."
		},
	}, {
		Name: "review-month", Title: "Review my month", Description: "What the trades of a month made, which worked, and what was given back",
		Arguments: []mcp.Argument{
			{Name: "month", Title: "Month", Description: "Such as 2026-11; without it, the one before this", Read: func(s string) (string, error) {
				month, err := time.Parse("2006-01", s)
				return month.Format("2006-01"), err
			}},
			{Name: "timezone", Title: "Time zone", Description: "Such as Europe/Berlin; without it, UTC", Read: func(s string) (string, error) {
				_, err := market.ParseZone(s)
				return strings.TrimSpace(s), err
			}}},
		Text: func(a map[string]string) string {
			return fmt.Sprintf("Review my trades of %s. Call get_orders with view=report by=month and timezone=%s, then with from and to for that month view=report by=tag, view=report by=symbol, and view=trades. "+
				"Say what was made, the win rate, the profit factor, the expectancy and both drawdowns, each beside the number of trades that it is of, and what is null with its reason: do not work it out another way. "+
				"Then the best and the worst trade with what opened and closed them, winners that were far behind, losers that had been ahead, and how much was given back. "+
				"Compare with the month before. With fewer than 20 trades say that they show little. Ask me about trades without a tag, and give them the tag that I name by place_order with order_id and tag. Place nothing.",
				cmp.Or(a["month"], "the month before this"), cmp.Or(a["timezone"], "UTC"))
		},
	}, {
		Name: "plan-trade", Title: "Plan a trade", Description: "Entry, stop, target and size by ATR; ends in a dry run",
		Arguments: []mcp.Argument{symbolArgument, intervalArgument,
			{Name: "side", Title: "Side", Description: "buy or sell; without it, say which the chart favours", Read: func(s string) (string, error) { return oneOf("side", s, sides) }},
			{Name: "risk", Title: "Risk", Description: "How much may be lost, in the quote currency, such as 200", Read: func(s string) (string, error) {
				var amount exact.Decimal
				err := decimal(&amount, "risk", "").set(json.RawMessage(encode(s)))
				return amount.String(), err
			}}},
		Text: func(a map[string]string) string {
			side := "Say which side the chart favours, or that neither is."
			if a["side"] != "" {
				side = "The side is " + a["side"] + "."
			}
			return fmt.Sprintf("Plan a trade in %s at %s. %s Call generate_chart with format=summary and the indicators ema_stack, rsi and atr, and the same one interval longer. "+
				"Give the entry, a stop 1.5 to 2 ATR away behind a level, a target, the ratio of gain to loss, and the quantity so that the stop loses %s. "+
				"Say what would prove the idea wrong. Then call place_order with dry_run=true and show what it answers. Place nothing: I decide.",
				a["symbol"], cmp.Or(a["interval"], "4h"), side, cmp.Or(a["risk"], "100 of the quote currency"))
		},
	}, {
		Name: "set-alert", Title: "Set an alert", Description: "Have wick watch a price or a signal",
		Arguments: []mcp.Argument{symbolArgument,
			{Name: "condition", Title: "Condition", Description: "Such as above 70000, or rsi leaves oversold", Required: true, Read: readWords}, intervalArgument},
		Text: func(a map[string]string) string {
			return fmt.Sprintf("Set an alert on %s: %s. If that names an indicator, call list_indicators with names for its signals, and use the interval %s. "+
				"Look at the price first: a price that is reached already fires at the next trade, so ask me if it is; a rule that is true already fires when it becomes true anew. Then set_alert with a short note that says why, "+
				"and tell me its alert_id and what exactly will make it fire.",
				a["symbol"], a["condition"], cmp.Or(a["interval"], "4h"))
		},
	}}
}

// Complete returns a function that completes the arguments of prompts and
// templates: symbols, intervals, names of indicators, and signals.
func Complete(d Deps) func(context.Context, mcp.Completion) []string { return newHandlers(d).complete }

// complete returns values for the argument that is being typed: those that begin with
// what was typed, then those that contain it. Package mcp cuts the list to what a reply
// may hold. An argument with another name has no values.
func (h *handlers) complete(ctx context.Context, c mcp.Completion) []string {
	var names []string
	for ind := range indicators.All() {
		names = append(names, ind.Name)
	}
	switch c.Argument {
	case "symbol", "query":
		found := beginning(c.Value, h.symbols(ctx, c.Caller))
		if len(found) == 0 && len(c.Value) > 1 { // the source may know more; an error is as good as none
			more, _ := market.Search(ctx, h.Source, c.Value)
			for _, f := range more {
				found = append(found, f.Symbol)
			}
		}
		return found
	case "symbols":
		return listed(c.Value, h.symbols(ctx, c.Caller))
	case "name":
		return beginning(c.Value, names)
	case "indicators":
		return listed(c.Value, names)
	case "side":
		return beginning(c.Value, sides)
	case "interval":
		var all []string
		for _, iv := range market.Intervals() {
			all = append(all, string(iv))
		}
		return beginning(c.Value, all)
	case "condition": // the two of a price, then every signal that an alert can wait for, after its indicator
		all := []string{"price_above ", "price_below "}
		for ind := range indicators.All() {
			for _, signal := range ind.Signals {
				if !ind.VisibleOnly() {
					all = append(all, ind.Name+" "+signal)
				}
			}
		}
		return beginning(c.Value, all)
	}
	return nil
}

// symbols returns the symbols that a caller may choose from: those that the engine
// watches, if the caller may know that, and those that the source has.
func (h *handlers) symbols(ctx context.Context, c mcp.Caller) (all []string) {
	if h.mayRead(ctx, c) {
		all = h.Engine.Symbols()
	}
	for _, symbol := range market.Known(h.Source) {
		if !slices.Contains(all, symbol) {
			all = append(all, symbol)
		}
	}
	return all
}

// beginning returns the values that begin with what was typed, and after them those that
// contain it. Upper and lower case are the same to it.
func beginning(typed string, values []string) (found []string) {
	typed = strings.ToLower(typed)
	var within []string
	for _, v := range values {
		switch at := strings.Index(strings.ToLower(v), typed); {
		case at == 0:
			found = append(found, v)
		case at > 0:
			within = append(within, v)
		}
	}
	return append(found, within...)
}

// listed completes the last item of a list separated by commas. Each result is the whole
// list with one completion, since a host replaces all that was typed with it.
func listed(typed string, values []string) (found []string) {
	comma := strings.LastIndexByte(typed, ',') + 1
	for _, v := range beginning(strings.TrimSpace(typed[comma:]), values) {
		found = append(found, typed[:comma]+v)
	}
	return found
}
