package modeltest

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
)

var (
	operations = flag.Int("operations", 2000, "how many random operations to compare with the model")
	first      = flag.Uint64("seed", 0, "the first seed")
	perScene   = flag.Int("scene", 200, "how many operations one engine sees")
)

// TestModel does random things with the book through its tools; after each of them every
// order, every position and the account must be what the model says, to the last digit.
func TestModel(t *testing.T) {
	failed := 0
	for seed := *first; seed < *first+uint64(*operations / *perScene) && failed < 5; seed++ {
		ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newScene(t, seed).play(*perScene) })
		})
		if !ok {
			failed++
		}
	}
}

// scene is one run: the model, the engine, and what was done so far.
type scene struct {
	*desk
	*book
	rand    *rand.Rand
	symbols []string
	log     []string
	placed  int
	alerts  []*alert
	told    map[string]int64 // when the newest update of a symbol was, in unix milliseconds
	began   int64            // when the engine was started last
}

func newScene(t *testing.T, seed uint64) *scene {
	r := rand.New(rand.NewPCG(seed, 25))
	pick := func(of ...string) num { return n(of[r.IntN(len(of))]) }
	rule := rules{
		fee: pick("0", "0.001", "0.00075"), maker: pick("0", "0.001", "0.0002"), slippage: pick("0", "0.0005", "0.00033"),
		spread: pick("0", "0", "0.0002", "0.00123"), tick: pick("0.00000001", "0.00000001", "0.01", "0.05"), lot: pick("0.00000001", "0.00000001", "0.01"), minimum: pick("0", "20"),
		maxOrder: pick("100000000", "700"), maxHeld: pick("1000000000", "2000"), quotes: r.IntN(3) == 0,
	}
	if r.IntN(2) == 0 {
		rule.cash, rule.leverage, rule.short = pick("1000", "5000", "20000.5"), pick("1", "2", "3.3"), r.IntN(2) == 0
	}
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &scene{rand: r, symbols: []string{"AAAUSD", "XYZUSD"}, told: make(map[string]int64)}
	s.book = newBook(rule, s.symbols...)
	options := rule.options(dir)
	options.Symbols = s.symbols
	s.desk = &desk{t: t, options: options, feed: &feed{prices: make(map[string]float64), beside: make(map[string][2]float64),
		minutes: make(map[string][]market.Bar), told: make(map[string]int)}}
	return s
}

// play does the operations. It stops at the first that model and engine judge
// differently, and prints what led to it.
func (s *scene) play(operations int) {
	defer func() {
		s.desk.stop()
		if s.t.Failed() {
			s.t.Log("\n" + strings.Join(s.log[max(0, len(s.log)-60):], "\n"))
		}
	}()
	time.Sleep(17 * time.Second)
	for _, symbol := range s.symbols {
		s.feed.prices[symbol] = 100
	}
	s.began = time.Now().UnixMilli()
	s.start()
	synctest.Wait()
	s.clock()
	for _, symbol := range s.symbols {
		s.update(symbol, true, false)
	}
	for range operations {
		s.wait(time.Duration(1+s.rand.IntN(20)) * time.Second)
		s.compareAlerts()
		s.operation()
		s.compare(false)
		if s.t.Failed() {
			return
		}
	}
	s.compare(true)
}

// wait lets time pass, and with it what expires.
func (s *scene) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	s.clock()
}

func (s *scene) clock() {
	s.now = time.Now().UnixMilli()
	for _, o := range s.book.expire("", s.now-5000) { // if no price comes, orders expire five seconds late
		o.updated = 0 // when exactly within the last second is not known
	}
}

func (s *scene) note(format string, args ...any) {
	s.log = append(s.log, time.Now().UTC().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

// operation does one thing.
func (s *scene) operation() {
	switch r := s.rand.IntN(100); {
	case r < 45:
		s.update(s.symbols[s.rand.IntN(len(s.symbols))], false, false)
	case r < 47:
		s.setAlert()
	case r < 48:
		s.changeAlert()
	case r < 88:
		s.order(s.request())
	case r < 95:
		s.cancelOne()
	case r < 96:
		s.cancelMany()
	case r < 98:
		s.closeAll()
	default:
		s.restart()
	}
}

// tellBook makes up a bid and an ask around a price in cents; at times there are
// none, or the last trade was beyond one of them.
func (s *scene) tellBook(symbol string, cents int64) {
	at := s.places[symbol]
	at.bid, at.ask, s.feed.beside[symbol] = nil, nil, [2]float64{}
	if s.rand.IntN(4) == 0 {
		return
	}
	bid := cents - 30 + s.rand.Int64N(40)
	ask := bid + s.rand.Int64N(40)
	at.bid, at.ask, s.feed.beside[symbol] = price(bid), price(ask), [2]float64{float64(bid) / 100, float64(ask) / 100}
	s.note("%s has a bid of %d and an ask of %d cents", symbol, bid, ask)
}

// update makes up what a symbol has traded since its last update, and tells the engine
// and the model.
func (s *scene) update(symbol string, fresh, down bool) {
	now := time.Now()
	at := s.places[symbol]
	u := market.Update{Symbol: symbol, Source: "test", At: now.UnixMilli(), Since: s.told[symbol], From: s.feed.prices[symbol]}
	minute := now.Truncate(time.Minute).UnixMilli()
	from := minute
	if !fresh {
		from = time.UnixMilli(s.told[symbol]).Truncate(time.Minute).UnixMilli()
	}
	cents := int64(s.feed.prices[symbol]*100 + 0.5)
	var pieces []piece
	for m := from; m <= minute; m += 60000 {
		open := cents
		if m != from && s.rand.IntN(2) == 0 {
			open = s.walk(cents, 300)
		}
		c, h, l := s.walk(open, 200), s.walk(open, 200), s.walk(open, 200)
		if fresh {
			c, h, l = open, open, open
		}
		p := piece{m, max(m, s.told[symbol]), min(m+60000, u.At), price(open), price(max(open, c, h, l)), price(min(open, c, h, l)), price(c), m == from || down}
		pieces = append(pieces, p)
		cents = c
		u.Path = append(u.Path, market.Bar{Time: m / 1000, Open: float(p.open), High: float(p.high), Low: float(p.low), Close: float(p.close), Volume: float64(s.rand.IntN(40))})
	}
	u.Price = float64(cents) / 100
	u.High, u.Low = u.From, u.From
	for _, b := range u.Path {
		u.High, u.Low = max(u.High, b.High), min(u.Low, b.Low)
	}
	s.note("%s goes along %v", symbol, u.Path)
	s.feed.prices[symbol] = u.Price
	s.tellBook(symbol, cents)
	first := s.feed.told[symbol]
	u.Closed = s.feed.addMinutes(symbol, u.Path, u.At)
	s.deliver(u)
	synctest.Wait()
	s.told[symbol] = u.At
	at.price = pieces[len(pieces)-1].close // what positions are worth while the way there is judged
	for _, p := range pieces {
		s.trade(symbol, p)
	}
	s.book.expire(symbol, u.At)
	s.closeMinutes(symbol, first)
}

func (s *scene) walk(cents, by int64) int64 {
	return min(max(cents+s.rand.Int64N(2*by+1)-by, 4000), 25000)
}

func price(cents int64) num { return div(whole(cents), whole(100)) }

func float(a num) float64 {
	f, _ := a.Float64()
	return f
}

// order places a request with the engine and with the model.
func (s *scene) order(r request) {
	s.placed++
	arguments := r.arguments()
	arguments["client_order_id"] = fmt.Sprint("c", s.placed)
	said, _ := json.Marshal(arguments)
	texts, err := s.call("place_order", arguments)
	var got shown
	if err == nil {
		if err := json.Unmarshal(texts[0], &got); err != nil {
			s.t.Fatal(err)
		}
	}
	var o *order
	var why string
	if r.when == nil {
		o, why = s.book.place(r, got.ID)
	} else {
		o, why = s.suspend(r, got.ID, string(got.Quantity))
	}
	s.note("place %s: %v %s / %s", said, err, got.line(), why)
	if (err == nil) != (why == "") {
		s.t.Errorf("place_order %s: the engine says %v, the model %q", said, err, why)
		return
	}
	if o == nil {
		return
	}
	for _, e := range got.Exits { // the engine chooses the ids of exits
		i := slices.IndexFunc(s.orders, func(m *order) bool { return m.id == o.id+"-oco" })
		if i >= 0 && o.ocoStop != nil {
			s.orders[i].id = e.ID
		}
	}
}

// arguments are a request as a client writes it.
func (r request) arguments() map[string]any {
	a := map[string]any{}
	if r.kind != "" { // it is no change of another
		a["symbol"], a["side"], a["type"] = r.symbol, "buy", r.kind
	}
	if r.side < 0 {
		a["side"] = "sell"
	}
	put := func(name string, v num) {
		if v != nil {
			a[name] = json.Number(show(v))
		}
	}
	put("quantity", r.qty)
	put("notional", r.notional)
	put("price", r.price)
	put("stop_price", r.stop)
	put("trail_amount", r.trail)
	put("trail_percent", r.trailPercent)
	put("risk", r.risk)
	if r.all {
		a["quantity"] = "all"
	}
	if r.share != nil {
		a["quantity"] = show(r.share) + "%"
	}
	if r.riskPercent != nil {
		a["risk"] = show(r.riskPercent) + "%"
	}
	if r.even {
		a["stop_price"] = "breakeven"
	}
	if r.ocoStop != nil {
		oco := map[string]any{"stop_price": json.Number(show(r.ocoStop))}
		if r.ocoPrice != nil {
			oco["price"] = json.Number(show(r.ocoPrice))
		}
		a["oco"] = oco
	}
	for name, x := range map[string]*exit{"stop_loss": r.loss, "take_profit": r.profit} {
		switch {
		case x == nil:
		case x.price != nil:
			put(name, x.price)
		default:
			a[name] = show(x.percent) + "%"
		}
	}
	if r.tif != "" {
		a["time_in_force"] = r.tif
	}
	if r.tif == "gtd" {
		a["expires_at"] = time.UnixMilli(r.expires).UTC().Format(time.RFC3339)
	}
	if r.post {
		a["post_only"] = true
	}
	if r.reduce {
		a["reduce_only"] = true
	}
	if r.mayOpen {
		a["may_open"] = true
	}
	if r.tag != "" {
		a["tag"] = r.tag
	}
	if r.replaces != "" {
		a["replaces"] = r.replaces
	}
	r.when.put(a)
	return a
}

func (s *scene) cancelOne() {
	var open []*order
	for _, o := range s.orders {
		if o.open() || o.status == waitsForRule {
			open = append(open, o)
		}
	}
	if len(open) == 0 {
		return
	}
	o := open[s.rand.IntN(len(open))]
	_, err := s.call("cancel_order", map[string]any{"order_id": o.id})
	s.note("cancel %s: %v", o.id, err)
	if err != nil {
		s.t.Errorf("cancel %s: %v", o.id, err)
	}
	s.book.cancel(o)
}

func (s *scene) cancelMany() {
	arguments := map[string]any{"all": true}
	symbol := ""
	if s.rand.IntN(2) == 0 {
		symbol = s.symbols[s.rand.IntN(len(s.symbols))]
		arguments = map[string]any{"symbol": symbol}
	}
	_, err := s.call("cancel_order", arguments)
	s.note("cancel all of %q: %v", symbol, err)
	if err != nil {
		s.t.Error(err)
	}
	for _, o := range s.orders {
		if (o.open() || o.status == waitsForRule) && (symbol == "" || o.symbol == symbol) {
			s.book.end(o, "cancelled")
		}
	}
}

// closeAll closes every position by one call.
func (s *scene) closeAll() {
	s.placed++
	texts, err := s.call("place_order", map[string]any{"symbol": "all", "side": "sell", "type": "market", "quantity": "all", "client_order_id": fmt.Sprint("all", s.placed)})
	s.note("close all: %s %v", texts, err)
	if err != nil {
		s.t.Error(err)
		return
	}
	var reply struct {
		Orders []shown `json:"orders"`
	}
	if err := json.Unmarshal(texts[0], &reply); err != nil {
		s.t.Fatal(err)
	}
	next := 0
	for _, symbol := range s.symbols {
		held := s.places[symbol].held.qty.Sign()
		if held == 0 {
			continue
		}
		if next >= len(reply.Orders) {
			s.t.Errorf("close all: the reply has only %d orders, and %s has a position, too", len(reply.Orders), symbol)
			return
		}
		got := reply.Orders[next]
		if _, why := s.book.place(request{symbol: symbol, side: -held, kind: "market", all: true}, got.ID); (why != "") != (got.Error != "") {
			s.t.Errorf("close all of %s: the engine says %q, the model %q", symbol, got.Error, why)
		}
		next++
	}
}

// restart stops the engine, lets time pass and starts it again. The new engine learns
// what was traded meanwhile in the symbols for which an order waits.
func (s *scene) restart() {
	s.note("stops")
	s.desk.stop()
	time.Sleep(time.Duration(s.rand.IntN(200)) * time.Second)
	s.began = time.Now().UnixMilli()
	s.start()
	s.forgetLooks()
	synctest.Wait()
	s.note("starts, having seen %v", s.feed.resumed)
	for _, symbol := range s.symbols {
		if len(s.waiting(symbol)) > 0 && s.feed.resumed[symbol] != s.feed.prices[symbol] {
			s.t.Errorf("%s resumes at %v, want %v", symbol, s.feed.resumed[symbol], s.feed.prices[symbol])
		}
		s.update(symbol, false, true)
	}
	s.clock()
}

// compare fetches everything that changed and is open, or at the end of a scene
// every order, and holds it against the model.
func (s *scene) compare(all bool) {
	var got []shown
	wanted := []map[string]any{{"filter": "open", "limit": 500}, {"since": time.Now().UTC().Format(time.RFC3339Nano), "limit": 500}}
	if all {
		wanted = nil
		for from := 0; from <= len(s.orders); from += 500 {
			wanted = append(wanted, map[string]any{"limit": 500, "offset": from})
		}
	}
	for _, arguments := range wanted {
		texts, err := s.call("get_orders", arguments)
		if err != nil {
			s.t.Fatal(err)
		}
		var part []shown
		if err := json.Unmarshal(texts[0], &part); err != nil {
			s.t.Fatal(err)
		}
		got = append(got, part...)
	}
	lines := make(map[string]shown)
	for _, o := range got {
		lines[o.ID] = o
	}
	s.adopt(lines)
	for _, o := range s.orders {
		g, ok := lines[o.id]
		if !ok && !o.open() && o.status != waitsForRule && o.updated != s.now {
			continue // it ended before the last operation
		}
		if want := s.line(o); !ok || g.line() != want {
			s.t.Errorf("order\n got %s (%s)\nwant %s", g.line(), g.Reason, want)
		}
		delete(lines, o.id)
	}
	for _, o := range lines {
		s.t.Errorf("the model has no order\n got %s (%s)", o.line(), o.Reason)
	}
	s.comparePositions()
	if all {
		s.compareTrades()
	}
	if all || s.rand.IntN(50) == 0 {
		for _, by := range []string{"month", "symbol", "tag"} {
			s.compareReport(by, nil)
			s.compareReport(by, s.filter())
		}
	}
}

// adopt gives the orders whose id the model does not know yet the ids of the engine.
// Exits of one entry may have begun more than once since the last comparison: the older
// ones have the lower number.
func (s *scene) adopt(lines map[string]shown) {
	known := make(map[string]bool)
	for _, o := range s.orders {
		known[o.id] = true
	}
	ids := slices.SortedFunc(maps.Keys(lines), func(x, y string) int { return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)) })
	for _, o := range s.orders {
		start, ok := strings.CutSuffix(o.id, "?")
		i := slices.IndexFunc(ids, func(id string) bool { return ok && strings.HasPrefix(id, start) && !known[id] })
		if i >= 0 {
			o.id, known[ids[i]] = ids[i], true
		}
	}
}

func (s *scene) comparePositions() {
	texts, err := s.call("get_positions", map[string]any{"include_flat": true, "account": true})
	if err != nil {
		s.t.Fatal(err)
	}
	var positions []struct {
		Symbol, Side string
		Quantity     json.Number
		Entry        json.Number `json:"entry_price"`
		Current      json.Number `json:"current_price"`
		Unrealized   json.Number `json:"unrealized_pnl"`
		Realized     json.Number `json:"realized_pnl"`
		Fees         json.Number
	}
	if err := json.Unmarshal(texts[0], &positions); err != nil {
		s.t.Fatal(err)
	}
	account := slices.IndexFunc(texts, func(text json.RawMessage) bool { return strings.HasPrefix(string(text), `{"account"`) })
	if s.cash != nil {
		s.compareAccount(texts[account])
	}
	for _, p := range positions {
		got := fmt.Sprint(p.Symbol, " ", p.Side, " ", p.Quantity, " at ", p.Entry, " now ", p.Current, " open ", p.Unrealized, " realized ", p.Realized, " fees ", p.Fees)
		if want := s.holdingLine(p.Symbol); got != want {
			s.t.Errorf("position\n got %s\nwant %s", got, want)
		}
	}
}

// compareAccount holds the account against the model.
func (s *scene) compareAccount(text json.RawMessage) {
	var reply struct {
		Account struct {
			Cash, Equity, Exposure json.Number
			Reserved               json.Number
			Power                  json.Number `json:"buying_power"`
			Total                  json.Number `json:"total_pnl"`
			Risk                   json.Number `json:"risk_to_stops"`
			Unprotected            json.Number
		}
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		s.t.Fatal(err)
	}
	a := reply.Account
	reserved := s.reserved("")
	got := fmt.Sprint("cash ", a.Cash, " equity ", a.Equity, " exposure ", a.Exposure, " reserved ", a.Reserved, " power ", a.Power, " total ", a.Total,
		" risk ", a.Risk, " unprotected ", a.Unprotected)
	risk, unprotected := s.risk()
	want := fmt.Sprint("cash ", show(s.cashNow()), " equity ", show(s.equity()), " exposure ", show(s.exposure()), " reserved ", show(reserved),
		" power ", show(higher(sub(s.power(), reserved), new0())), " total ", show(sub(s.equity(), s.cash)), " risk ", show(risk), " unprotected ", show(unprotected))
	if got != want {
		s.t.Errorf("account\n got %s\nwant %s", got, want)
	}
}
