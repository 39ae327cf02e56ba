// Command chart draws one job with wick and with four other Go libraries in
// one run. It prints the CPU time and the bytes that each takes, and wick's
// figures as a part of those of the best of the others. Noise of the machine
// affects all in the same way, so the ratios can be trusted where milliseconds
// cannot.
//
// The job: a PNG of 200 bars with candles, volume, four averages, Bollinger
// bands with fill, an RSI panel with its levels and a MACD panel with
// histogram, axis labels and a legend.
//
//	cd test/bench && go run ./chart
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"time"

	"wick/bench/contest"
	"wick/indicators"
	"wick/market"
)

// job is what every library draws. The columns are aligned with the bars and
// NaN before they are warm.
type job struct {
	w, h   int
	series *market.Series

	ema                     [4][]float64
	middle, upper, lower    []float64
	rsi                     []float64
	macd, signal, histogram []float64
	results                 []*indicators.Result
}

// drawer draws a job and returns the PNG.
type drawer struct {
	name string
	draw func(*job) ([]byte, error)
}

var drawers = []drawer{
	{"wick", drawWick},
	{"fogleman/gg, by hand", drawGG},
	{"wcharczuk/go-chart", drawGoChart},
	{"gonum/plot", drawGonum},
	{"vicanso/go-charts", drawVicanso},
}

func main() {
	log.SetFlags(0)
	rounds := flag.Int("n", 7, "rounds; the median counts")
	flag.Parse()
	for _, size := range [][2]int{{1920, 1080}, {1200, 700}} {
		if err := compare(newJob(size[0], size[1]), *rounds); err != nil {
			log.Fatal(err)
		}
	}
}

// compare draws j rounds times with each library and prints the medians.
func compare(j *job, rounds int) error {
	cpu := make([][]time.Duration, len(drawers))
	bytes := make([]int, len(drawers))
	for i, d := range drawers {
		runtime.GC() // so that none collects the garbage of another
		for round := range rounds + 1 {
			start := cpuTime()
			data, err := d.draw(j)
			if err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
			if round > 0 { // the first warms fonts and pools
				cpu[i] = append(cpu[i], cpuTime()-start)
			}
			bytes[i] = len(data)
		}
	}
	fmt.Printf("%dx%d, 200 bars, median of %d\n%-24s %10s %10s\n", j.w, j.h, rounds, "", "cpu ms", "KB")
	best, least := math.Inf(1), math.MaxInt
	medians := make([]float64, len(drawers))
	for i, d := range drawers {
		slices.Sort(cpu[i])
		medians[i] = float64(cpu[i][rounds/2].Microseconds()) / 1000
		fmt.Printf("%-24s %10.1f %10.0f\n", d.name, medians[i], float64(bytes[i])/1000)
		contest.Behind(fmt.Sprintf("a chart of %dx%d, ms of CPU", j.w, j.h), d.name, medians[i], medians[0])
		contest.Behind(fmt.Sprintf("a chart of %dx%d, bytes", j.w, j.h), d.name, float64(bytes[i]), float64(bytes[0]))
		if i > 0 && medians[i] < best {
			best = medians[i]
		}
		if i > 0 {
			least = min(least, bytes[i])
		}
	}
	fmt.Printf("wick takes 1/%.0f of the fastest's CPU time, %.2f of gg's bytes, %.2f of the smallest's\n\n", best/medians[0],
		float64(bytes[0])/float64(bytes[1]), float64(bytes[0])/float64(least))
	return nil
}

// cpuTime returns the CPU time this process has used, in user and system mode.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// newJob computes the columns once: drawing is measured, not computing.
func newJob(w, h int) *job {
	j := &job{w: w, h: h, series: walk(200)}
	for _, name := range []string{"ema_stack", "bbands", "rsi", "macd"} {
		request, err := indicators.New(name, nil)
		if err != nil {
			log.Fatal(err)
		}
		r := request.Compute(j.series)
		r.Signals, r.DivLines = nil, nil // no peer draws them
		j.results = append(j.results, r)
	}
	for i, l := range j.results[0].Lines {
		j.ema[i] = l.Values
	}
	bands := j.results[1].Lines
	j.middle, j.upper, j.lower = bands[0].Values, bands[1].Values, bands[2].Values
	j.rsi = j.results[2].Lines[0].Values
	j.macd, j.signal = j.results[3].Lines[0].Values, j.results[3].Lines[1].Values
	j.histogram = j.results[3].Histogram[0].Values
	return j
}

// walk returns n daily bars of a seeded random walk.
func walk(n int) *market.Series {
	r := rand.New(rand.NewPCG(1, 2))
	s := &market.Series{Symbol: "BENCH", Interval: market.Day1}
	price := 215.0
	cents := func(v float64) float64 { return math.Round(v*100) / 100 }
	for i := range n {
		open := price
		price *= math.Exp(0.012 * r.NormFloat64())
		high, low := max(open, price)*(1+0.006*r.Float64()), min(open, price)*(1-0.006*r.Float64())
		s.Append(market.Bar{Time: 1736121600 + int64(i)*86400, Open: cents(open), High: cents(high), Low: cents(low),
			Close: cents(price), Volume: math.Round(1e6 * math.Exp(0.5*r.NormFloat64()))})
	}
	return s
}

// bounds returns the least and greatest of the columns, NaN left out.
func bounds(columns ...[]float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, col := range columns {
		for _, v := range col {
			if !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi
}
