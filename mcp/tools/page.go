package tools

import (
	"cmp"
	"fmt"

	"wick/mcp"
)

const (
	// replySize is about how many characters a reply has at most when no limit was given:
	// what a model can read without losing sight of the question.
	replySize = 20_000

	maxPage = 500 // items of one reply, when a limit was given
)

// page is the part of a list that a call asks for. The offset counts from the newest
// item. If an item is added between two calls, the second page repeats an item, but misses
// none. It can miss some if orders move to the archive between the calls, which happens
// only thousands of orders behind the newest; since and until read these by their time.
type page struct {
	limit  int // zero for as many as fit
	offset int
	room   int // characters for them; zero for replySize
}

// args declares the arguments that every list has.
func (p *page) args() []arg {
	return []arg{
		whole(&p.limit, "limit", "Most items to return. Omitted: as many as fit into about 20,000 characters.", 0, 1, maxPage),
		whole(&p.offset, "offset", "How many items to skip before the first one returned.", 0, 0, 1_000_000),
	}
}

// cut returns a page of items as a JSON array, newest first; items are oldest first. The
// page has as many items as the limit says or, without a limit, as fit into a reply. It
// also returns how many items are on the page and how many follow it.
func cut[T any](p page, items []T) (text []byte, n, left int) {
	// Items are encoded one by one, so that those which do not fit are not encoded.
	left, room := max(0, len(items)-p.offset), cmp.Or(p.room, replySize)
	text = []byte{'['}
	for left > 0 && (p.limit == 0 || n < p.limit) {
		// The first item is returned however long it is: an empty page would look like the
		// end of the list.
		item := mcp.Encode(items[left-1])
		if p.limit == 0 && n > 0 && len(text)+len(item) > room {
			break
		}
		if n > 0 {
			text = append(text, ',')
		}
		text = append(text, item...)
		n, left = n+1, left-1
	}
	return append(text, ']'), n, left
}

// list returns a page of items as [cut] writes it, as the result of the named tool. If
// there are more, a second text says how many and how to get them; the first text stays an
// array, which programs can read.
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
