package indicators

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"wick/limit"
)

// catalog lists every indicator, in the order in which clients see them: by
// category, then as the lists have them. Each is a variable in the file that
// bears its name.
var catalog = withZoneSignals(byCategory(classics, wider, reference))

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

// classics are the indicators that TA-Lib has.
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

// byName finds an indicator by any of its names. It is built once from the
// catalogue, so that a name given twice is found by the first test that runs.
var byName = index()

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

// ErrUnknown reports a name that no catalogue entry carries.
var ErrUnknown = errors.New("unknown indicator")

// Lookup returns the indicator called name, by its name or an alias, in any
// case; blanks and hyphens count as underscores.
func Lookup(name string) (*Indicator, error) {
	key := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
	if ind := byName[key]; ind != nil {
		return ind, nil
	}
	names := make([]string, 0, len(byName))
	for n := range byName {
		names = append(names, n)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("%w %q%s: call list_indicators for the names", ErrUnknown, limit.Clip(name), didYouMean(key, names))
}

// All yields the catalogue in its order.
func All() iter.Seq[*Indicator] { return slices.Values(catalog) }

// didYouMean returns `, did you mean "x"?` for the nearest of names, or nothing
// when none is near.
func didYouMean(name string, names []string) string {
	name = strings.ToLower(name)
	if len(name) > 40 {
		return ""
	}
	best, distance := "", 1+max(1, len(name)/3)
	for _, n := range names {
		if d := editDistance(name, strings.ToLower(n)); d < distance {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// editDistance is Levenshtein's: insertions, deletions and substitutions.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
