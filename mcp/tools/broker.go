package tools

import (
	"fmt"
	"strings"

	"wick/exact"
	"wick/mcp"
	"wick/trade"
)

// realBroker is the name of the broker whose orders move real money.
const realBroker = "alpaca"

// BrokerInstructions tells a client's model where the orders of an engine go, if
// that is not wick's own book.
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

// whereOrdersGo begins the description of place_order.
func (h *handlers) whereOrdersGo() string {
	if h.Engine == nil {
		return "Place an order with the paper broker: no real money moves. "
	}
	v, ok := h.Engine.Venue()
	switch {
	case !ok:
		return "Place an order with the paper broker: no real money moves. "
	case v.Broker == realBroker:
		return "Place an order at the broker " + v.Broker + " WITH REAL MONEY. An order whose reason says \"outcome unknown\" may have been executed: look at get_orders, never place it again. "
	}
	return "Place an order in the paper account at " + v.Broker + ": no real money moves. An order whose reason says \"outcome unknown\" may have been executed: look at get_orders, never place it again. "
}

// sayBroker adds to a reply of a trading tool which broker and account it is
// about, and what about them is not as it should be.
func (h *handlers) sayBroker(r *mcp.Result) *mcp.Result {
	v, ok := h.Engine.Venue()
	if !ok {
		return r
	}
	var b strings.Builder
	fmt.Fprintf(&b, "broker %s, account %s", v.Broker, v.Account)
	if v.Broker == realBroker {
		b.WriteString(", real money")
	}
	if v.Reason != "" {
		b.WriteString("; no order is sent: " + v.Reason)
	}
	for _, d := range v.Differences {
		fmt.Fprintf(&b, "; %s of %s are held there and %s by this book: only orders that shrink a position are sent until the owner has looked (wick --accept-positions)", d.Broker, d.Symbol, d.Book)
	}
	if len(v.Unknown) > 0 {
		fmt.Fprintf(&b, "; the outcome of %s is not known yet: do not place it again", strings.Join(v.Unknown, ", "))
	}
	if v.External > 0 {
		fmt.Fprintf(&b, "; %d open orders there were not placed by wick", v.External)
	}
	r.Content = append(r.Content, mcp.Content{Text: []byte(b.String() + ".")})
	return r
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
// nothing is known of it yet.
func (h *handlers) brokerStatement(v trade.VenueStatus) []byte {
	a, ok := h.Engine.AccountAtBroker()
	if !ok {
		return []byte("The account at " + v.Broker + " has not been read yet.")
	}
	return mcp.Encode(struct {
		Account brokerAccount `json:"account"`
	}{brokerAccount{v.Broker, v.Account, a.Currency, a.Cash, a.Equity, a.LastEquity, a.BuyingPower}})
}

// where says in the preview of an order where it goes.
func where(o trade.Order) string {
	switch {
	case o.Account == "":
		return o.Broker
	case o.Broker == realBroker:
		return o.Broker + ", account " + o.Account + ", REAL MONEY"
	}
	return o.Broker + ", account " + o.Account
}
