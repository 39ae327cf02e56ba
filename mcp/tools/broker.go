package tools

import (
	"errors"
	"fmt"
	"strings"

	"wick/exact"
	"wick/mcp"
	"wick/trade"
)

// realBroker is the name of the broker whose orders move real money.
const realBroker = "alpaca"

// BrokerInstructions tells a client's model where the orders of an engine go, if
// that is not wick's own book. It is part of what the server says of itself when a
// client connects, and empty for wick's own book.
func BrokerInstructions(e *trade.Engine) string {
	v, ok := e.Venue()
	switch {
	case !ok:
		return ""
	case v.Broker == realBroker:
		return " Orders are sent to the broker " + v.Broker + " and move REAL MONEY."
	}
	return " Orders are sent to the paper account at the broker " + v.Broker + "; no real money moves."
}

// whereOrdersGo returns the beginning of place_order's description: where orders go and
// whether money moves.
func (h *handlers) whereOrdersGo() string {
	if h.Engine == nil {
		return "Place an order with the paper broker: no real money moves. "
	}
	v, ok := h.Engine.Venue()
	switch {
	case !ok:
		return "Place an order with the paper broker: no real money moves. "
	case v.Broker == realBroker:
		return "Place an order at the broker " + v.Broker + " WITH REAL MONEY. " + brokerRules
	}
	return "Place an order in the paper account at " + v.Broker + ": no real money moves. " + brokerRules
}

// brokerRules is what a model has to know of a broker elsewhere before its first
// order; refusals say the rest.
const brokerRules = "An order whose reason says \"outcome unknown\" may have been executed: look at get_orders, never place it again. " +
	"Stocks only, prices in cents; parts of a share only with type market and time_in_force day; no gtd, no post_only; nothing that fills at once while the exchange is closed. "

// brokerRemark ends every reply of a trading tool at a broker elsewhere, refusals
// included: where orders go, and what about it is not as it should be.
type brokerRemark struct {
	Broker  string `json:"broker"`
	Account string `json:"account"`
	Money   string `json:"money"` // real, or none in a paper account
	Note    string `json:"note,omitempty"`
}

// atBroker returns the remark as JSON, and false if orders go to wick's own book.
func (h *handlers) atBroker() ([]byte, bool) {
	v, ok := h.Engine.Venue()
	if !ok {
		return nil, false
	}
	r := brokerRemark{Broker: v.Broker, Account: v.Account, Money: "none"}
	if v.Broker == realBroker {
		r.Money = "real"
	}
	// Everything that keeps orders from being sent, or that a model should not act
	// against.
	var notes []string
	if v.Reason != "" {
		notes = append(notes, "no order is sent: "+v.Reason)
	}
	for _, d := range v.Differences {
		notes = append(notes, fmt.Sprintf("%s of %s are held there and %s by this book: only orders that shrink a position are sent until the owner has looked (wick --accept-positions)", d.Broker, d.Symbol, d.Book))
	}
	if len(v.Unknown) > 0 {
		notes = append(notes, fmt.Sprintf("the outcome of %s is not known yet: do not place it again", strings.Join(v.Unknown, ", ")))
	}
	if v.External > 0 {
		notes = append(notes, fmt.Sprintf("%d open orders there were not placed by wick", v.External))
	}
	r.Note = strings.Join(notes, "; ")
	return mcp.Encode(r), true
}

// withBroker adds to what a trading tool answered, or refused, which broker and
// account it is about. A model may have been told otherwise by a text it read, so every
// reply says it. Without a broker elsewhere it returns what it got.
func (h *handlers) withBroker(r *mcp.Result, err error) (*mcp.Result, error) {
	remark, ok := h.atBroker()
	// An error of the protocol has no content to add to.
	if protocol := (*mcp.Error)(nil); !ok || errors.As(err, &protocol) {
		return r, err
	}
	// A question to a person: its form says where the order goes, for clients that show
	// one; the text for the others gets the remark.
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

// brokerAccount is an account as its broker tells it.
type brokerAccount struct {
	Broker      string        `json:"broker"`
	Account     string        `json:"account"`
	Currency    string        `json:"currency"`
	Cash        exact.Decimal `json:"cash"`
	Equity      exact.Decimal `json:"equity"`
	LastEquity  exact.Decimal `json:"last_equity"` // at the close of the trading day before
	BuyingPower exact.Decimal `json:"buying_power"`
}

// brokerStatement returns the account at the broker as JSON, or a sentence if
// nothing is known of it yet. It is what the broker told last; the call asks nobody.
func (h *handlers) brokerStatement(v trade.VenueStatus) []byte {
	a, ok := h.Engine.AccountAtBroker()
	if !ok {
		return []byte("The account at " + v.Broker + " has not been read yet.")
	}
	return mcp.Encode(struct {
		Account brokerAccount `json:"account"`
	}{brokerAccount{v.Broker, v.Account, a.Currency, a.Cash, a.Equity, a.LastEquity, a.BuyingPower}})
}

// where says in the preview of an order where it goes, and in capitals if it moves real
// money: it is the line that a person must not miss.
func where(o trade.Order) string {
	switch {
	case o.Account == "":
		return o.Broker
	case o.Broker == realBroker:
		return o.Broker + ", account " + o.Account + ", REAL MONEY"
	}
	return o.Broker + ", account " + o.Account
}
