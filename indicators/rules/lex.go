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
		// The meaning of a character may depend on the tokens before it.
		t, n, err := next(runes[at:], at, list)
		if err != nil {
			return nil, err
		}
		list, at = append(list, t), at+n
	}
}

// next reads the token at the start of runes and returns how long it is.
func next(runes []rune, at int, before []token) (token, int, error) {
	// After @ and : comes a place, which may begin with a digit or be a word that has another
	// meaning elsewhere.
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
