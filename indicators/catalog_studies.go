package indicators

// studies lists what users of public scripts look for, each with its source in
// its file.
var studies = []*Indicator{
	&indZLSMA, &indTRAMA, &indNadarayaWatson, &indSSLChannel, &indRangeFilter, &indPMax, &indOTT, &indAlphaTrend,
	&indWaddahAttar, &indVFI, &indSmoothedHeikinAshi, &indPreviousLevels, &indOpeningRange,
	&indMarketStructure, &indFairValueGap, &indOrderBlock, &indBreakerBlock, &indLiquiditySweep, &indEqualHighsLows, &indSupplyDemand,
	&indSupportResistance, &indTrendLines, &indTrendChannel, &indDoubleTopBottom, &indHeadShoulders, &indTriangle, &indFlag,
	&indPercentRank, &indCumulativeSum, &indSharpe, &indSortino, &indMaxDrawdown,
}
