package tools

import (
	"fmt"
	"slices"

	"wick/mcp"
)

const (
	// replySize is about how many characters a reply has when no limit was
	// given: what a model reads without losing sight of the question.
	replySize = 20_000

	maxPage = 500 // items of one reply, when a limit was given
)

// page is the part of a list that a call asks for. An offset counts from the
// newest item: one that is added meanwhile shows an old one twice, and none is
// missed. Orders that move to the archive meanwhile, some thousands behind the
// newest, do bring those behind them nearer: open ones are listed by themselves with
// filter=open.
type page struct {
	limit  int // zero for as many as fit
	offset int
}

// args declares the arguments that every list has.
func (p *page) args() []arg {
	return []arg{
		whole(&p.limit, "limit", "Most items to return. Omitted: as many as fit into about 20,000 characters.", 0, 1, maxPage),
		whole(&p.offset, "offset", "How many items to skip before the first one returned.", 0, 0, 1_000_000),
	}
}

// cut returns the page of items, which are kept oldest first, as a JSON array
// with the newest first: so many as the limit says or, without one, as fit into
// a reply. It also returns how many there are on the page and after it.
func cut[T any](p page, items []T) (text []byte, n, left int) {
	// Encoded one by one, so that what does not fit is never encoded. The caller's slice is
	// reversed in place: it is a copy of the engine's.
	slices.Reverse(items)
	rest := items[min(p.offset, len(items)):]
	text = []byte{'['}
	for n < len(rest) && (p.limit == 0 || n < p.limit) {
		// The first item is returned however long it is: a page must not be empty while
		// there is more.
		item := mcp.Encode(rest[n])
		if p.limit == 0 && n > 0 && len(text)+len(item) > replySize {
			break
		}
		if n > 0 {
			text = append(text, ',')
		}
		text = append(text, item...)
		n++
	}
	return append(text, ']'), n, len(rest) - n
}

// list returns the page of items as [cut] writes it, for the tool of that name. Where
// there is more, a second text says how many and how to get them: the first stays an
// array, which programs read.
func list[T any](p page, tool string, items []T) *mcp.Result {
	text, n, more := cut(p, items)
	r := &mcp.Result{Content: []mcp.Content{{Text: text}}}
	if more > 0 {
		r.Content = append(r.Content, mcp.Content{Text: fmt.Appendf(nil,
			"%d more of %d: call %s with offset=%d for the next ones; limit, up to %d, returns more at once.",
			more, len(items), tool, p.offset+n, maxPage)})
	}
	return r
}
