package market

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Sample is the built-in source: invented bars for any symbol, marked as
// synthetic. The price is a pure function of symbol and time, so a restart
// changes nothing. The bars of all intervals are cut from one path, so a 4h bar
// is exactly its four 1h bars. The zero value is ready to use.
//
// The path is a tree. A span of 512 days is halved again and again down to
// days: the price in the middle of a span is the mean of its ends, changed by a
// random amount. The usual size of these amounts is divided unevenly between the two
// halves, which makes calm and volatile times, and extreme moves as often as in real
// markets. Within a day a bar is split into shorter bars that together have its open,
// high, low and close. Any bar is reached from the top in a few dozen steps.
type Sample struct{}

// sampleBegin is the first instant that has a price: 1980-01-01.
const sampleBegin = 315532800

func (s Sample) venue() *Venue {
	return &Venue{name: "sample", columns: sampleColumns, resolve: resolvePlain, bars: s.Bars, known: knownSample}
}

// knownSample returns what people ask for first. The sample has a price for everything.
func knownSample() []string {
	return slices.Concat(binance.usual, []string{"EURUSD", "USDJPY", "XAUUSD", "AAPL", "MSFT", "NVDA", "TSLA", "SPY"})
}

// Bars returns the newest bars as of now.
func (s Sample) Bars(_ context.Context, q Query) (*Series, error) { return s.At(q, time.Now()) }

// At returns the bars that Bars would have returned at the instant now.
func (s Sample) At(q Query, now time.Time) (*Series, error) {
	q, err := q.checked(s.venue())
	if err != nil {
		return nil, err
	}
	// The current second counts as over: within it the price does not change.
	end := now.Unix() + 1
	if end <= sampleBegin {
		return nil, fmt.Errorf("sample: no prices before 1980, and the clock says %s", now.UTC().Format(time.DateOnly))
	}
	// The first bar is limit-1 bars before that of now, but not before there are prices.
	length := q.Interval.Seconds()
	if q.Interval == Month1 {
		length = 31 * day
	}
	from := q.Interval.Start(now.Unix() - int64(q.Limit-1)*length)
	if from < sampleBegin {
		from = q.Interval.Next(q.Interval.Start(sampleBegin))
	}
	w := newWalk(q.Symbol)
	w.from, w.to = from, end
	for min(length, day)%tree[w.depth].seconds != 0 { // weeks and months are made of days
		w.depth++
	}
	w.rows = make([]Bar, 0, (end-from)/tree[w.depth].seconds+100) // the forming bar is of finer ones
	for first := floor(from/day, spanDays); first*day < end; first += spanDays {
		w.days(segment{w.level, w.level, 1}, first, spanLevels)
	}
	about := Series{Symbol: q.Symbol, Source: "sample", Synthetic: true, AsOf: now.UnixMilli(), PriceAt: now.UnixMilli()}
	about.Grow(q.Limit + 1)
	bars := resample(about, w.rows, q.Interval, nil, now.Unix()).Tail(q.Limit)
	for _, column := range [][]float64{bars.Open, bars.High, bars.Low, bars.Close} {
		for i, log := range column {
			column[i] = w.price(log)
		}
	}
	for _, name := range q.Extra {
		shape := sampleExtras[name]
		seed, column := seedOf(bars.Symbol+shape.seed), make([]float64, bars.Len())
		for i, t := range bars.Time {
			column[i] = shape.middle + float64(shape.reach*wave(seed, t))
		}
		bars.setExtra(name, column)
	}
	return bars, nil
}

// sampleExtras holds the mean of each column and how far it goes from it, in slow waves, so that
// the indicators that need them can be tried. Long and short have the same seed and opposite signs, because they add up to one.
var sampleExtras = map[string]struct {
	seed          string
	middle, reach float64
}{
	ExtraFunding:   {"funding", 0.0001, 0.0004},
	ExtraOI:        {"oi", 5e9, 2e9},
	ExtraLong:      {"accounts", 0.5, 0.2},
	ExtraShort:     {"accounts", 0.5, -0.2},
	ExtraFearGreed: {"fear", 50, 40},
}

var sampleColumns = slices.Sorted(maps.Keys(sampleExtras))

// wave returns a smooth function of time between -1 and 1: random heights
// every 8 hours and every 8 days, joined by straight lines.
func wave(seed uint64, t int64) float64 {
	line := func(step int64) float64 {
		k := floor(t, step) / step
		a, b := unit(mix(seed^uint64(k*7+step))), unit(mix(seed^uint64((k+1)*7+step)))
		return a + float64((b-a)*(float64(t-k*step)/float64(step)))
	}
	return float64(0.6*(2*line(8*day)-1)) + float64(0.4*(2*line(8*hour)-1))
}

// walk is the path of a symbol, of which it gathers the nodes of one depth between two instants, with
// the logarithms of their prices. Of a node that ends after the second it takes only the finer
// parts that end before.
type walk struct {
	seed   uint64
	level  float64 // logarithm of the price at the ends of spans
	move   float64 // usual size of a day's log return
	traded float64 // usual volume of a day
	scale  float64 // prices are whole multiples of 1/scale

	from, to int64
	depth    int
	rows     []Bar
}

// segment is a run of days: the logarithms of the prices at its ends, and the variance
// of a day within it in units of the usual one.
type segment struct{ from, to, variance float64 }

// newWalk returns the walk of a symbol. What people know has the price that they expect of it;
// any other symbol has one from 5 to 500, evenly in the logarithm. All depends on the symbol alone.
func newWalk(symbol string) *walk {
	w := &walk{seed: seedOf(symbol), scale: 100}
	a, steps := assets[symbol], 200.0
	if a.price == 0 {
		a, steps = pairOf(symbol), 450
	}
	if a.price == 0 {
		a = asset{price: 5 * math.Exp(float64(unit(w.seed)*math.Log(100))), move: 0.022, traded: 1e7}
	}
	w.level, w.move, w.traded = math.Log(a.price), a.move, a.traded
	// A step of the price is a cent, or so small that a usual day moves by many of them and
	// seconds can be told apart.
	for w.scale < 1e8 && a.price*a.move*w.scale < steps {
		w.scale *= 10
	}
	return w
}

func seedOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text)) // it never fails
	return mix(h.Sum64())
}

// asset is something that people trade: a coin, a currency, a metal, a stock, an index.
type asset struct {
	name   string
	price  float64 // in dollars, about
	move   float64 // usual size of a day's log return
	traded float64 // usual volume of a day
}

// assets has what people know: the names by which they ask for it, and the prices that the sample
// gives it.
var assets = map[string]asset{
	"BTC": {"Bitcoin", 61000, 0.022, 4e4}, "ETH": {"Ethereum", 3200, 0.028, 6e5}, "SOL": {"Solana", 150, 0.033, 5e6}, "BNB": {"BNB", 620, 0.022, 5e5},
	"XRP": {"XRP (Ripple)", 2.1, 0.032, 3e8}, "DOGE": {"Dogecoin", 0.17, 0.035, 1.5e9}, "ADA": {"Cardano", 0.65, 0.033, 2e8}, "AVAX": {"Avalanche", 28, 0.034, 6e6},
	"LINK": {"Chainlink", 16, 0.033, 6e6}, "LTC": {"Litecoin", 95, 0.032, 1e6}, "DOT": {"Polkadot", 5, 0.032, 8e6}, "TRX": {"Tron", 0.28, 0.022, 4e8},
	"SHIB": {"Shiba Inu", 0.000013, 0.035, 8e12}, "BCH": {"Bitcoin Cash", 420, 0.033, 2e5}, "XLM": {"Stellar", 0.3, 0.032, 3e8}, "UNI": {"Uniswap", 8, 0.035, 8e6},

	"USD": {"US dollar", 1, 0, 1e9}, "EUR": {"Euro", 1.12, 0.0048, 1e9}, "GBP": {"British pound", 1.3, 0.005, 5e8}, "CHF": {"Swiss franc", 1.18, 0.005, 3e8},
	"JPY": {"Japanese yen", 1 / 148.0, 0.0058, 1e11}, "CAD": {"Canadian dollar", 0.72, 0.004, 3e8}, "AUD": {"Australian dollar", 0.66, 0.006, 4e8},
	"NZD": {"New Zealand dollar", 0.6, 0.0062, 2e8}, "XAU": {"Gold", 3300, 0.01, 2e5}, "XAG": {"Silver", 36, 0.018, 5e6},

	"AAPL": {"Apple", 225, 0.016, 5e7}, "MSFT": {"Microsoft", 430, 0.015, 2e7}, "NVDA": {"Nvidia", 140, 0.027, 2e8}, "AMZN": {"Amazon", 200, 0.019, 4e7},
	"GOOGL": {"Alphabet (Google)", 180, 0.018, 3e7}, "META": {"Meta (Facebook)", 580, 0.021, 1.5e7}, "TSLA": {"Tesla", 290, 0.033, 9e7},
	"SPY": {"S&P 500 (SPDR)", 580, 0.009, 6e7}, "QQQ": {"Nasdaq 100 (Invesco)", 490, 0.012, 4e7}, "^GSPC": {"S&P 500", 5800, 0.009, 3e9},
	"GC=F": {"Gold", 3300, 0.01, 2e5}, "CL=F": {"Crude oil", 72, 0.02, 3e5},
}

// pairOf returns the price of one side of a pair in the other, if both are known, and else an
// asset without a price. A token that stands for a dollar counts as one.
func pairOf(symbol string) asset {
	dollars := func(name string) asset {
		if strings.Contains(name, "USD") || name == "DAI" {
			name = "USD"
		}
		return assets[name]
	}
	base, quote, _ := anyPair(symbol)
	a, in := dollars(base), dollars(quote)
	if a.price == 0 || in.price == 0 {
		return asset{}
	}
	a.price /= in.price
	a.move = max(math.Hypot(a.move, in.move), 0.0001) // a dollar in dollars moves a little too
	return a
}

// days adds the 1<<shift days from first on, of which s is the segment, or their parts.
func (w *walk) days(s segment, first int64, shift int) {
	length := int64(1) << shift
	switch {
	case (first+length)*day <= w.from || first*day >= w.to:
	case shift == 0:
		h := mix(w.seed ^ uint64(first)*0x9e3779b97f4a7c15)
		reach := 0.8 * w.move * math.Sqrt(s.variance)
		high, low := max(s.from, s.to)+float64(reach*unit16(h)), min(s.from, s.to)-float64(reach*unit16(h>>16))
		// Volume follows the day's range.
		volume := math.Floor(w.traded * (0.3 + unit16(h>>32)) * (0.2 + (high-low)/w.move))
		w.descend(&Bar{first * day, s.from, high, low, s.to, volume}, 0)
	default:
		h := mix(w.seed ^ uint64(first>>shift)*0xbf58476d1ce4e5b9 + uint64(spanLevels-shift))
		w.days(s.half(w.move, shift, false, h), first, shift-1)
		w.days(s.half(w.move, shift, true, h), first+length/2, shift-1)
	}
}

// descend adds n, a node of level, or its parts to the rows.
func (w *walk) descend(n *Bar, level int) {
	length := tree[level].seconds
	switch {
	case n.Time+length <= w.from || n.Time >= w.to:
		return
	case level >= w.depth && n.Time+length <= w.to:
		w.rows = append(w.rows, *n)
		return
	}
	// Each node is split with a seed of its own. So any part of the path can be computed
	// without the rest, and is always the same.
	var children [12]Bar
	k := tree[level].children
	split(n, children[:k], w.seed^mix(uint64(n.Time)*uint64(len(tree))+uint64(level)))
	for i := range k {
		children[i].Time = n.Time + int64(i)*(length/int64(k))
		w.descend(&children[i], level+1)
	}
}

// price returns the price of a logarithm. Rounding never changes which of two is the higher.
func (w *walk) price(log float64) float64 {
	return math.Round(math.Exp(log)*w.scale) / w.scale
}

// tree lists the levels below a day: how long a node is and into how many
// children it is split. A node is a bar of logarithms of prices, with a whole number of units as
// volume, so that sums are exact. Every interval up to a day is a whole number of nodes
// of some level.
var tree = [...]struct {
	seconds  int64
	children int
}{
	{day, 6}, {4 * hour, 4}, {hour, 4}, {15 * minute, 3}, {5 * minute, 5}, {minute, 12}, {5, 5}, {1, 0},
}

// The shape of the path, chosen so that it looks like a market.
const (
	spanLevels = 9               // halvings from a span down to a day
	spanDays   = 1 << spanLevels // about a year and a half
	uneven     = 0.6             // how unevenly variance is divided between the halves
	calm       = 0.05            // least variance of a half, in units of the usual one, so that no part is flat
)

// half returns one half of a segment of 1<<shift days, the later one if right is set.
// The price in the middle differs from the mean of the ends as it would in a random walk
// of that variance: usually by half of what that moves in the time. The variance is divided
// unevenly between the halves.
func (s segment) half(move float64, shift int, right bool, h uint64) segment {
	usual := move / 2 * math.Sqrt(float64(int64(1)<<shift))
	middle := (s.from+s.to)/2 + float64(usual*math.Sqrt(s.variance)*gauss(h))
	w := uneven * (float64(2*unit16(h>>48)) - 1)
	if right {
		w = -w
		s.from = middle
	} else {
		s.to = middle
	}
	s.variance = calm + float64((1-calm)*s.variance*(1+w))
	return s
}

// split fills children with parts of n of equal length: a random walk from its
// open to its close that stays within its low and high. One part gets the high
// and one the low. The range of a random walk is about 1.6 of its deviations:
// from that follow the size of a step, and how far the high and low of a part
// are from its open and close.
func split(n *Bar, children []Bar, seed uint64) {
	k := len(children)
	step := 0.6 * (n.High - n.Low) / math.Sqrt(float64(k))
	var walk, size, weight [13]float64
	for i := range k {
		h := mix(seed + uint64(i)*0x9e3779b97f4a7c15)
		size[i] = step * (0.7 + float64(0.6*unit16(h>>48)))
		walk[i+1] = walk[i] + float64(size[i]*gauss(h))
	}
	// The walk is tilted so that it ends at the close, and folded back where it leaves
	// the range.
	drift := (n.Close - n.Open - walk[k]) / float64(k)
	at, top, bottom := n.Open, 0, 0
	for i := range k {
		next := n.Close
		if i < k-1 {
			next = n.Open + walk[i+1] + float64(drift*float64(i+1))
			if next > n.High {
				next = n.High - (next - n.High)
			}
			if next < n.Low {
				next = n.Low + (n.Low - next)
			}
			next = min(max(next, n.Low), n.High)
		}
		// Not the random number of the step: how far a part reaches must not depend on its
		// direction.
		h := mix(^seed + uint64(i)*0xbf58476d1ce4e5b9)
		hi, lo := max(at, next), min(at, next)
		c := &children[i]
		c.Open, c.Close = at, next
		reach := max(0.2*size[i], 1.8*size[i]-(hi-lo)) // its range beyond open and close
		c.High = min(n.High, hi+float64(reach*(0.2+float64(0.6*unit16(h)))))
		c.Low = max(n.Low, lo-float64(reach*(0.2+float64(0.6*unit16(h>>16)))))
		weight[i+1] = weight[i] + (0.2+unit16(h>>32))*size[i]
		if c.High > children[top].High {
			top = i
		}
		if c.Low < children[bottom].Low {
			bottom = i
		}
		at = next
	}
	children[top].High, children[bottom].Low = n.High, n.Low
	// The volume is divided in whole units.
	given := 0.0
	for i := range children {
		upto := n.Volume
		if i < k-1 && weight[k] > 0 {
			upto = math.Floor(n.Volume * (weight[i+1] / weight[k]))
		}
		children[i].Volume = upto - given
		given = upto
	}
}

// mix is the last step of SplitMix64: every bit of x affects every bit of the result.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit returns a number from 0 to 1 made of the top bits of h.
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// unit16 returns a number from 0 to 1 made of the low 16 bits of h.
func unit16(h uint64) float64 { return float64(h&0xffff) / 0x10000 }

// gauss returns a nearly normal number of mean 0 and variance 1 made of the
// low 48 bits of h: the sum of three uniform ones, scaled.
func gauss(h uint64) float64 {
	sum := h&0xffff + h>>16&0xffff + h>>32&0xffff // whole numbers, so that only one is converted
	return float64(float64(sum)/0x8000) - 3
}
