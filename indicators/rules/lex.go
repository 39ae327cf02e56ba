package rules

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word of an expression.
type token struct {
	kind tokenKind
	text string // in lower case, except in tokenText and tokenPlace
	at   int    // column, from 0
}

// tokenKind says what a token is.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenNumber           // 14, 0.5, 1e-3
	tokenName             // rsi, and, close
	tokenText             // "bull_div", without the quotes
	tokenMark             // an operator or a bracket
	tokenPlace            // what follows @ or :, such as 1d or ETHUSDT
)

// marks are the operators and brackets, longest first.
var marks = []string{"<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ".", "=", "@", ":"}

// wrongMarks are operators of other languages, with what to write instead.
var wrongMarks = map[string]string{"&&": "and", "||": "or", "&": "and", "|": "or", "!": "not", "^": "a product", "≥": ">=", "≤": "<=", "≠": "!=", "×": "*", "÷": "/"}

// lex cuts text into tokens, of which the last has the kind tokenEnd. It checks the length
// of the text first, so that nothing after it needs a bound of its own.
func lex(text string) ([]token, error) {
	if !utf8.ValidString(text) {
		return nil, mistake(0, "the text is not valid UTF-8")
	}
	runes := []rune(text)
	if len(runes) > MaxText {
		return nil, mistake(MaxText, "%d characters: at most %d are taken", len(runes), MaxText)
	}
	var list []token
	for at := 0; ; {
		for at < len(runes) && unicode.IsSpace(runes[at]) {
			at++
		}
		if at == len(runes) {
			return append(list, token{tokenEnd, "", at}), nil
		}
		t, n, err := next(runes[at:], at, list)
		if err != nil {
			return nil, err
		}
		list, at = append(list, t), at+n
	}
}

// next reads the token at the start of runes and returns how long it is.
func next(runes []rune, at int, before []token) (token, int, error) {
	if after(before, "@", ":") && runes[0] != '"' {
		n := length(runes, word)
		if runes[0] == '^' && length(runes[1:], word) > 0 { // an index, such as ^GSPC
			n = 1 + length(runes[1:], word)
		}
		if n == 0 {
			return token{}, 0, mistake(at, `after %s comes a name, such as close@1d or close:"BTC-USD"`, before[len(before)-1].text)
		}
		return token{tokenPlace, string(runes[:n]), at}, n, nil
	}
	switch r := runes[0]; {
	// .5 is a number unless the dot picks a line, as in macd.5.
	case digit(r) || r == '.' && len(runes) > 1 && digit(runes[1]) && !endsValue(before):
		n := numberLength(runes)
		return token{tokenNumber, string(runes[:n]), at}, n, nil
	case word(r):
		n := length(runes, word)
		return token{tokenName, strings.ToLower(string(runes[:n])), at}, n, nil
	case r == '"' || r == '\'':
		// The text ends at the next quote of the same kind; there is no escape.
		n := length(runes[1:], func(q rune) bool { return q != r })
		if n == len(runes)-1 {
			return token{}, 0, mistake(at, "the text that begins here has no end: a %c is missing", r)
		}
		if plain := length(runes[1:n+1], inText); plain < n {
			return token{}, 0, mistake(at+1+plain, "%q stands in no name of a market or a signal", runes[1+plain])
		}
		return token{tokenText, string(runes[1 : n+1]), at}, n + 2, nil
	}
	return mark(runes, at)
}

// mark reads an operator or a bracket.
func mark(runes []rune, at int) (token, int, error) {
	// The longest marks have two characters and are first in the list.
	head := string(runes[:min(2, len(runes))])
	for _, m := range marks {
		if strings.HasPrefix(head, m) {
			return token{tokenMark, m, at}, len(m), nil
		}
	}
	// The error for an operator of another language names ours. Two characters are tried
	// before one: && before &.
	for _, wrong := range []string{head, string(runes[:1])} {
		if right := wrongMarks[wrong]; right != "" {
			return token{}, 0, mistake(at, "write %s in place of %s", right, wrong)
		}
	}
	return token{}, 0, mistake(at, "%q has no meaning here", runes[0])
}

// digit reports whether r is one of 0 to 9; digits of other scripts do not count.
func digit(r rune) bool { return '0' <= r && r <= '9' }

// word reports whether r may be part of a name.
func word(r rune) bool {
	return digit(r) || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_'
}

// inText reports whether r may be between quotes. It must be a character that
// strconv.Quote writes as it is, so that the canonical text can be read again.
func inText(r rune) bool { return strconv.IsPrint(r) && !strings.ContainsRune(`"'\`, r) }

// length returns how many runes at the start satisfy in.
func length(runes []rune, in func(rune) bool) int {
	for i, r := range runes {
		if !in(r) {
			return i
		}
	}
	return len(runes)
}

// numberLength returns how many runes belong to the number that begins there.
func numberLength(runes []rune) int {
	n := length(runes, digit)
	if n < len(runes) && runes[n] == '.' {
		n += 1 + length(runes[n+1:], digit)
	}
	// An exponent counts only with digits after it: 2e is the number 2 and the name e.
	if n+1 < len(runes) && (runes[n] == 'e' || runes[n] == 'E') {
		sign := 0
		if runes[n+1] == '-' || runes[n+1] == '+' {
			sign = 1
		}
		if digits := length(runes[n+1+sign:], digit); digits > 0 {
			n += 1 + sign + digits
		}
	}
	return n
}

// after reports whether the last token is one of these marks.
func after(list []token, texts ...string) bool {
	return len(list) > 0 && list[len(list)-1].kind == tokenMark && slices.Contains(texts, list[len(list)-1].text)
}

// endsValue reports whether the tokens end with something that a dot can follow, to name
// one of its lines.
func endsValue(list []token) bool {
	return after(list, ")") || len(list) > 0 && list[len(list)-1].kind == tokenName
}

// Language teaches the language in a few lines, for clients that cannot read the
// documentation: list_indicators shows it with the entry "rule", and the guide contains it.
const Language = `Values: open high low close volume hl2 hlc3 ohlc4, numbers, + - * / % and parentheses.
hour minute weekday (Monday is 1) day month year are when a bar opens, by the clock of the exchange, or hour("America/New_York"): hour >= 9 and weekday < 6. line("2026-11-01T00:00", 100, "2026-11-10T00:00", 120) is a drawn trend line: straight from its first point on, times in UTC.
Indicators are functions; parameters by position or name, a line by a dot: ema(200), sma(volume, 20), macd(12,26,9).signal, bbands(length=20, mult=2).upper.
Conditions: < <= > >= == != between two values, joined by and, or, not. Crosses: ema(50) crosses above ema(200), rsi(14) crosses below 30; the same as crosses_above(a, b), crosses_below(a, b).
x[3] is x three bars ago: close > close[1].
Over the newest n bars, this one among them: highest(x, n) lowest(x, n) sum(x, n) avg(x, n). A new high of 20 bars is close > highest(high, 20)[1].
change(x, n) is x - x[n]; abs(x), min(a, b), max(a, b) are of one bar. A fall of 5 % in 24 bars is close < 0.95 * close[24].
since(condition) counts bars since it was true, to 500; 501 stands for more: since(rsi(14) crosses above 30) < 10.
signal(rsi(14), "bull_div") is true on bars that bear that signal of the indicator.
x@1d is x of the newest CLOSED day: on 1h bars high@1d is yesterday's high and high[1]@1d that of the day before; the bar that ends the day has the day itself.
close:ETHUSDT is another market, close:"BTC-USD" one with other characters; both together: sma(20)@1d:ETHUSDT.
Judged when a bar closes. A value that is not known (too few bars, division by zero) makes no condition true. A running total (obv, ad, pvt, wad, nvi, pvi, cumulative_sum) is compared with itself alone: obv > avg(obv, 20).`

// canonical returns our name for a function that has another name in other languages, and
// every other name as it is. In names of functions underscores are ignored, since people
// put them in different places.
func canonical(name string) string {
	switch strings.ReplaceAll(name, "_", "") {
	case "crossesabove", "crossabove", "crossesover", "crossover":
		return "crosses_above"
	case "crossesbelow", "crossbelow", "crossesunder", "crossunder":
		return "crosses_below"
	case "barssince":
		return "since"
	}
	return name
}

// columns are the names of the columns of bars.
var columns = []string{"open", "high", "low", "close", "volume", "hl2", "hlc3", "ohlc4"}

// advice says what to write instead of a word in a place where it has no meaning.
var advice = map[string]string{
	"crosses": `say which way, as in "a crosses above b"`,
	"cross":   `say which way, as in "a crosses above b"`,
	"above":   "write > in its place",
	"below":   "write < in its place",
	"over":    "write > in its place",
	"under":   "write < in its place",
	"equals":  "write == in its place",
	"is":      "compare with <, <=, >, >=, == or !=",
	"between": "write x > a and x < b",
}

// replacements say what to write instead of names of other languages that ours does not
// have.
var replacements = map[string]string{
	"cross":    "crosses_above(a, b) or crosses_below(a, b)",
	"crosses":  "crosses_above(a, b) or crosses_below(a, b)",
	"price":    "close",
	"shift":    "x[1]",
	"ref":      "x[1]",
	"prev":     "x[1]",
	"average":  "avg(x, n)",
	"security": "x@1d",
}
