// Package tools defines the fifteen tools that clients call: three for charts
// and indicators, which are always there, and twelve for trading, which need
// the trading engine.
//
// It is the one place where the protocol and the domain meet. A tool declares
// its arguments once, and schema, reader, default and documentation come from
// that declaration (see arg). Its handler gets a request with every argument
// checked, calls the package that knows how, and writes the answer. Both
// transports get the same tools, so both give the same answers.
//
// Arguments that a tool does not know are refused by the tools that change
// something and named in the reply of the others. A reply has at most about
// 20,000 characters unless more was asked for.
//
// # Security considerations
//
// Arguments come from language models, and so from whoever can talk to them.
// They are bounded and checked here; limits on trading are the operator's and
// no argument reaches them. Texts that go back quote at most a few characters
// of what came in. A caller without the scope for trading learns nothing of
// what the engine watches, and its charts show nothing of the account.
package tools

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"wick/chart"
	"wick/delivery"
	"wick/market"
	"wick/mcp"
	"wick/trade"
)

// ScopeTrade is what a caller must hold to use the trading tools.
const ScopeTrade = "trade"

// Deps is what the tools work with.
type Deps struct {
	Source market.Source // where bars come from
	Engine *trade.Engine // nil without --trade: trading tools refuse
	Hub    *delivery.Hub // knows what waits for whom; nil without --trade

	// Approvals says which orders a person has to approve; nil means none.
	Approvals *Approvals

	// Watchlists are lists of symbols by their names in lower case, which a scan
	// takes as "@name". Nil for none.
	Watchlists map[string][]string

	// Valid reports whether a caller's token still works: the subscription of
	// one that does not may be claimed by its client. Nil means always.
	Valid func(caller string) bool

	// Renders bounds how many charts are painted at once, each in a picture of
	// up to 16 MiB. Zero means two.
	Renders int

	// Painted, if set, is told how long each picture took to paint.
	Painted func(took time.Duration)
}

// handlers holds what the handlers of all tools share.
type handlers struct {
	Deps
	renders *semaphore.Weighted
}

// newHandlers returns the handlers over d.
func newHandlers(d Deps) *handlers {
	if d.Renders == 0 {
		d.Renders = 2
	}
	return &handlers{d, semaphore.NewWeighted(int64(d.Renders))}
}

// tool is a tool with the declaration of its arguments, which the documentation
// is made from.
type tool struct {
	mcp.Tool
	declared []arg
}

// request is a struct that receives the arguments of a call.
type request[R any] interface {
	*R
	args() []arg // binds every argument to a field
}

// none is the request of a tool without arguments.
type none struct{}

func (*none) args() []arg { return nil }

// What a tool does with arguments that it does not know.
const (
	refuses = true  // it changes something: an order without its stop_loss is another order
	reports = false // it answers and says which ones it did not read
)

// define completes t with the schema of R's arguments and a handler that reads
// them before it calls handle.
func define[R any, P request[R]](t mcp.Tool, refuses bool, handle func(context.Context, mcp.Call, P) (*mcp.Result, error)) tool {
	declared := P(new(R)).args()
	t.Schema = schemaOf(declared)
	t.Handle = func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
		r := P(new(R))
		args := r.args()
		unknown, err := read(args, c.Arguments)
		left := unread(declared, unknown)
		if err == nil {
			left = append(left, idle(args, c.Arguments)...)
		}
		if len(left) == 0 && err == nil {
			return handle(ctx, c, r)
		}
		// An unknown argument alone is an error only for tools that change something;
		// with another mistake it is named beside it, since it may be the cause.
		said := sentence(t.Name, declared, left)
		if len(left) > 0 && (refuses || err != nil) {
			err = errors.Join(errors.New(said), err)
		}
		if err != nil && refuses {
			err = fmt.Errorf("%w\nnothing was changed: put this right and call again", err)
		}
		if err != nil {
			return nil, err
		}
		result, err := handle(ctx, c, r)
		if err == nil {
			mention(result, left, said)
		}
		return result, err
	}
	return tool{t, declared}
}

// mention adds the arguments that were not read to a result: as a member
// "ignored" of the object it holds, or as one more text beside an array or a
// picture.
func mention(r *mcp.Result, left []ignored, sentence string) {
	for i, c := range r.Content {
		if body, isObject := bytes.CutSuffix(c.Text, []byte("}")); isObject && len(body) > 1 && body[0] == '{' {
			r.Content[i] = mcp.Content{Text: fmt.Appendf(nil, `%s,"ignored":%s}`, body, encode(left))}
			return
		}
	}
	r.Content = append(r.Content, mcp.Content{Text: []byte("Ignored: " + sentence + ".")})
}

// reply returns v as JSON with the remarks that a trading tool makes.
func (h *handlers) reply(v any) (*mcp.Result, error) {
	return h.remind(mcp.JSON(v)), nil
}

// remind mentions notifications that nobody has read: many clients never show
// a push to their model.
func (h *handlers) remind(r *mcp.Result) *mcp.Result {
	if n := h.Engine.PendingNotifications(); n > 0 {
		noun := "notifications are"
		if n == 1 {
			noun = "notification is"
		}
		r.Content = append(r.Content, mcp.Content{Text: fmt.Appendf(nil, "%d alert %s waiting: call get_notifications to read them.", n, noun)})
	}
	return r
}

// StdioCaller is the single local client of a conversation over stdio.
var StdioCaller = mcp.Caller{ID: "stdio", Client: "stdio", Scope: "charts " + ScopeTrade}

// Subscriber returns a caller as the package that delivers to it knows it. valid
// reports whether its token still works; nil means always.
func Subscriber(c mcp.Caller, valid func(caller string) bool) delivery.Caller {
	d := delivery.Caller{ID: c.ID, Client: c.Client, Expires: c.Expires}
	if valid != nil {
		d.Valid = func() bool { return valid(c.ID) }
	}
	return d
}

// EncodeAlert returns a fired alert as the notification that is pushed, in one
// line.
func EncodeAlert(note any) []byte {
	method := "notifications/alert_triggered"
	if n, ok := note.(*trade.Notification); ok && n.Order != nil {
		method = "notifications/order_filled"
	}
	return mcp.Notification(method, note)
}

// RenderBytes returns how much memory charts can hold when that many are
// painted at once: a picture and its file for each, and two calls for each that
// have the file and turn it to base64. Calls that wait for their turn hold
// nothing but their message.
func RenderBytes(renders int) int {
	picture := chart.MaxWidth*chart.MaxHeight + chart.MaxBytes
	reply := chart.MaxBytes + base64.StdEncoding.EncodedLen(chart.MaxBytes)
	return renders * (picture + 2*reply)
}
