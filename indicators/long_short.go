package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

var indLongShort = Indicator{
	Name: "long_short", Title: "Long/short", Aliases: []string{"ls_ratio", "long_short_ratio"}, Category: External,
	Doc:      "Fractions of accounts that are long and short. Signals mark where the majority changes.",
	Formula:  "long and short accounts, each over all",
	Needs:    []string{market.ExtraLong, market.ExtraShort},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the fraction that is long", "the one that is short"),
	Warmup:   barWarmup,
	Compute: func(s *market.Series, _ Args) *Result {
		long, short := extra(s, market.ExtraLong), extra(s, market.ExtraShort)
		return &Result{
			YRange:  &[2]float64{0, 1},
			Lines:   []Line{{Label: "Long", Tone: Up, Values: long}, {Label: "Short", Tone: Down, Values: short}},
			Fills:   []Fill{{Y1: long, Y2: short, Tone: Up, Below: Down}},
			HLines:  []HLine{{Y: 0.5}},
			Signals: shape.LineCrossings(nil, long, short, shape.CrossUp, shape.CrossDown),
		}
	},
}
