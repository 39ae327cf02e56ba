package book

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"wick/internal/exact"
	"wick/market"
)

var update = flag.Bool("update", false, "write what the book says into testdata/stories.txt")

// TestStories plays the stories of testdata/stories.txt: what a trader does and what the market
// does, and below each line, indented, what becomes of the orders and of the position. After
// every line the state is also made anew, from the records since the beginning and from a
// snapshot, and has to be the same.
//
// A line is a command. "e: buy 10 limit 95 sl 93 tp 101" places an order and calls it e; see
// place for what may follow. "price 100" is the next price, "minute 96 97 90 94" a bar that opens,
// rises, falls and closes there. "cancel e", "halt", "reducing", "active", "wait 1m" and "restart"
// say what they do. A story with "trade" in its title also says what each trade that ends has made.
func TestStories(t *testing.T) {
	const name = "testdata/stories.txt"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var s *story
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(&out, line)
		switch {
		case strings.HasPrefix(line, "#"):
			s = newStory(t, line)
		case line != "":
			s.said = nil
			s.do(line)
			s.same()
			for _, said := range s.said {
				fmt.Fprintf(&out, "  %s\n", said)
			}
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, want := strings.Split(out.String(), "\n"), strings.Split(string(text), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s:%d: the book says\n%s", name, i+1, strings.Join(got[max(0, i-5):min(len(got), i+3)], "\n"))
		}
	}
}

// story is a book that a story is played on.
type story struct {
	*Book
	t     *testing.T
	title string
	now   time.Time
	quote Quote
	fed   int64             // time of the price before
	names map[string]string // of orders, by id
	said  []string

	computed map[string]string // what was said of how an order was computed, by id

	kinds   []Kind
	records [][]byte // since the beginning
	atHalf  []byte   // a snapshot on the way
	after   int      // how many records are in it
}

func newStory(t *testing.T, title string) *story {
	s := &story{t: t, title: title, now: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), names: make(map[string]string), computed: make(map[string]string)}
	rules := Rules{Limits: Limits{}.WithDefaults(), Account: AccountRules{}.WithDefaults(), MakerFeeRate: new(exact.Decimal)}
	if strings.Contains(title, "cash 1000") {
		rules.Account.Cash = 1000 * exact.One
	}
	if strings.Contains(title, "with fees") { // and slippage
		rules.FeeRate, *rules.MakerFeeRate, rules.Slippage = exact.One/1000, exact.One/2000, exact.One/2000
	}
	s.Book = NewBook(rules, s)
	s.State = NewState("0123456789")
	s.Write = s.write
	if err := s.Propose(KindStarted, &Event{At: s.at(), Epoch: "00000000"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// Of and ATR make the story the markets of its book: one with a price, whose bars are 2 high.
func (s *story) Of(string) Listing                { return Listing{Quote: s.quote} }
func (s *story) ATR(string) (exact.Decimal, bool) { return 2 * exact.One, true }

func (s *story) at() Time { return Time{s.now} }

// write notes a record, and says what it has changed.
func (s *story) write(k Kind, ev *Event, take func() error) error {
	changed := ev.Changed(s.Order)
	if err := take(); err != nil {
		s.t.Fatalf("%s: %v", s.title, err)
	}
	record, err := json.Marshal(ev)
	if err != nil {
		s.t.Fatal(err)
	}
	s.kinds, s.records = append(s.kinds, k), append(s.records, record)
	var parts []string
	for _, o := range changed {
		says := fmt.Sprintf("%s %s", s.named(o), o.Status)
		if o.FilledQuantity != 0 {
			says += fmt.Sprintf(" %s at %s", o.FilledQuantity, o.AveragePrice)
		}
		if o.Status == StatusOpen {
			for _, price := range []*exact.Decimal{o.StopPrice, o.Price} {
				if price != nil {
					says += " " + price.String()
				}
			}
			says += " for " + o.Remaining().Abs().String()
		}
		if why := s.rename(o.Words()); why != "" {
			says += " (" + why + ")"
		}
		for _, computed := range []any{o.Sizing, o.Breakeven} { // said once, of the order that came
			if text, err := json.Marshal(computed); err == nil && string(text) != "null" && s.computed[o.ID] != string(text) {
				s.computed[o.ID] = string(text)
				says += " by " + string(text)
			}
		}
		parts = append(parts, says)
	}
	if h := ev.Holding; h != nil {
		entry, _ := h.Cost.Per(h.Quantity)
		says := fmt.Sprintf("holds %s at %s", h.Quantity, entry)
		if h.Quantity == 0 {
			says = "holds nothing"
		}
		parts = append(parts, fmt.Sprintf("%s, realized %s", says, h.Realized))
	}
	for _, t := range ev.Trades {
		if !strings.Contains(s.title, "trade") {
			break
		}
		v := t.Show(PaperName, "USD")
		out, r := "unknown", "none, "+v.Why["r"]
		if v.ExitPrice != nil {
			out = v.ExitPrice.String()
		}
		if v.R != nil {
			r = v.R.String()
		}
		parts = append(parts, fmt.Sprintf("the %s trade of %s from %s to %s made %s in %d parts, was %s at best and %s at worst; R: %s", v.Side, v.Quantity, v.EntryPrice, out, t.Profit, len(t.Closes), t.Best, t.Worst, r))
	}
	if len(parts) > 0 {
		s.said = append(s.said, strings.Join(parts, "; "))
	}
	return nil
}

// named returns the name of an order: that of its story, with the ending of its id.
func (s *story) named(o *Order) string { return s.rename(o.ID) }

// rename puts the names of orders in place of their ids.
func (s *story) rename(text string) string {
	ids := make([]string, 0, len(s.names))
	for id := range s.names {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, id := range ids {
		text = strings.ReplaceAll(text, id, s.names[id])
	}
	return text
}

// id returns the id of an order with a name, such as e or e-sl.
func (s *story) id(name string) string {
	base, ending, _ := strings.Cut(name, "-")
	for id, named := range s.names {
		if named == base {
			return strings.TrimSuffix(id+"-"+ending, "-")
		}
	}
	s.t.Fatalf("%s: no order is called %s", s.title, name)
	return ""
}

func (s *story) do(line string) {
	words := strings.Fields(line)
	switch command := words[0]; command {
	case "price", "minute":
		s.tick(words[1:])
	case "cancel":
		id := s.id(words[1])
		if o := s.Order(id); o == nil || o.Status.Terminal() {
			s.said = append(s.said, s.rename(Uncancellable(o, id).Error()))
		} else if _, err := s.Cancel(o, Who{}, Reason{}, s.at()); err != nil {
			s.t.Fatal(err)
		}
	case "halt", "reducing", "active":
		to := map[string]TradingState{"halt": Halted, "reducing": Reducing, "active": Active}[command]
		if err := s.Propose(KindTrading, &Event{At: s.at(), Trading: to}); err != nil {
			s.t.Fatal(err)
		}
	case "wait":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.now = s.now.Add(d)
	case "restart":
		b := NewBook(s.Rules, s)
		b.State, b.Write = s.replayed(), s.write
		s.Book, s.atHalf, s.after = b, s.encoded(b.State), len(s.records)
		b.RememberArrivals()
	default:
		s.place(line)
	}
}

// tick lets the market do what the numbers say, one price or a bar, and a minute pass.
func (s *story) tick(numbers []string) {
	var prices [4]float64
	for i := range prices {
		if _, err := fmt.Sscan(numbers[min(i, len(numbers)-1)], &prices[i]); err != nil {
			s.t.Fatalf("%s: %v", s.title, err)
		}
	}
	before := s.quote
	s.now = s.now.Add(time.Minute)
	u := market.Update{Symbol: "AAA", Price: prices[3], At: s.now.UnixMilli(), High: prices[1], Low: prices[2], Source: "story"}
	bar := market.Bar{Time: s.now.Unix() - 60, Open: prices[0], High: prices[1], Low: prices[2], Close: prices[3]}
	if u.From, _ = floatOf(before.Price); u.From != 0 { // the way goes on from the price before
		u.Since, u.Step = before.At, "1m"
		u.Path = []market.Bar{{Time: bar.Time - 60, Open: u.From, High: u.From, Low: u.From, Close: u.From}, bar}
	}
	tick, ok := NewTick(u)
	if !ok {
		s.t.Fatalf("%s: %v is no update", s.title, numbers)
	}
	tick.Begin(s.fed, before, Time{s.now.Add(-time.Hour)})
	s.quote = Quote{Price: tick.Exact, At: u.At, Known: u.At, Source: u.Source}
	if err := s.OnPrice(tick, s.fed, s.at()); err != nil {
		s.t.Fatalf("%s: %v", s.title, err)
	}
	s.fed = u.At
	if err := s.Propose(KindSeen, &Event{At: s.at(), Seen: map[string]*Seen{"AAA": {Price: tick.Exact, At: u.At}}}); err != nil {
		s.t.Fatal(err)
	}
}

func floatOf(d exact.Decimal) (f float64, err error) {
	_, err = fmt.Sscan(d.String(), &f)
	return f, err
}

// noLot is the step of quantities at a venue that has none.
func noLot(OrderRequest) exact.Decimal { return 0 }

// place places an order such as "e: buy 10 stop_limit 105 106 gtd 5m sl 97 tp 3% oco 95 replaces x
// reduce_only may_open post_only ioc dry". The prices of the type follow it, the stop first; of a
// trailing_stop a distance such as 2 or 3%. The quantity may be all, a percentage, or a risk such as
// risk=1%; a stop may be breakeven. In "m: change x price 95 stop breakeven quantity 5" the order
// names nothing but what is to change.
func (s *story) place(line string) {
	name, rest, _ := strings.Cut(line, ": ")
	words := strings.Fields(rest)
	next := func() (word string) {
		if word = words[0]; len(words) > 0 {
			words = words[1:]
		}
		return word
	}
	number := func() exact.Decimal {
		d, err := exact.Parse([]byte(next()))
		if err != nil {
			s.t.Fatalf("%s: %s: %v", s.title, line, err)
		}
		return d
	}
	exit := func() Exit {
		x, err := ParseExit(next())
		if err != nil {
			s.t.Fatalf("%s: %s: %v", s.title, line, err)
		}
		return x
	}
	r := OrderRequest{Symbol: "AAA", ClientOrderID: fmt.Sprintf("%s-%d", name, s.Seq)}
	size := func() {
		risk, isRisk := strings.CutPrefix(words[0], "risk=")
		share, isShare := strings.CutSuffix(words[0], "%")
		var err error
		switch {
		case words[0] == "all":
			r.All = true
		case isRisk:
			r.Risk, err = ParseRisk(risk)
		case isShare:
			r.Share, err = exact.Parse([]byte(share))
		default:
			r.Quantity, err = exact.Parse([]byte(words[0]))
		}
		if next(); err != nil {
			s.t.Fatalf("%s: %s: %v", s.title, line, err)
		}
	}
	stop := func() {
		if r.Breakeven = words[0] == "breakeven"; r.Breakeven {
			next()
		} else {
			r.StopPrice = number()
		}
	}
	if words[0] == "change" {
		next()
		r.Replaces = s.id(next())
	} else {
		r.Side = Side(next())
		size()
		r.Type = OrderType(next())
		if r.Type == Stop || r.Type == StopLimit {
			stop()
		}
		if r.Type.HasLimit() {
			r.Price = number()
		}
		if r.Type == TrailingStop {
			x := exit()
			r.TrailAmount, r.TrailPercent = x.Price, x.Percent
		}
	}
	for len(words) > 0 {
		switch word := next(); word {
		case "price":
			r.Price = number()
		case "stop":
			stop()
		case "quantity":
			size()
		case "sl":
			r.StopLoss = exit()
		case "tp":
			r.TakeProfit = exit()
		case "oco":
			r.OCO.StopPrice = number()
		case "replaces":
			r.Replaces = s.id(next())
		case "reduce_only":
			r.ReduceOnly = true
		case "may_open":
			r.MayOpen = true
		case "post_only":
			r.PostOnly = true
		case "gtd":
			d, err := time.ParseDuration(next())
			if err != nil {
				s.t.Fatal(err)
			}
			r.TimeInForce, r.ExpiresAt = GTD, s.now.Add(d)
		case "dry":
			r.DryRun = true
		default:
			r.TimeInForce = TimeInForce(word)
		}
	}
	err := r.Normalize()
	var o *Order
	var q Quote
	var fill exact.Decimal
	if err == nil {
		o, q, fill, err = s.Draft(&r, noLot, Inquiry{Answered: true}, s.at())
	}
	var ev *Event
	if err == nil {
		s.names[o.ID] = name
		ev, err = s.Arrive(r, o, q, fill)
	}
	switch {
	case err != nil:
		s.said = append(s.said, s.rename(err.Error()))
	case r.DryRun: // a decision that is not applied
		s.said = append(s.said, fmt.Sprintf("would be %s, with %d others", ev.Order.Status, len(ev.Begin)+len(ev.Ends)))
	default:
		if err := s.ProposeOrders(KindPlaced, ev, q.At, true); err != nil {
			s.t.Fatalf("%s: %v", s.title, err)
		}
	}
}

// encoded returns a state as a snapshot has it.
func (s *story) encoded(state *State) []byte {
	text, err := state.Snapshot().Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// replayed returns the state that all records since the newest snapshot lead to.
func (s *story) replayed() *State {
	state, err := DecodeState(s.Store, uint64(s.after), s.atHalf)
	for i := s.after; i < len(s.records) && err == nil; i++ {
		var ev *Event
		if ev, err = DecodeEvent(s.records[i]); err == nil {
			err = state.Apply(uint64(i+1), s.kinds[i], ev)
		}
	}
	if err != nil {
		s.t.Fatalf("%s: %v", s.title, err)
	}
	return state
}

// same reports an error if the records, or a snapshot, lead to another state than the one that
// has been used: restoring gives what was, whatever was before.
func (s *story) same() {
	used := s.encoded(s.State)
	restored, err := DecodeState(s.Store, s.Seq, used)
	if err != nil {
		s.t.Fatalf("%s: %v", s.title, err)
	}
	for from, state := range map[string]*State{"the records": s.replayed(), "a snapshot": restored} {
		if text := s.encoded(state); !bytes.Equal(text, used) {
			s.t.Fatalf("%s: from %s the state is\n%s\nand it was\n%s", s.title, from, text, used)
		}
		if state.OpenCount != s.OpenCount || state.slots != s.slots {
			s.t.Fatalf("%s: from %s %d orders are open in %d slots, and %d in %d were", s.title, from, state.OpenCount, state.slots, s.OpenCount, s.slots)
		}
	}
}
