package indicators

var indNVI = volumeIndex(Indicator{
	Name: "nvi", Title: "NVI", Aliases: []string{"negative_volume_index"},
	Doc:     "Negative volume index of Dysart and Fosback: follows the price only on bars with less volume than the bar before, when the crowd is away. Above its 255-bar average Fosback counted on a bull market.",
	Formula: "NVI = NVI[1] * close / close[1] when volume < volume[1], else NVI[1]",
}, func(volume, before float64) bool { return volume < before })
