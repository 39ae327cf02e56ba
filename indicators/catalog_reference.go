package indicators

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
