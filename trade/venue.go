package trade

import (
	"time"

	"wick/broker"
	"wick/exact"
)

// venue is a broker elsewhere and what is known of the account there. The fields below
// the first group are guarded by the engine's mu. Only the account is in the journal: a
// new process reads the rest from the broker before it sends anything.
type venue struct {
	Broker
	name    string
	deadMan time.Duration
	kick    chan struct{} // asks for a reconciliation soon

	account   string
	born      time.Time            // when this process began
	judged    bool                 // the account has been read and compared since then
	closed    string               // why no order is taken; empty if orders are taken
	differs   []Difference         // positions that differ from the book for certain; see compare
	suspected []Difference         // the differences in the newest report
	suspectAt map[string]time.Time // since when a symbol is among those and not settled
	late      map[string]int       // orders that the book had given up and the broker has all the same
	doubts    map[string]*doubt    // of orders that are being sent or whose outcome is unknown
	swept     map[string]bool      // orders that were on their way when the owner had every order of the account cancelled
	released  map[string]bool      // orders that the dead man's switch cancels
	asked     map[string]bool      // open orders that somebody asked to be cancelled
	idle      map[string]bool      // exits of positions that are gone, which wick cancels
	report    broker.Report        // the newest
	external  []broker.State       // open orders of the account that are not in this book
	readAt    time.Time            // when the report was asked for; zero for never
	dark      bool                 // the last attempt to read the account failed
	up        bool                 // the stream is connected
	changedAt time.Time            // when up changed last
	lastEvent string               // id of the last event of the stream
}

// doubt is what this process knows about the sending of an order whose outcome is
// unknown. If an earlier process sent the order, [Engine.doubt] makes one.
type doubt struct {
	sending bool      // the request is still to be sent, or under way
	ended   time.Time // when the request was given up
	misses  int       // how often the broker has answered that it does not know the order
	found   time.Time // when the broker, asked for the order, first knew it; zero for never
}

// Difference is a position at the broker that is not what the book expects.
type Difference struct {
	Symbol string        `json:"symbol"`
	Book   exact.Decimal `json:"book"`   // what wick's fills come to
	Broker exact.Decimal `json:"broker"` // what the broker says is held
}

// newVenue returns the venue of o, or nil for the paper broker.
func newVenue(o *VenueOptions) *venue {
	if o == nil {
		return nil
	}
	return &venue{
		Broker: o.Broker, name: o.Name, account: o.Account, deadMan: o.DeadMan, kick: make(chan struct{}, 1),
		closed: "the orders and positions at " + o.Name + " have not been read yet", changedAt: time.Now(), born: time.Now(),
		late: make(map[string]int), doubts: make(map[string]*doubt), released: make(map[string]bool), asked: make(map[string]bool), idle: make(map[string]bool), swept: make(map[string]bool),
	}
}

// wire returns o as an order of package broker, under our own id as its ClientID.
func (o *Order) wire() broker.Order {
	w := broker.Order{
		ClientID: o.ID, ID: o.BrokerID, Symbol: o.Symbol, Side: string(o.Side), Type: string(o.Type), TimeInForce: string(o.TimeInForce), Quantity: o.Quantity,
		TrailAmount: o.TrailAmount, TrailPercent: o.TrailPercent,
	}
	if w.TimeInForce == "" {
		w.TimeInForce = string(GTC)
	}
	if o.Price != nil {
		w.Limit = *o.Price
	}
	if o.StopPrice != nil && o.Type != TrailingStop {
		w.Stop = *o.StopPrice
	}
	return w
}

// state returns the trading state that counts: the one that was written down, or Halted
// as long as no order is taken because of the broker. Called with mu held.
func (v *venue) state(written TradingState) TradingState {
	if v != nil && v.closed != "" {
		return Halted
	}
	return written
}

// resting says what becomes of resting orders while trading is halted or reducing: on
// paper what onPaper says. At a broker elsewhere nothing keeps them from being filled.
func (v *venue) resting(onPaper string) string {
	if v != nil {
		return "orders that rest at " + v.name + " stay there and can be filled"
	}
	return onPaper
}

// barred refuses an order if what is known of the broker does not allow it. Shrinks says
// whether the order only shrinks a position: such an order is allowed even if book and
// broker differ, because the owner must be able to get out. Called with mu held.
func (v *venue) barred(shrinks bool) error {
	switch {
	case v.closed != "":
		return refuse("broker_not_ready", "no order is sent to %s: %s", v.name, v.closed)
	case len(v.differs) > 0 && !shrinks:
		d := v.differs[0]
		return refuse("broker_differs", "%s holds %s of %s and this book's fills come to %s: until the owner has looked at it (wick accept-positions) only orders that shrink a position are sent; %s",
			v.name, d.Broker, d.Symbol, d.Book, grows)
	case len(v.late) > 0 && !shrinks:
		return refuse("broker_differs", "%s has an order that this book had given up: until the owner has looked at it only orders that shrink a position are sent; %s", v.name, grows)
	}
	return nil
}

// soon asks for a reconciliation and does not wait for it. If one was asked for already,
// it does nothing.
func (v *venue) soon() {
	select {
	case v.kick <- struct{}{}:
	default:
	}
}

const (
	restPeriod  = 45 * time.Second // between two reconciliations when all is well
	busyPeriod  = 5 * time.Second  // the same while something is in doubt
	streamPause = time.Second      // before a stream is opened again; doubled up to a minute
	blindAfter  = 3 * time.Minute  // after so long without a report trading halts
)
