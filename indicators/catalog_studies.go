package indicators

// studies lists what users of public scripts look for, each with its source in
// its file.
var studies = []*Indicator{
	&indZLSMA, &indTRAMA, &indNadarayaWatson, &indSSLChannel, &indRangeFilter, &indPMax, &indOTT, &indAlphaTrend,
	&indWaddahAttar, &indVFI, &indSmoothedHeikinAshi, &indPreviousLevels, &indOpeningRange,
	&indMarketStructure, &indFairValueGap,
	&indPercentRank, &indCumulativeSum, &indSharpe, &indSortino, &indMaxDrawdown,
}
