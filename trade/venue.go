package trade

import (
	"time"

	"wick/broker"
	"wick/exact"
)

// venue is the broker with what is known of it. Its fields below the first group are
// guarded by the engine's mu. None of it is in the journal but the account: a new
// process reads it from the broker before it sends anything.
type venue struct {
	Broker
	name    string
	deadMan time.Duration
	kick    chan struct{} // asks for a reconciliation soon

	account   string
	born      time.Time            // when this process began
	judged    bool                 // the account has been read and compared since then
	closed    string               // why no order is taken; empty once the account has been read
	differs   []Difference         // seen twice in a row
	suspected string               // differences that were seen once
	late      map[string]int       // orders that the book had given up and the broker has all the same
	suspectAt time.Time            // when they were seen first
	doubts    map[string]*doubt    // of orders that are being sent or whose outcome is unknown
	behind    map[string]time.Time // since when fills of an order are missing
	report    broker.Report        // the newest
	external  []broker.State
	readAt    time.Time // when the report came; zero for never
	dark      bool      // the last report could not be had
	up        bool      // the stream is there
	changedAt time.Time // when that changed last
	lastEvent string    // id of the last event of the stream
}

// doubt is what this process knows of the sending of an order whose outcome is
// unknown. Of one that a process before it sent there is none.
type doubt struct {
	sending bool      // the request is still to be sent, or under way
	ended   time.Time // when it was given up
	misses  int       // how often in a row the broker did not know the order
}

// Difference is a position that is not what the book's fills come to.
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
		late: make(map[string]int), doubts: make(map[string]*doubt), behind: make(map[string]time.Time),
	}
}

// state returns whether trading is as it was written down, or halted because the
// broker's account was not read yet. Called with mu held.
func (v *venue) state(written TradingState) TradingState {
	if v != nil && v.closed != "" {
		return Halted
	}
	return written
}

// resting says what becomes of the orders that rest when trading is halted or
// reduced: what is given, on paper. At a broker elsewhere nothing holds them back.
func (v *venue) resting(onPaper string) string {
	if v != nil {
		return "orders that rest at " + v.name + " stay there and can be filled"
	}
	return onPaper
}

// barred refuses o, which shrinks a position or does not, if what is known of the
// broker does not allow it. Called with mu held. Orders that shrink a position pass as
// long as the broker can be asked: the owner must be able to get out.
func (v *venue) barred(shrinks bool) error {
	switch {
	case v.closed != "":
		return refuse("broker_not_ready", later, "no order is sent to %s: %s", v.name, v.closed)
	case len(v.differs) > 0 && !shrinks:
		d := v.differs[0]
		return refuse("broker_differs", later, "%s holds %s of %s and this book's fills come to %s: until the owner has looked at it (wick --accept-positions) only orders that shrink a position are sent; %s",
			v.name, d.Broker, d.Symbol, d.Book, grows)
	case len(v.late) > 0 && !shrinks:
		return refuse("broker_differs", later, "%s has an order that this book had given up: until the owner has looked at it only orders that shrink a position are sent; %s", v.name, grows)
	}
	return nil
}

// soon asks for a reconciliation without waiting for it. One that was asked for already
// is enough.
func (v *venue) soon() {
	select {
	case v.kick <- struct{}{}:
	default:
	}
}

const (
	restPeriod  = 45 * time.Second // between two reconciliations when all is well
	busyPeriod  = 5 * time.Second  // when something is open to doubt
	streamPause = time.Second      // before a stream is opened again; doubled up to a minute
	blindAfter  = 3 * time.Minute  // without a report trading halts
)
