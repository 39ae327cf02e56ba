package indicators

// reference lists the candle patterns, the indicators known from chart
// services that no library has, and those of data from outside the bars.
var reference = []*Indicator{
	&indCandles,
	&indVolumeProfile, &indSessionVP, &indHVNLVN, &indNakedPOC, &indTPO,
	&indCVD, &indHistVolatility,
	&indFunding, &indOI, &indLongShort, &indFearGreed,
}
