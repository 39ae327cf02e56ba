package book

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"wick/internal/exact"
	"wick/internal/limit"
)

// Trade is what became of a symbol from flat to flat: from the fill that opened a position to the
// one that closed it or turned it around. It is a fold of the fills, with what
// they do not tell: the first risk, and the prices between them. Profit is what the parts that
// were closed have made, fees taken off. All sums are in the currency of the symbol's prices.
type Trade struct {
	ID       string        `json:"trade_id"`
	Symbol   string        `json:"symbol"`
	Side     Side          `json:"side"`     // buy for a long position
	Quantity exact.Decimal `json:"quantity"` // that was bought for a long one, or sold for a short one, in all
	Paid     exact.Money   `json:"paid"`     // for that, without a sign
	Closed   exact.Decimal `json:"closed,omitempty"`
	Got      exact.Money   `json:"got,omitzero"` // for what was closed, without a sign
	Gone     exact.Decimal `json:"gone,omitempty"`
	Profit   exact.Money   `json:"profit,omitzero"`
	Fees     exact.Money   `json:"fees,omitzero"`
	Entry    exact.Money   `json:"entry_fees,omitzero"` // those of what is still held, which no part that was closed has borne

	OpenedAt Time    `json:"opened_at"`
	OpenedBy string  `json:"opened_by"` // order ids
	ClosedAt *Time   `json:"closed_at,omitempty"`
	ClosedBy string  `json:"closed_by,omitempty"`
	How      string  `json:"how,omitempty"` // what the closing order was: its role, or else its type
	Closes   []Close `json:"closes,omitempty"`
	More     int     `json:"more_closes,omitempty"` // that are not in Closes

	Risk  *Risk       `json:"risk,omitempty"` // nil until a stop covered all that was held
	Best  exact.Money `json:"best"`           // the most that it was ahead, and
	Worst exact.Money `json:"worst"`          // behind: at the prices up to its last fill
	Range Range       `json:"range"`          // the prices since then

	Label
	Account   string `json:"account,omitempty"` // at a broker elsewhere, which does not tell fees
	Synthetic bool   `json:"synthetic,omitempty"`
	Seq       uint64 `json:"seq,omitempty"` // of the record that closed it
}

// Close is a part of a trade that was closed.
type Close struct {
	At       Time          `json:"at"`
	OrderID  string        `json:"order_id"`
	Quantity exact.Decimal `json:"quantity"`
	Price    exact.Decimal `json:"price"`
	Fees     exact.Money   `json:"fees"`   // of the fill, and its share of those of the entry
	Profit   exact.Money   `json:"profit"` // less those
}

// MaxCloses is how many closed parts a trade lists; its sums have all of them.
const MaxCloses = 20

// Risk is what a trade would have lost, with fees and slippage as far as they are known, if the
// stops that first covered all that was held had been filled then. Moving a stop never changes it.
type Risk struct {
	Amount exact.Decimal `json:"amount"` // zero if nothing would have been lost
	Stop   exact.Decimal `json:"stop_price"`
	At     Time          `json:"at"`
}

// Range is where the price has been while a position was held unchanged, as far as wick saw it.
type Range struct {
	High  exact.Decimal `json:"high"`
	Low   exact.Decimal `json:"low"`
	Since int64         `json:"since"` // prices from then on count, in unix milliseconds
	// Unseen says that prices came while no process ran, and nobody told of them later.
	Unseen bool `json:"unseen,omitempty"`
}

// with returns r with two more prices.
func (r Range) with(high, low exact.Decimal) Range {
	r.High, r.Low = max(r.High, high), min(r.Low, low)
	return r
}

// Label is a trader's own name and words for an order, and for the trade that it opens.
type Label struct {
	Tag  string `json:"tag,omitempty"`
	Note string `json:"note,omitempty"`
}

// tagShape is what a tag looks like, but for its length: {1,32} would put the table of all letters
// 32 times into the expression, which takes a millisecond and a megabyte of every start.
var tagShape = regexp.MustCompile(`^[\p{L}\p{N}._:/-]+$`)

// maxTag is how many characters a tag may have.
const maxTag = 32

// Normalize brings a label into one spelling, so that a report has one line for it, or refuses it.
func (l *Label) Normalize() error {
	l.Tag = strings.ToLower(l.Tag)
	if l.Tag != "" && (utf8.RuneCountInString(l.Tag) > maxTag || !tagShape.MatchString(l.Tag)) {
		return Refuse("bad_tag", "tag %q: 1 to 32 letters, digits and . _ : / -", limit.Clip(l.Tag))
	}
	if n := utf8.RuneCountInString(l.Note); n > MaxNote {
		return Refuse("bad_note", "the note has %d characters, at most %d are taken", n, MaxNote)
	}
	return nil
}

// Over returns l with what it does not say taken from before.
func (l Label) Over(before Label) Label {
	if l.Tag == "" {
		l.Tag = before.Tag
	}
	if l.Note == "" {
		l.Note = before.Note
	}
	return l
}

// Labelling is a label that was given to an order later.
type Labelling struct {
	OrderID string `json:"order_id"`
	Label
}

// label gives an order its label, and the trades that it opened. It is also kept by itself until the
// journal's index has its record, since either may have left memory before.
func (s *State) label(seq uint64, l *Labelling) {
	if known := s.Order(l.OrderID); known != nil {
		o := *known
		o.Label = l.Over(o.Label)
		s.setOrder(&o)
	}
	s.Labels[l.OrderID] = LateLabel{l.Over(s.Labels[l.OrderID].Label), seq}
	relabel := func(t *Trade) *Trade {
		if t.OpenedBy != l.OrderID {
			return t
		}
		c := *t
		c.Label = l.Over(t.Label)
		return &c
	}
	for symbol, t := range s.Trades {
		s.Trades[symbol] = relabel(t)
	}
	s.Done = slices.Clone(s.Done) // somebody may be going through this one
	for i, t := range s.Done {
		s.Done[i] = relabel(t)
	}
}

// LateLabel is a label that was given later, and the record that has it.
type LateLabel struct {
	Label
	Seq uint64 `json:"seq"`
}

// Executed returns the fill between two holdings: its signed size, price and fee. What a fill pays
// is in the holding, to the last digit: realized profit plus fees less cost falls by size*price.
// The average price of an order that was filled in parts is rounded. It reports false if there is
// no such fill.
func Executed(before, after Holding) (size, price exact.Decimal, fee exact.Money, ok bool) {
	size, fee = after.Quantity-before.Quantity, Minus(after.Fees, before.Fees)
	paid := Minus(Minus(after.Cost, before.Cost), plus(Minus(after.Realized, before.Realized), fee))
	price, ok = paid.Per(size)
	return size, price, fee, ok
}

// follow returns what the fill of ev makes of the trade in its symbol: the one that is open after
// it and the one that it ends, each nil for none. A position that was opened before trades were
// kept belongs to none.
func (s *State) follow(ev *Event) (open, ended *Trade) {
	o, after := ev.Order, *ev.Holding
	before, t := s.Holdings[o.Symbol], s.Trades[o.Symbol]
	size, price, fee, ok := Executed(before, after)
	if !ok || t == nil && before.Quantity != 0 && after.Quantity != 0 && (before.Quantity < 0) == (after.Quantity < 0) {
		return t, nil
	}
	whole := size.Abs()
	reduced := Reducible(before.Quantity, size)
	feeOut := fee.Share(reduced, whole)
	began := t == nil || before.Quantity == 0 || (after.Quantity < 0) != (before.Quantity < 0)
	if t != nil {
		t = t.ranged(ev)
		t.look(before, t.Range.with(price, price))
		t.Synthetic = t.Synthetic || o.Synthetic
	}
	if t != nil && reduced > 0 {
		borne := t.Entry.Share(reduced, before.Quantity.Abs())
		made := plus(Minus(after.Realized, before.Realized), Minus(fee, feeOut)) // with the fee of this part alone
		part := Close{ev.At, o.ID, reduced, price, plus(feeOut, borne), Minus(made, borne)}
		t.Closed, t.Got = t.Closed+reduced, plus(t.Got, exact.Product(reduced, price))
		t.Profit, t.Fees, t.Entry = plus(t.Profit, part.Profit), plus(t.Fees, feeOut), Minus(t.Entry, borne)
		if len(t.Closes) < MaxCloses {
			t.Closes = append(slices.Clip(t.Closes), part)
		} else {
			t.More++
		}
		if reduced == before.Quantity.Abs() {
			t.ClosedAt, t.ClosedBy, t.How, t.Seq = &ev.At, o.ID, string(o.Type), s.Seq+1
			if o.Role != "" {
				t.How = string(o.Role)
			}
			t, ended = nil, t
		}
	}
	if added := whole - reduced; added > 0 {
		if t == nil {
			t = &Trade{ID: s.NewID("t"), Symbol: o.Symbol, Side: o.Side, OpenedAt: ev.At, OpenedBy: o.ID, Label: o.Label, Account: o.Account, Synthetic: o.Synthetic}
		}
		feeIn := Minus(fee, feeOut)
		t.Quantity, t.Paid = t.Quantity+added, plus(t.Paid, exact.Product(added, price))
		t.Fees, t.Entry = plus(t.Fees, feeIn), plus(t.Entry, feeIn)
	}
	if t != nil {
		since := o.After
		if o.PriceAt != nil {
			since = max(since, o.PriceAt.UnixMilli())
		}
		t.Range = Range{price, price, since, t.Range.Unseen}
		if began {
			t.Best = t.at(after, price)
			t.Worst = t.Best
		}
		t.look(after, t.Range)
	}
	return t, ended
}

// lose is follow for a holding of which a part has left the account, and nobody knows what was got
// for it.
func (s *State) lose(ev *Event, symbol string) (open, ended *Trade) {
	before, after, t := s.Holdings[symbol], ev.Holdings[symbol], s.Trades[symbol]
	if t == nil {
		return nil, nil
	}
	t = t.ranged(ev)
	t.look(before, t.Range)
	gone := (before.Quantity - after.Quantity).Abs()
	t.Gone, t.Entry = t.Gone+gone, Minus(t.Entry, t.Entry.Share(gone, before.Quantity.Abs()))
	if after.Quantity == 0 {
		t.ClosedAt, t.Seq = &ev.At, s.Seq+1
		return nil, t
	}
	return t, nil
}

// at returns what the trade has made if what is held is valued at a price, less the fees so far.
func (t *Trade) at(h Holding, price exact.Decimal) exact.Money {
	return plus(Minus(t.Profit, t.Entry), Minus(exact.Product(h.Quantity, price), h.Cost))
}

// look takes into account where the price has been while h was held.
func (t *Trade) look(h Holding, r Range) {
	for _, price := range []exact.Decimal{r.High, r.Low} {
		made := t.at(h, price)
		if Minus(made, t.Best).Sign() > 0 {
			t.Best = made
		}
		if Minus(t.Worst, made).Sign() > 0 {
			t.Worst = made
		}
	}
	t.Range = r
}

// complete adds to ev, which is about to be written down, what it tells of trades beyond its fills:
// the range of prices up to it of each symbol that it is about, the first risk, and the trades that
// it ends, so that a reader of the one record knows all of them.
func (b *Book) complete(ev *Event) {
	note := func(symbol string) {
		t, r := b.Trades[symbol], b.ranges[symbol]
		if t == nil || r == (Range{}) || r == t.Range {
			return
		}
		if ev.Ranges == nil {
			ev.Ranges = make(map[string]Range)
		}
		ev.Ranges[symbol] = r
	}
	for symbol := range ev.Seen {
		note(symbol)
	}
	if ev.Order == nil {
		for _, symbol := range sorted(ev.Holdings) {
			note(symbol)
		}
	} else if ev.Holding != nil {
		note(ev.Order.Symbol)
	}
	open, ended := b.tradesAfter(ev)
	ev.Trades = ended
	if o := ev.Order; o != nil {
		t, h := b.Trades[o.Symbol], b.Holdings[o.Symbol]
		if ev.Holding != nil {
			t, h = open[o.Symbol], *ev.Holding
		}
		// As long as its first order is being filled the quantity is not what it will be.
		if t != nil && (t.Risk == nil || ev.Holding != nil && t.OpenedBy == o.ID && t.Closed == 0) {
			ev.Risk = b.firstRisk(ev, t, h)
		}
	}
}

// tradesAfter returns the open trades of the symbols that ev changes, nil for those that have none
// then, and the trades that it ends.
func (s *State) tradesAfter(ev *Event) (open map[string]*Trade, ended []*Trade) {
	open = make(map[string]*Trade)
	for symbol := range ev.Ranges {
		if t := s.Trades[symbol]; t != nil {
			open[symbol] = t.ranged(ev)
		}
	}
	add := func(symbol string, o, e *Trade) {
		if open[symbol] = o; e != nil {
			ended = append(ended, e)
		}
	}
	if ev.Holding != nil && ev.Order != nil {
		o, e := s.follow(ev)
		add(ev.Order.Symbol, o, e)
	}
	for _, symbol := range sorted(ev.Holdings) {
		o, e := s.lose(ev, symbol)
		add(symbol, o, e)
	}
	return open, ended
}

// ranged returns a copy of t with the range that ev tells.
func (t *Trade) ranged(ev *Event) *Trade {
	c := *t
	if r, ok := ev.Ranges[t.Symbol]; ok {
		c.Range = r
	}
	return &c
}

// setTrades stores what [State.tradesAfter] found.
func (s *State) setTrades(ev *Event, open map[string]*Trade, ended []*Trade) {
	for symbol, t := range open {
		if s.Trades[symbol] = t; t == nil {
			delete(s.Trades, symbol)
		}
	}
	if ev.Trades != nil {
		ended = ev.Trades // as it was found at the time
	}
	for _, t := range ended {
		if t.Seq != s.Seq+1 { // it ended in another store
			c := *t
			c.Seq, t = s.Seq+1, &c
		}
		s.Done = append(s.Done, t)
	}
	if ev.Risk != nil && ev.Order != nil && s.Trades[ev.Order.Symbol] != nil {
		c := *s.Trades[ev.Order.Symbol]
		c.Risk = ev.Risk
		s.Trades[c.Symbol] = &c
	}
}

// firstRisk returns what the trade t would lose if its stops, as they are after ev, were all filled
// at their prices, and nil unless they cover all of h. A stop of which a broker has not said yet
// that it has it does not count.
func (b *Book) firstRisk(ev *Event, t *Trade, h Holding) *Risk {
	orders, changes := ev.Changed(b.Order), make(map[string]bool)
	for _, o := range orders {
		changes[o.ID] = true
	}
	for _, o := range b.Open[t.Symbol] {
		if !changes[o.ID] {
			orders = append(orders, o)
		}
	}
	orders = slices.DeleteFunc(orders, func(o *Order) bool { return o.Status.Terminal() || o.Unknown() || o.Pending() })
	made, first, fits := Minus(Minus(t.Profit, t.Entry), h.Cost), exact.Decimal(0), true
	left := b.stopsOut(orders, h.Quantity, func(o *Order, _ exact.Decimal) exact.Decimal { return b.stop(o) }, func(o *Order, closes, at exact.Decimal) {
		first = cmp.Or(first, at)
		fee := exact.Decimal(0)
		if o.Account == "" {
			at = o.within(b.slip(o, Quote{Price: at}))
			r, err := b.report(closes, at, b.Rules.FeeRate, Quote{})
			fee, fits = r.Fee, fits && err == nil
		}
		made = plus(made, Minus(exact.Product(-o.Side.Sign(closes), at), fee.Money()))
	})
	if first == 0 || left != 0 || !fits {
		return nil
	}
	r := &Risk{Stop: first, At: ev.At}
	if lost := made.Neg(); lost.Sign() > 0 {
		var ok bool
		if r.Amount, ok = lost.PerUp(exact.One); !ok {
			return nil
		}
	}
	return r
}

// see takes note of the prices of a leg while a position is held.
func (b *Book) see(symbol string, l leg) {
	t := b.Trades[symbol]
	if t == nil {
		return
	}
	r := b.rangeOf(t)
	if part, ok := l.after(r.Since); ok {
		if seen := r.with(part.high, part.low); seen != r {
			b.ranges[symbol] = seen
		}
	}
}

// See takes note of the prices of a tick while a position is held. A venue that fills no orders
// itself calls it with each.
func (b *Book) See(t Tick) {
	for _, l := range t.legs {
		b.see(t.Symbol, l)
	}
}

// rangeOf returns where the price has been since the last fill of an open trade.
func (b *Book) rangeOf(t *Trade) Range {
	if r, ok := b.ranges[t.Symbol]; ok {
		return r
	}
	return t.Range
}

// OpenTrades returns the trades that are open, by symbol, as they are now.
func (b *Book) OpenTrades() (open []*Trade) {
	for _, symbol := range sorted(b.Trades) {
		t := *b.Trades[symbol]
		t.look(b.Holdings[symbol], b.rangeOf(&t))
		open = append(open, &t)
	}
	return open
}

// ForgetTrades takes closed trades and late labels out of memory whose records the journal's index
// has, up to that with a sequence: of trades all but the newest that are kept, of labels all if
// there are more than that.
func (s *State) ForgetTrades(through uint64, kept int) {
	extra := max(0, len(s.Done)-kept)
	for extra > 0 && s.Done[extra-1].Seq > through {
		extra--
	}
	s.Done = slices.Clone(s.Done[extra:])
	if len(s.Labels) > kept {
		maps.DeleteFunc(s.Labels, func(_ string, l LateLabel) bool { return l.Seq <= through })
	}
}

// TradeShown is a trade as clients see it. What is not known is null, and Why says why.
type TradeShown struct {
	ID         string         `json:"trade_id"`
	Symbol     string         `json:"symbol"`
	Side       string         `json:"side"` // long or short
	Status     string         `json:"status"`
	OpenedAt   Time           `json:"opened_at"`
	ClosedAt   *Time          `json:"closed_at"`
	Quantity   exact.Decimal  `json:"quantity"`
	EntryPrice exact.Decimal  `json:"entry_price"`
	ExitPrice  *exact.Decimal `json:"exit_price"`
	Profit     *exact.Money   `json:"profit"` // of what was closed, less fees
	Fees       *exact.Money   `json:"fees"`
	R          *exact.Decimal `json:"r"`
	Risk       *Risk          `json:"risk,omitempty"`
	Best       *exact.Money   `json:"best"`       // the most that it was ahead, valued at a price that was seen, less the fees so far
	Worst      *exact.Money   `json:"worst"`      // and behind
	GivenBack  *exact.Money   `json:"given_back"` // best less profit; null while it is open
	OpenedBy   string         `json:"opened_by"`
	ClosedBy   string         `json:"closed_by,omitempty"`
	How        string         `json:"closed_how,omitempty"`
	Closes     []Close        `json:"closes,omitempty"` // the parts, if there are several
	More       int            `json:"more_closes,omitempty"`
	Label
	Broker    string            `json:"broker"`
	Currency  string            `json:"currency"`
	Synthetic bool              `json:"synthetic,omitempty"`
	Why       map[string]string `json:"why,omitempty"` // of each null
}

// The reasons for what is not known of a trade.
const (
	whyOpen    = "the trade is open"
	whyNoRisk  = "no stop covered all that was held, so there is no first risk"
	whyAtBest  = "the first stop stood where nothing would have been lost"
	whyUnseen  = "prices came while wick did not run, and the source did not tell them later"
	whyNoFees  = "the broker's fees are in its own account: profit and R are before them"
	whyLeft    = "%s of it left the account, and nobody knows what was got for it"
	whyNoExits = "nothing of it was sold or bought back"
)

// Show returns t as clients see it.
func (t *Trade) Show(broker, currency string) TradeShown {
	v := TradeShown{ID: t.ID, Symbol: t.Symbol, Side: "long", Status: "closed", OpenedAt: t.OpenedAt, ClosedAt: t.ClosedAt, Quantity: t.Quantity, Profit: &t.Profit, Fees: &t.Fees,
		Risk: t.Risk, Best: &t.Best, Worst: &t.Worst, OpenedBy: t.OpenedBy, ClosedBy: t.ClosedBy, How: t.How, Label: t.Label, Broker: broker, Currency: currency, Synthetic: t.Synthetic, Why: make(map[string]string)}
	if t.Side == Sell {
		v.Side = "short"
	}
	v.EntryPrice, _ = t.Paid.Per(t.Quantity) // an average of prices is in the range of prices
	if at, ok := t.Got.Per(t.Closed); ok {
		v.ExitPrice = &at
	} else {
		v.Why["exit_price"] = whyNoExits
	}
	if t.Account != "" {
		v.Fees, v.Why["fees"] = nil, whyNoFees
	}
	if len(t.Closes) > 1 || t.ClosedAt == nil {
		v.Closes, v.More = t.Closes, t.More
	}
	if t.Gone != 0 {
		v.Profit, v.Why["profit"] = nil, fmt.Sprintf(whyLeft, t.Gone)
	}
	var why string
	if v.R, why = t.multiple(); v.R == nil {
		v.Why["r"] = why
	}
	switch {
	case t.Range.Unseen:
		v.Best, v.Worst = nil, nil
		v.Why["best"], v.Why["worst"], v.Why["given_back"] = whyUnseen, whyUnseen, whyUnseen
	case t.ClosedAt == nil:
		v.Why["given_back"] = whyOpen
	case v.Profit == nil:
		v.Why["given_back"] = v.Why["profit"]
	default:
		back := Minus(t.Best, t.Profit)
		v.GivenBack = &back
	}
	if t.ClosedAt == nil {
		v.Status, v.Why["closed_at"] = "open", whyOpen
	}
	return v
}

// multiple returns the profit in units of the first risk, or why there is no such number.
func (t *Trade) multiple() (*exact.Decimal, string) {
	switch {
	case t.ClosedAt == nil:
		return nil, whyOpen
	case t.Gone != 0:
		return nil, fmt.Sprintf(whyLeft, t.Gone)
	case t.Risk == nil:
		return nil, whyNoRisk
	case t.Risk.Amount == 0:
		return nil, whyAtBest
	}
	r, ok := t.Profit.Per(t.Risk.Amount)
	if !ok {
		return nil, "it is out of range"
	}
	return &r, ""
}
