package indicators

// wider lists the indicators that TA-Lib lacks: first those on which several
// libraries agree, then some that charts are often asked for.
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
