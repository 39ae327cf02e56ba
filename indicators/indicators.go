// Package indicators is the catalogue of technical indicators. Package kernel has
// the arithmetic that they are made of, and package shape their signals and results.
//
// An [Indicator] is a record: its names, its parameters with their bounds, the
// signals it may emit, and one pure function from a market.Series and [Args]
// to a [Result]. The catalogue is one slice of such records; lookup, the list a
// client sees, the checks on an alert and the documentation are all read from
// it, so an indicator is written down once.
//
// A [Request] is an indicator with a value for each of its parameters. [Parse] makes
// requests from what a client sent: names, or objects with a name and parameters.
//
// Every series in a Result has one value per bar. A bar before the indicator
// has enough history holds NaN, which [Values] writes as null; values never
// depend on later bars unless the record says Repaints. Definitions follow
// TA-Lib; what TA-Lib lacks follows TradingView, and each record's text says
// which. Comments attribute an indicator to the person who is commonly named; the
// publications were not looked up.
//
// The package reads no clock. It opens nothing but the table of time zones, and
// keeps nothing else between calls.
package indicators

import (
	"iter"
	"slices"
	"sync"

	"wick/indicators/shape"
	"wick/market"
	"wick/rules"
)

// Indicator is one entry of the catalogue.
type Indicator struct {
	Name     string   // as list_indicators shows it: lower case, unique
	Title    string   // as a legend shows it, such as "RSI"
	Aliases  []string // further names that Lookup accepts
	Also     []string // names in other programs, which Lookup accepts too but lists do not show
	Category string   // one of Categories
	Doc      string   // what it shows, whose definition it follows
	Formula  string   // the definition in one line of plain text
	Overlay  bool     // drawn over the price, not in a panel of its own
	Repaints bool     // later bars may change earlier values

	// VisibleOnly marks an indicator that describes the bars of a chart as a whole, such
	// as a volume profile: it is computed only from them, without warm-up.
	VisibleOnly bool

	// Total marks a running total that begins at the first bar loaded. Only its changes
	// have a meaning: its level depends on where the history begins.
	Total bool

	// Product marks a Total that multiplies and does not add. Only the ratios of its values
	// have a meaning.
	Product bool

	// Endless returns which parameter makes an indicator that usually forgets where the
	// history begins run from the first bar loaded, and the value that it needs, such as
	// "anchor to day"; "" if none does. Nil if it always forgets, or is a Total or has Since.
	Endless func(a Args) string

	// Since returns the moment, in unix seconds, that an indicator accumulates
	// from; 0 means the first bar loaded. Nil if it does not.
	Since func(a Args) int64

	Params  []Param
	Ignores []string // parameters of other programs, such as colours, that are accepted and have no effect; Doc says so
	Signals []string // labels it may emit; an alert may name no other
	// Silent returns which parameter keeps a from ever emitting one of the signals, and the
	// value that it needs, such as "pattern to all"; "" if none does. Nil if no parameter
	// does but divergence and the zones, of which [Request.Silent] knows.
	Silent func(a Args, label string) string
	// Beyond is set if lines may leave the fixed range of the panel.
	Beyond bool
	// ZoneLine is the label of the line whose entries into the zones are signals;
	// empty means the first.
	ZoneLine string

	// Meanings says when a signal fires whose label has a special meaning in this
	// indicator. The method Meaning covers all labels.
	Meanings map[string]string

	Needs []string // columns of Series.Extra that it needs

	// Warmup returns how many bars before the first one shown are needed so that a longer
	// history would not change its values. Nil means defaultWarmup.
	Warmup func(a Args) int

	// History replaces Warmup for an indicator that follows the calendar: it returns how
	// many seconds of history before the first bar shown are needed, at the given
	// interval.
	History func(a Args, iv market.Interval) int64

	// Compute returns the values for every bar of s. It must not write to s, and must
	// accept any number of bars, including none.
	Compute func(s *market.Series, a Args) *Result
}

// Categories, in the order in which the documentation lists them.
const (
	Trend      = "trend"
	Momentum   = "momentum"
	Volatility = "volatility"
	Volume     = "volume"
	Price      = "price"
	Statistics = "statistics"
	Cycle      = "cycle"
	Pattern    = "pattern"
	External   = "external"
	Rules      = "rules"
)

// Categories returns the categories there are.
func Categories() []string {
	return []string{Trend, Momentum, Volatility, Volume, Price, Statistics, Cycle, Pattern, External, Rules}
}

// Kind says what values a parameter takes.
type Kind uint8

// The kinds of parameters. A Number is the zero value.
const (
	Number     Kind = iota // any number within the bounds
	Int                    // a whole number within the bounds
	Bool                   // true or false
	Choice                 // one of Param.Choices
	Date                   // a moment: a date, a time or unix seconds; 0 for none
	Expression             // in the language of package rules
	Symbol                 // another market, in any spelling that its source takes
)

// Param is one parameter of an indicator.
type Param struct {
	Name     string
	Aliases  []string // other spellings people use, such as "period" for "length"
	Doc      string
	Kind     Kind
	Default  float64  // for Bool 0 or 1, for Choice an index into Choices
	Min, Max float64  // bounds, both allowed; for Number and Int
	Choices  []string // what a Choice may be
	Quiet    bool     // left out of the label: levels, ways of drawing
	Percent  bool     // a number that may be written with a percent sign
	Auto     bool     // a number whose 0 may be written auto
	Many     bool     // a Choice that takes several: an array, or names divided by commas; an Expression that takes several, divided by semicolons

	Text      string // of a Symbol: the default; of an Expression: what stands for it until a client gives one, an example if it is Required
	Required  bool   // an Expression that a client must give: see [Request.Check]
	Condition bool   // an Expression that must be true or false, not a number
}

// Args are the parameters of one request: every parameter of the indicator has a value
// within its bounds.
type Args struct {
	ind    *Indicator
	values []float64        // parallel to ind.Params
	chosen map[string][]int // of parameters that take several choices: which

	texts map[string]string // symbols, by parameter
	of    *Request          // the request whose line stands for the parameter "source", if one was given

	exprs map[string][]*rules.Expr // of expressions, by parameter; empty for none
	given map[string]bool          // expressions that a client gave
	needs *sync.Map                // what history returned, by interval
	memo  Memo                     // shared with other requests; nil for none

	linesOnly bool // only lines will be read: signals that are costly may be left out
	newest    int  // how many of the newest bars will be read: earlier values may be left out; 0 for all
}

// firstRead returns the first of total bars that will be read.
func (a Args) firstRead(total int) int {
	if a.newest == 0 {
		return 0
	}
	return max(0, total-a.newest)
}

// Float returns the parameter called name. Asking for a parameter that the
// indicator does not have is a mistake in the catalogue and panics.
func (a Args) Float(name string) float64 { return a.values[a.ind.mustHave(name)] }

// Int returns the whole-number parameter called name.
func (a Args) Int(name string) int { return int(a.Float(name)) }

// Bool returns the true-or-false parameter called name.
func (a Args) Bool(name string) bool { return a.Float(name) != 0 }

// Choice returns the chosen word of the parameter called name.
func (a Args) Choice(name string) string {
	i := a.ind.mustHave(name)
	return a.ind.Params[i].Choices[int(a.values[i])]
}

// Chosen returns the words of the parameter called name, which takes several, in
// the order of its choices; its default if none was given.
func (a Args) Chosen(name string) []string {
	i := a.ind.index(name)
	var words []string
	for _, k := range a.chosen[name] {
		words = append(words, a.ind.Params[i].Choices[k])
	}
	if words == nil {
		words = []string{a.Choice(name)}
	}
	return words
}

// Text returns the symbol that the parameter called name was given.
func (a Args) Text(name string) string { return a.texts[name] }

// mustHave returns the index of the parameter called name, and panics if there is
// none.
func (ind *Indicator) mustHave(name string) int {
	if i := ind.index(name); i >= 0 {
		return i
	}
	panic("indicators: " + ind.Name + " has no parameter " + name)
}

// index returns the index of the parameter called name, or -1.
func (ind *Indicator) index(name string) int {
	for i := range ind.Params { // by index: a Param is too large to copy for each look
		if ind.Params[i].Name == name {
			return i
		}
	}
	return -1
}

// Request is an indicator with a value for each of its parameters.
type Request struct {
	// Key is the key of its results: the name that the client used, followed by "#2" and
	// so on if the name is used again.
	Key  string
	Ind  *Indicator
	Args Args
}

// Memo keeps what expressions computed, for requests on the same bars, so that a part
// which several expressions share is computed once. Only one goroutine may use a Memo, and
// only for bars with the same last bar.
type Memo map[string]*rules.Evaluator

// What an indicator returns is declared in package shape; these names are the
// same types, so that callers of this package need no other.
type (
	Result    = shape.Result
	Fact      = shape.Fact
	Tone      = shape.Tone
	Style     = shape.Style
	Line      = shape.Line
	Histogram = shape.Histogram
	Signal    = shape.Signal
	HLine     = shape.HLine
	Fill      = shape.Fill
	HBar      = shape.HBar
	DivLine   = shape.DivLine
	Values    = shape.Values
)

// The tones and styles of shape.
const (
	Auto    = shape.Auto
	Primary = shape.Primary
	Second  = shape.Second
	Up      = shape.Up
	Down    = shape.Down
	Muted   = shape.Muted
	Band    = shape.Band
	Accent  = shape.Accent

	Solid  = shape.Solid
	Dashed = shape.Dashed
	Dots   = shape.Dots
	Step   = shape.Step
)

// BecomesTrue is the label of a bar on which a rule becomes true.
const BecomesTrue = shape.BecomesTrue

// AppendValue appends x to b as JSON, as [Values] writes it.
func AppendValue(b []byte, x float64) []byte { return shape.AppendValue(b, x) }

// catalog lists every indicator, in the order in which clients see them: by category, then
// in the order of the lists. Each is a variable in the file of its family.
var catalog = withZoneSignals(byCategory(classics, wider, reference, studies, expressions))

// byCategory returns the indicators of all lists, those of one category together, in
// the order of Categories; within a category they keep the order of the lists.
func byCategory(lists ...[]*Indicator) []*Indicator {
	var out []*Indicator
	for _, category := range Categories() {
		for _, ind := range slices.Concat(lists...) {
			if ind.Category == category {
				out = append(out, ind)
			}
		}
	}
	return out
}

// classics are the indicators that TA-Lib had before 0.8.1, and the stack of its ema. What
// 0.8.1 added stands where it stood before, in the lists below.
var classics = []*Indicator{
	// Trend.
	&indSMA, &indEMA, &indEMAStack, &indWMA, &indDEMA, &indTEMA, &indTRIMA, &indKAMA, &indMAMA, &indT3, &indMA, &indMAVP,
	&indLSMA, &indTSF, &indMidpoint, &indMidprice, &indSAR, &indSARExt,
	&indADX, &indADXR, &indDX, &indPlusDI, &indMinusDI, &indPlusDM, &indMinusDM, &indAroon, &indAroonOsc,
	// Momentum.
	&indRSI, &indMACD, &indMACDExt, &indMACDFix, &indStoch, &indStochF, &indStochRSI, &indCCI, &indWillR, &indCMO, &indIMI,
	&indMOM, &indROC, &indROCP, &indROCR, &indROCR100, &indAPO, &indPPO, &indTRIX, &indUltOsc, &indBOP,
	// Volatility.
	&indBBands, &indAccbands, &indATR, &indNATR, &indTrueRange,
	// Volume.
	&indOBV, &indAD, &indADOsc, &indMFI,
	// Price.
	&indAvgPrice, &indMedPrice, &indTypPrice, &indWclPrice,
	// Statistics.
	&indStdDev, &indVariance, &indAvgDev, &indLinregSlope, &indLinregAngle, &indLinregIntercept, &indCorrel, &indBeta,
	&indMax, &indMin, &indMinMax, &indSum, &indMaxIndex, &indMinIndex, &indMinMaxIndex,
	// Cycle.
	&indHTTrendline, &indHTDCPeriod, &indHTDCPhase, &indHTPhasor, &indHTSine, &indHTTrendMode,
}

// byName has every indicator under each of its names. It is built at the start from the
// catalogue, so that any test finds a name that is given twice.
var byName = index()

// index returns the map of byName. A name that two entries claim panics, at start and
// so in every test.
func index() map[string]*Indicator {
	m := make(map[string]*Indicator)
	for _, ind := range catalog {
		for _, name := range append([]string{ind.Name}, ind.Aliases...) {
			if other, taken := m[name]; taken {
				panic("indicators: " + ind.Name + " and " + other.Name + " both claim " + name)
			}
			m[name] = ind
		}
	}
	return m
}

// All yields the catalogue in its order.
func All() iter.Seq[*Indicator] { return slices.Values(catalog) }

// wider lists indicators that TA-Lib lacks, or lacked before 0.8.1: first those on which
// several libraries agree, then some that charts are often asked for.
var wider = []*Indicator{
	// Averages.
	&indRMA, &indHMA, &indALMA, &indVWMA, &indZLEMA, &indMcGinley, &indVIDYA, &indSWMA, &indGMMA, &indAlligator,
	// Bands, stops and levels.
	&indKeltner, &indDonchian, &indEnvelope, &indSupertrend, &indChandelierExit, &indChandeKrollStop, &indGannHiLo,
	&indIchimoku, &indChikou, &indVWAP, &indPivot, &indPivotClassic, &indPivotFibonacci, &indPivotCamarilla, &indPivotWoodie, &indPivotDeMark,
	&indFractals, &indHeikinAshi,
	// Momentum and trend strength.
	&indConnorsRSI, &indLaguerreRSI, &indTSI, &indSMI, &indKDJ, &indAwesomeOscillator, &indAcceleratorOscillator, &indGator,
	&indVortex, &indDPO, &indKST, &indCoppock, &indFisher, &indWaveTrend, &indSTC, &indSqueeze, &indQQE, &indRVGI, &indElderRay,
	&indPMO, &indPsychologicalLine, &indPrettyGoodOscillator, &indBias, &indCFO, &indCenterOfGravity, &indCorrelationTrend,
	&indQStick, &indVHF, &indRankCorrelation,
	// Volatility.
	&indChoppiness, &indBBPercentB, &indBBBandwidth, &indChaikinVolatility, &indMassIndex, &indUlcerIndex,
	// Volume.
	&indCMF, &indForceIndex, &indEMV, &indKlinger, &indNVI, &indPVI, &indPVT, &indPVO, &indVolumeOscillator, &indWAD, &indMarketFI,
	// Of one definition, without vectors.
	&indLinregChannel, &indSTARC, &indVolatilityStop, &indUTBot, &indTWAP, &indCPR,
	&indChopZone, &indSMIErgodic, &indWoodiesCCI, &indDeMarker, &indBBTrend,
}

// reference lists the candle patterns, the indicators of chart services that no
// library judges, and those of data from outside the bars.
var reference = []*Indicator{
	// Candles and profiles.
	&indCandles, &indVolumeProfile, &indSessionVP, &indHVNLVN, &indNakedPOC, &indTPO,
	// Averages, levels and counts.
	&indVWAPBands, &indVWAPRolling, &indVWAPAnchored, &indMACross, &indMARibbon, &indFRAMA, &indSuperSmoother,
	&indPivotHighLow, &indZigZag, &indFibonacci, &indTDSequential,
	// Momentum.
	&indCipherB, &indRSIMFIStoch, &indKalmanVolume, &indRMI, &indIBS, &indEfficiencyRatio,
	// Volatility.
	&indHistVolatility, &indRVIVolatility, &indWilliamsVixFix, &indADR,
	// Volume.
	&indVolume, &indRelativeVolume, &indNetVolume, &indCVD,
	// Statistics.
	&indZScore, &indSkew, &indKurtosis, &indHurst, &indDrawdown, &indLogReturn, &indPercentReturn,
	// From outside the bars.
	&indFunding, &indOI, &indLongShort, &indFearGreed,
}

// studies lists what users of public scripts look for, each with its source
// beside it.
var studies = []*Indicator{
	&indZLSMA, &indTRAMA, &indNadarayaWatson, &indSSLChannel, &indRangeFilter, &indPMax, &indOTT, &indAlphaTrend,
	&indHalfTrend, &indTechnicalRating, &indWeisWave, &indRelativeVolumeAtTime, &indWaddahAttar, &indVFI, &indSmoothedHeikinAshi, &indPreviousLevels, &indOpeningRange, &indSessions, &indKillZones,
	&indMarketStructure, &indFairValueGap, &indOrderBlock, &indBreakerBlock, &indLiquiditySweep, &indEqualHighsLows, &indSupplyDemand,
	&indSupportResistance, &indTrendLines, &indTrendChannel, &indDoubleTopBottom, &indHeadShoulders, &indTriangle, &indFlag,
	&indCorrelationVersus, &indBetaVersus, &indRatio, &indSpread, &indMansfieldRS,
	&indPercentRank, &indPercentile, &indCumulativeSum, &indSharpe, &indSortino, &indMaxDrawdown,
}

// expressions are the entries whose parameters are texts in the language of
// package rules.
var expressions = []*Indicator{&indRule, &indFormula, &indBacktest}
