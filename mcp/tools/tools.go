// Package tools defines the tools that clients call: those for charts and
// indicators, which always work, and those for trading, which need the trading
// engine.
//
// It is the one place where the protocol and the domain meet. A tool declares
// its arguments once, and schema, reader, default and documentation come from
// that declaration (see arg). Its handler gets a request with every argument
// checked, calls the package that knows how, and writes the answer. Both
// transports get the same tools, so both give the same answers.
//
// Tools that change something refuse arguments that they do not know; the other
// tools name them in the reply. A reply has at most about 20,000 characters unless
// the client asked for more.
//
// # Security considerations
//
// Arguments come from language models, and so from whoever can talk to them.
// They are bounded and checked here. The operator sets the limits on trading, and
// no argument can change them. Replies quote at most a few characters of what came
// in. A caller without the scope for trading does not learn what the engine watches,
// and its charts show nothing of the account.
package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"wick/chart"
	"wick/market"
	"wick/mcp"
	"wick/permit"
	"wick/sse"
	"wick/trade"
	"wick/trade/book"
)

// Deps is what the tools work with.
type Deps struct {
	Source market.Source // where bars come from
	Engine *trade.Engine // nil without --trade: trading tools refuse
	Hub    *sse.Hub      // knows which notifications wait for which client; nil without --trade

	// Gate says which orders a person has to approve; nil means none.
	Gate *permit.Gate

	// Messages returns the names of the owner's destinations for messages that are told when
	// an alert on a symbol fires that the client of a name has set. Nil means that there are
	// no destinations.
	Messages func(symbol, client string) []string

	// Watchlists are lists of symbols by their names in lower case, which a scan
	// takes as "@name". Nil for none.
	Watchlists map[string][]string

	// Outdated waits until the engine shows all that was acknowledged anywhere, and returns
	// "", or a note that what it shows may be out of date. Charts that show something of the
	// account call it; the other tools are wrapped by whoever sets it. Nil means that the engine
	// is always up to date.
	Outdated func(ctx context.Context) string

	// Renders bounds how many charts are painted at once, each in a picture of
	// up to 16 MiB, for tools and resources together. Nil means two for each of both.
	Renders *semaphore.Weighted

	// Painted, if not nil, is called with the time that each picture took to paint.
	Painted func(took time.Duration)
}

// handlers holds what the handlers of all tools share.
type handlers struct{ Deps }

// newHandlers returns handlers that work with d.
func newHandlers(d Deps) *handlers {
	if d.Renders == nil {
		d.Renders = semaphore.NewWeighted(2)
	}
	if d.Gate == nil {
		d.Gate = permit.New(permit.Options{Above: -1})
	}
	return &handlers{d}
}

// All returns the tools in the order in which clients list them.
func All(d Deps) []mcp.Tool {
	var out []mcp.Tool
	for _, t := range newHandlers(d).all() {
		out = append(out, t.Tool)
	}
	return out
}

// Chart returns generate_chart alone, for programs that draw one picture and need no
// server.
func Chart(d Deps) mcp.Tool { return newHandlers(d).generateChart().Tool }

// all returns the tools. The first list has those for charts and indicators, which any
// caller may use. The others read or change the account.
func (h *handlers) all() (tools []tool) {
	tools = []tool{h.generateChart(), h.listIndicators(), h.getIndicators()}
	for _, t := range []tool{
		h.placeOrder(), h.cancelOrder(), h.getOrders(), h.getPositions(), h.getBalance(),
		h.setAlert(), h.listAlerts(), h.cancelAlert(), h.getNotifications(), h.subscribe(), h.unsubscribe(), h.listSubscriptions(),
	} {
		t.Handle = h.withAccount(t.Tool)
		tools = append(tools, t)
	}
	return tools
}

// errNoTrade is what every trading tool answers without the engine.
var errNoTrade = errors.New("trading is not enabled: the operator must start wick with --trade; retrying will not help")

// withAccount wraps the handler of a trading tool. Without an engine it refuses the call. If the
// client had a subscription under an earlier token that has ended, the new token takes it
// over first. If notifications wait for it, the reply says so, since many clients never show a
// pushed one to their model. If orders go to a broker elsewhere, every reply ends with a remark
// that names it.
func (h *handlers) withAccount(t mcp.Tool) mcp.Handler {
	return func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
		if h.Engine == nil {
			return nil, errNoTrade
		}
		if err := h.Engine.Claim(Subscriber(c.Caller)); err != nil {
			return h.withBroker(nil, err)
		}
		r, err := t.Handle(ctx, c)
		if err != nil || t.Name == "get_notifications" {
			return h.withBroker(r, err)
		}
		if n := h.Engine.PendingNotifications(c.Caller.Key()); n > 0 {
			noun := "notifications are"
			if n == 1 {
				noun = "notification is"
			}
			r.Content = append(r.Content, mcp.Content{Text: fmt.Appendf(nil, "%d alert %s waiting: call get_notifications to read them.", n, noun)})
		}
		return h.withBroker(r, nil)
	}
}

// tool is a tool with the declaration of its arguments, which the documentation
// is made from.
type tool struct {
	mcp.Tool
	declared []arg
}

// What a tool does with arguments that it does not know.
const (
	refuses = true  // for a tool that changes something: an order without its stop_loss is another order
	reports = false // for any other: it answers and says which ones it did not read
)

// define completes t with the schema of its arguments, which args binds to the fields of a
// request, and with a handler that reads and checks them before it calls handle. Nil args is
// for a tool without arguments. Check refuses what the arguments are together: it is called
// with what the client sent, even if the reading of some arguments failed, which then have
// their defaults; nil means that any go together.
func define[R any](t mcp.Tool, refuses bool, args func(*R) []arg, check func(*R, sent) error, handle func(context.Context, mcp.Call, *R) (*mcp.Result, error)) tool {
	if args == nil {
		args = func(*R) []arg { return nil }
	}
	declared := args(new(R))
	t.Schema = schemaOf(declared)
	t.Handle = func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
		r := new(R)
		values, unknown, err := read(args(r), c.Arguments)
		var together error
		if check != nil && values != nil {
			together = check(r, values)
		}
		if len(unknown) == 0 && err == nil && together == nil {
			return handle(ctx, c, r)
		}
		// An unknown argument by itself is an error only for tools that change something. If
		// there is another mistake, it is named together with that, since it may be the cause.
		left := unread(declared, unknown)
		said := sentence(t.Name, declared, left)
		wrong := errors.Join(together, err)
		if len(unknown) > 0 && (refuses || wrong != nil) {
			wrong = errors.Join(errors.New(said), wrong)
		}
		switch {
		case refuses && (err != nil || len(unknown) > 0):
			return nil, fmt.Errorf("%w\nnothing was changed: put this right and call again", wrong)
		case wrong != nil:
			return nil, fixable(wrong)
		}
		result, err := handle(ctx, c, r)
		if err != nil {
			return nil, err
		}
		return mention(result, left, said), nil
	}
	return tool{t, declared}
}

// fixable returns err, a mistake in a request, with the words of the engine's refusals that
// say whether a retry can help: the same request would fail again.
func fixable(err error) error { return fmt.Errorf("%w (fix the request)", err) }

// atMostTen writes the first ten names and counts the others.
func atMostTen(names []string) string {
	if more := len(names) - 10; more > 0 {
		names = append(names[:10:10], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// mention returns a result with the arguments that were not known: as a member "ignored" of
// its first text that is a JSON object, or as one more text if there is none.
func mention(r *mcp.Result, left []ignored, sentence string) *mcp.Result {
	said := &mcp.Result{Content: slices.Clone(r.Content), IsError: r.IsError} // r may be Fixed
	for i, c := range said.Content {
		if body, isObject := bytes.CutSuffix(c.Text, []byte("}")); isObject && len(body) > 1 && body[0] == '{' {
			said.Content[i].Text = fmt.Appendf(nil, `%s,"ignored":%s}`, body, encode(left))
			return said
		}
	}
	said.Content = append(said.Content, mcp.Content{Text: []byte("Ignored: " + sentence + ".")})
	return said
}

// StdioCaller is the single local client of a conversation over stdio.
var StdioCaller = mcp.Caller{ID: "stdio", Client: "stdio", Scope: "charts trade", Door: string(permit.Stdio)}

// Subscriber returns a caller in the form that package sse takes.
func Subscriber(c mcp.Caller) sse.Caller {
	return sse.Caller{ID: c.ID, Client: c.Client, Login: c.Login, Expires: c.Expires}
}

// EncodeAlert returns the pushed notification for a fired alert or an order that ended, in
// one line.
func EncodeAlert(note any) []byte {
	kind := "alert_triggered"
	if n, ok := note.(*book.Notification); ok {
		kind = n.Kind()
	}
	return mcp.Notification("notifications/"+kind, note)
}

// RenderBytes returns how many bytes charts can hold when renders of them are painted at
// once. For each there is a picture and its PNG, and two more calls that already have
// their PNG and turn it to base64. Calls that wait to be painted hold only their message.
func RenderBytes(renders int) int {
	picture := chart.MaxWidth*chart.MaxHeight + chart.MaxBytes
	reply := chart.MaxBytes + base64.StdEncoding.EncodedLen(chart.MaxBytes)
	return renders * (picture + 2*reply)
}

const (
	// replySize is about how many characters a reply has at most when no limit was given:
	// what a model can read without losing sight of the question.
	replySize = 20_000

	maxPage = 500 // items of one reply, when a limit was given
)

// page is the part of a list that a call asks for. The offset counts from the newest
// item. If an item is added between two calls, the second page repeats an item, but misses
// none. It can miss some if orders leave memory between the calls, which happens
// only thousands of orders behind the newest; since and until read these by their time.
type page struct {
	limit  int // zero for as many as fit
	offset int
	room   int // characters for them; zero for replySize
}

// args declares the arguments that every list has.
func (p *page) args() []arg {
	return []arg{
		whole(&p.limit, "limit", "At most so many. Default: as many as fit into about 20,000 characters.", 0, 1, maxPage),
		whole(&p.offset, "offset", "How many to skip.", 0, 0, 1_000_000),
	}
}

// cut returns a page of items as a JSON array, newest first; items are oldest first. The
// page has as many items as the limit says or, without a limit, as fit into a reply. It
// also returns how many items are on the page and how many follow it.
func cut[T any](p page, items []T) (text []byte, n, left int) {
	left = max(0, len(items)-p.offset)
	shown, size := []json.RawMessage{}, 0
	for left > 0 && (p.limit == 0 || len(shown) < p.limit) {
		// The first item is returned however long it is: an empty page would look like the
		// end of the list.
		item := mcp.Encode(items[left-1])
		if size += len(item) + len(","); p.limit == 0 && len(shown) > 0 && size > cmp.Or(p.room, replySize) {
			break
		}
		shown, left = append(shown, item), left-1
	}
	return mcp.Encode(shown), len(shown), left
}

// answer returns a list, or an object that holds one, as a reply of a tool. A text follows it, which
// stays JSON that programs can read: how many more items there are, if any, and how to get those from
// next on, or before when nothing was searched.
func answer(list []byte, tool, more string, next int, before book.Time) *mcp.Result {
	result := &mcp.Result{Content: []mcp.Content{{Text: list}}}
	switch {
	case more != "":
		result.Content = append(result.Content, mcp.Content{Text: fmt.Appendf(nil, "%s: call %s with offset=%d for the next ones; limit, up to %d, returns more at once.", more, tool, next, maxPage)})
	case !before.IsZero():
		result.Content = append(result.Content, mcp.Content{Text: fmt.Appendf(nil, "What ended before %s was not searched: call %s with until=%[1]s, and without offset, for that.", before, tool)})
	}
	return result
}

// Icon returns the icon of the server, which hosts show beside its name: three candles on a dark
// square, as a data: URI, which clients show without a request to anyone. Tools have none: fifteen of
// them would take a quarter of tools/list.
func Icon() []mcp.Icon {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="#12161f"/>` +
		`<path d="M7 6v13M12 3v18M17 5v13" stroke="#f2b45c"/><path d="M5 11h4v6H5z" fill="#ef6b73"/><path d="M10 7h4v9h-4z" fill="#f2b45c"/><path d="M15 7h4v7h-4z" fill="#35c290"/></svg>`
	return []mcp.Icon{{Src: "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg)), MIME: "image/svg+xml", Sizes: []string{"any"}}}
}
