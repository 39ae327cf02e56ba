package indicators

// studies lists what users of public scripts look for, each with its source in
// its file.
var studies = []*Indicator{
	&indZLSMA, &indTRAMA, &indNadarayaWatson, &indSSLChannel, &indRangeFilter, &indPMax, &indOTT, &indAlphaTrend,
	&indHalfTrend, &indTechnicalRating, &indWeisWave, &indRelativeVolumeAtTime, &indWaddahAttar, &indVFI, &indSmoothedHeikinAshi, &indPreviousLevels, &indOpeningRange, &indSessions, &indKillZones,
	&indMarketStructure, &indFairValueGap, &indOrderBlock, &indBreakerBlock, &indLiquiditySweep, &indEqualHighsLows, &indSupplyDemand,
	&indSupportResistance, &indTrendLines, &indTrendChannel, &indDoubleTopBottom, &indHeadShoulders, &indTriangle, &indFlag,
	&indCorrelationVersus, &indBetaVersus, &indRatio, &indSpread, &indMansfieldRS,
	&indPercentRank, &indPercentile, &indCumulativeSum, &indSharpe, &indSortino, &indMaxDrawdown,
}
