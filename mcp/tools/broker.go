package tools

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wick/internal/exact"
	"wick/mcp"
	"wick/trade"
	"wick/trade/book"
)

// BrokerInstructions returns a sentence for the client's model that says to which broker
// the orders of an engine go. It is empty if they go to wick's own book. The server sends
// it in its instructions when a client connects.
func BrokerInstructions(e *trade.Engine) string {
	v, ok := e.Venue()
	switch {
	case !ok:
		return ""
	case v.Money == book.RealMoney:
		return " Orders are sent to the broker " + v.Name + " and move REAL MONEY."
	}
	return " Orders are sent to the paper account at the broker " + v.Name + "; no real money moves."
}

// whereOrdersGo returns the beginning of place_order's description: where orders go and
// whether money moves.
func (h *handlers) whereOrdersGo() string {
	if h.Engine != nil {
		switch v, ok := h.Engine.Venue(); {
		case ok && v.Money == book.RealMoney:
			return "Place an order at the broker " + v.Name + " WITH REAL MONEY. " + brokerRules
		case ok:
			return "Place an order in the paper account at " + v.Name + ": no real money moves. " + brokerRules
		}
	}
	return "Place an order with the paper broker: no real money moves. "
}

// brokerRules is what a model has to know about a broker elsewhere before its first
// order. It learns the other rules from refusals.
const brokerRules = "An order whose reason says \"outcome unknown\" may have been executed: look at get_orders, never place it again. " +
	"Stocks only, prices in cents; parts of a share only with type market and time_in_force day; no gtd, no post_only; nothing that fills at once while the exchange is closed. "

// withBroker ends every reply of a trading tool, refusals included, with a remark if orders go
// to a broker elsewhere: where they go, and whether something is wrong there. A text that a
// model has read may have told it something else about the account, so every reply says it.
func (h *handlers) withBroker(r *mcp.Result, err error) (*mcp.Result, error) {
	v, ok := h.Engine.Venue()
	// An error of the protocol has no content to add to.
	if protocol := (*mcp.Error)(nil); !ok || errors.As(err, &protocol) {
		return r, err
	}
	// Everything that keeps orders from being sent, or that a model should know before it
	// places one.
	var notes []string
	if v.Closed != "" {
		notes = append(notes, "no order is sent: "+v.Closed)
	}
	for _, d := range v.Differs() {
		notes = append(notes, fmt.Sprintf("%s of %s are held there and %s by this book: only orders that shrink a position are sent until the owner has looked (wick accept-positions)", d.Broker, d.Symbol, d.Book))
	}
	if len(v.Unknown) > 0 {
		notes = append(notes, fmt.Sprintf("the outcome of %s is not known yet: do not place it again", strings.Join(v.Unknown, ", ")))
	}
	if len(v.Late) > 0 {
		notes = append(notes, fmt.Sprintf("%s had been given up and is there after all: look at get_orders before you place it anew; only orders that shrink a position are sent until the owner has looked (wick accept-positions)", strings.Join(slices.Sorted(maps.Keys(v.Late)), ", ")))
	}
	if n := len(v.External); n > 0 {
		notes = append(notes, fmt.Sprintf("%d open orders there were not placed by wick", n))
	}
	remark := mcp.Encode(struct {
		Broker  string     `json:"broker"`
		Account string     `json:"account"`
		Money   book.Money `json:"money"` // "real", or "none" for a paper account
		Note    string     `json:"note,omitempty"`
	}{v.Name, v.Account, v.Money, strings.Join(notes, "; ")})
	// A question to a person: the form already says where the order goes. The remark is
	// added to the text for clients that cannot show a form.
	if input := (*mcp.InputRequired)(nil); errors.As(err, &input) {
		asked := *input
		asked.Else += "\n" + string(remark)
		return nil, &asked
	}
	if err != nil {
		r = mcp.Text(err.Error())
		r.IsError = true
	}
	r.Content = append(r.Content, mcp.Content{Text: remark})
	return r, nil
}

// statement returns the account as JSON: the one at the broker if orders go to a broker
// elsewhere, as the broker reported it last, otherwise the paper account of --cash. It returns
// a sentence if there is none.
func (h *handlers) statement() ([]byte, error) {
	if v, ok := h.Engine.Venue(); ok {
		a := v.Statement
		if v.ReadAt.IsZero() {
			return []byte("The account at " + v.Name + " has not been read yet."), nil
		}
		type account struct {
			Broker      string        `json:"broker"`
			Account     string        `json:"account"`
			Currency    string        `json:"currency"`
			Cash        exact.Decimal `json:"cash"`
			Equity      exact.Decimal `json:"equity"`
			LastEquity  exact.Decimal `json:"last_equity"` // at the close of the trading day before
			BuyingPower exact.Decimal `json:"buying_power"`
			AsOf        book.Time     `json:"as_of"` // what was filled later may not be in it
		}
		return mcp.Encode(struct {
			Account account `json:"account"`
		}{account{v.Name, v.Account, a.Currency, a.Cash, a.Equity, a.LastEquity, a.BuyingPower, v.ReadAt}}), nil
	}
	a, err := h.Engine.Account()
	switch {
	case err != nil:
		return nil, err
	case a == nil:
		return []byte("There is no account: wick was started without --cash, and orders are bounded by its other limits alone. " +
			"get_positions with include_flat has the profit of all symbols, get_orders with filter=open the stops."), nil
	}
	return mcp.Encode(struct {
		Account *book.Account `json:"account"`
	}{a}), nil
}
