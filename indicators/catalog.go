package indicators

import (
	"iter"
	"slices"
)

// catalog lists every indicator, in the order in which clients see them: by category, then
// in the order of the lists. Each is a variable in the file that has its name.
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
