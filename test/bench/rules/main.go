// Command rules times a backtest against backtesting.py and vectorbt, in one run
// and in turns, on the same 5,000 bars:
//
//	go run ./rules
//
// The rule: enter where ema(12) crosses above ema(26), leave where it crosses
// below; all in, filled at the next open, a fee of 0.1 % and no slippage. It
// prints the least and the median CPU time of a run with what each made of it, and
// fails when they disagree. Python and the packages are put into a virtual
// environment in the user's cache folder; without Python that part is left out.
//
// Below it are two times of wick alone: a rule on 5,000 bars, and a scan of 200
// symbols whose bars are in memory.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"wick/bench/contest"
	"wick/indicators"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
)

const bars = 5_000

// strategy is the rule. The peers keep back the fee of a purchase from what they
// spend; a size of 100/1.001 percent does the same.
const strategy = `{"enter":"ema(12) crosses above ema(26)","exit":"ema(12) crosses below ema(26)","fee":0.1,"slippage":0,"size":99.9000999000999}`

// run is one run of a contestant: what it took and what it made.
type run struct {
	Seconds float64 // of CPU, all threads of the process together
	Trades  int     // that were left again
	Equity  float64 // at the last close, as a multiple of the capital
}

// contestant has a name in the table and runs the rule once.
type contestant struct {
	name string
	run  func() (run, error)
}

func main() {
	log.SetFlags(0)
	rounds := flag.Int("n", 20, "rounds")
	folder := flag.String("venv", cache(), "folder of the virtual environment, made when it is not there")
	flag.Parse()
	s := walk(bars)
	contestants := []contestant{{"wick", func() (run, error) { return backtest(s) }}}
	python, err := environment(*folder)
	switch {
	case errors.Is(err, errNoPython):
		log.Print(err)
	case err != nil:
		log.Fatal(err)
	default:
		p, err := startPeers(python, s)
		if err != nil {
			log.Fatal(err)
		}
		defer p.stop()
		contestants = append(contestants,
			contestant{"backtesting.py", func() (run, error) { return p.run("backtesting") }},
			contestant{"vectorbt", func() (run, error) { return p.run("vectorbt") }},
			contestant{"vectorbt, stats()", func() (run, error) { return p.run("vectorbt_stats") }})
	}
	if err := compare(contestants, *rounds); err != nil {
		log.Fatal(err)
	}
	if err := alone(s, *rounds); err != nil {
		log.Fatal(err)
	}
}

// cache returns the folder of the virtual environment, unless another is named.
func cache() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	return filepath.Join(folder, "wick-bench", "python")
}

// compare runs the contestants in turn, so that a busy machine slows them alike,
// prints a line for each, and reports whether all made the same trades. A first
// round is not counted: vectorbt compiles then.
func compare(contestants []contestant, rounds int) error {
	took := make([][]float64, len(contestants))
	made := make([]run, len(contestants))
	for round := range rounds + 1 {
		for k, c := range contestants {
			r, err := c.run()
			if err != nil {
				return err
			}
			if made[k] = r; round > 0 {
				took[k] = append(took[k], r.Seconds)
			}
		}
	}
	fmt.Printf("one rule on %d bars, CPU milliseconds of %d runs each\n%-18s %9s %9s %9s %8s %12s\n", bars, rounds, "", "least", "median", "x wick", "trades", "equity")
	for k, c := range contestants {
		least, median := summary(took[k])
		first, _ := summary(took[0])
		fmt.Printf("%-18s %9.2f %9.2f %9.0f %8d %12.8f\n", c.name, 1e3*least, 1e3*median, least/first, made[k].Trades, made[k].Equity)
		contest.Behind("a backtest, seconds of CPU", c.name, least, first)
		if made[k].Trades != made[0].Trades || math.Abs(made[k].Equity/made[0].Equity-1) > 1e-7 {
			return fmt.Errorf("%s traded otherwise than %s", c.name, contestants[0].name)
		}
	}
	return nil
}

// cpu returns the seconds of CPU that this process has used.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no reason to fail
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// summary returns the least and the median.
func summary(values []float64) (least, median float64) {
	values = slices.Sorted(slices.Values(values))
	return values[0], values[len(values)/2]
}

// backtest trades the rule with wick, from its text to the report.
func backtest(s *market.Series) (r run, err error) {
	start := cpu()
	result, err := compute("backtest", strategy, s)
	r.Seconds = cpu() - start
	if err != nil {
		return r, err
	}
	profit := result.Lines[0].Values
	r.Equity = 1 + profit[len(profit)-1]/100
	for _, f := range result.Facts {
		if f.Name == "result" {
			err = json.Unmarshal(f.Value, &r)
		}
	}
	return r, err
}

// compute reads an entry's parameters and computes it on all bars of s.
func compute(name, params string, s *market.Series) (*indicators.Result, error) {
	var overrides map[string]json.RawMessage
	if err := json.Unmarshal([]byte(params), &overrides); err != nil {
		return nil, err
	}
	request, err := indicators.New(name, overrides)
	if err != nil {
		return nil, err
	}
	return request.Compute(s).Tail(s.Len(), s.Len()), nil
}

// alone prints what else of wick's has a limit: a rule, and a scan.
func alone(s *market.Series, rounds int) error {
	scan, err := scanner()
	if err != nil {
		return err
	}
	fmt.Printf("\nwick alone, milliseconds of %d runs each\n%-40s %9s %9s %10s\n", rounds, "", "CPU least", "median", "wall least")
	for _, job := range []struct {
		name string
		do   func() error
	}{
		{fmt.Sprintf("a rule of ten operations on %d bars", bars), func() error {
			_, err := compute("rule", `{"when":"crosses_above(close, ema(20)) and volume > avg(volume, 50) and rsi(14) < 60"}`, s)
			return err
		}},
		{"a scan of 200 symbols, bars in memory", scan},
	} {
		var took, waited []float64
		for range rounds {
			start, begin := time.Now(), cpu()
			if err := job.do(); err != nil {
				return err
			}
			took, waited = append(took, 1e3*(cpu()-begin)), append(waited, 1e3*time.Since(start).Seconds())
		}
		least, median := summary(took)
		fmt.Printf("%-40s %9.2f %9.2f %10.2f\n", job.name, least, median, slices.Min(waited))
	}
	return nil
}

// scanner returns a call of get_indicators for 200 symbols, after one that has
// fetched their bars.
func scanner() (func() error, error) {
	var symbols []string
	for i := range 200 {
		symbols = append(symbols, fmt.Sprintf("SYM%dUSDT", i))
	}
	arguments, err := json.Marshal(map[string]any{
		"symbols": symbols, "indicators": []map[string]string{{"name": "rule", "when": "rsi(14) < 30 and close > ema(200)"}},
	})
	if err != nil {
		return nil, err
	}
	all := tools.All(tools.Deps{Source: market.Cached(market.Sample{})})
	tool := all[slices.IndexFunc(all, func(t mcp.Tool) bool { return t.Name == "get_indicators" })]
	scan := func() error {
		_, err := tool.Handle(context.Background(), mcp.Call{Arguments: arguments})
		return err
	}
	return scan, scan()
}

// walk returns n bars of a random walk, the same on every run.
func walk(n int) *market.Series {
	r := rand.New(rand.NewPCG(1, 2))
	s := &market.Series{Symbol: "WALK", Interval: market.Hour1}
	s.Grow(n)
	price := 100.0
	for i := range n {
		b := market.Bar{Time: int64(i) * 3600, Open: price * math.Exp(0.001*r.NormFloat64()), Volume: 1000 * math.Exp(r.NormFloat64())}
		price *= math.Exp(0.01 * r.NormFloat64())
		b.Close = price
		b.High = max(b.Open, b.Close) * (1 + 0.005*r.Float64())
		b.Low = min(b.Open, b.Close) * (1 - 0.005*r.Float64())
		s.Append(b)
	}
	return s
}
