// Command curves measures how time and memory grow with bars, symbols, alerts, open orders,
// subscribers, finished orders and replicas, by tens from ten to the limit of docs/limits.md:
//
//	go run ./curves -wick ../../wick
//
// It prints a table, draws all curves on one page, curves.svg, and fails when a curve is worse
// than n log n. Time is CPU time, the least of some rounds. Memory is what stays on the heap and
// on stacks, or what a call allocates, which does not vary. The order of a curve is the slope of
// its logarithm over that of n in the last decade. All but the replicas is measured in this process,
// by the packages that wick is made of.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"wick/bench/contest"
)

var (
	wick = flag.String("wick", "../../wick", "wick's `binary`, for the replicas")
	etcd = flag.String("etcd", "/usr/bin/etcd", "etcd's `binary`, for the replicas")
	page = flag.String("svg", "curves.svg", "`file` to draw the page into")
	most = flag.Int("most", math.MaxInt, "leave out sizes beyond this `number`")
	only = flag.String("only", "", "the one `axis` to measure, such as \"alerts\"")
)

// axis is what grows.
type axis struct {
	name, limit string // what the last size is
	sizes       []int
	measure     func(n int, m *meter) error // at one size
	why         map[string]string           // by curve: what bends it
	curves      []*curve
}

// curve is one measure, in seconds or bytes, over the sizes at which it was taken.
type curve struct {
	name   string
	memory bool
	n, y   []float64
}

// meter takes the measures at one size.
type meter struct {
	*axis
	n int
}

func (m *meter) add(name string, memory bool, y float64) {
	for _, c := range m.curves {
		if c.name == name && c.memory == memory {
			c.n, c.y = append(c.n, float64(m.n)), append(c.y, y)
			return
		}
	}
	m.curves = append(m.curves, &curve{name, memory, []float64{float64(m.n)}, []float64{y}})
}

// time adds the CPU time of a call: the least of five rounds of at least 20 ms, after a first
// call that warms caches and pools.
func (m *meter) time(name string, call func() error) error {
	if err := call(); err != nil {
		return fmt.Errorf("%s, %d %s: %w", name, m.n, m.axis.name, err)
	}
	least := math.Inf(1)
	for rounds, calls := 0, 1; rounds < 5; {
		start := cpu()
		for range calls {
			if err := call(); err != nil {
				return fmt.Errorf("%s, %d %s: %w", name, m.n, m.axis.name, err)
			}
		}
		if took := cpu() - start; took < 0.02 {
			calls *= 2
		} else {
			least = min(least, took/float64(calls))
			rounds++
		}
	}
	m.add(name, false, least)
	return nil
}

// call adds the CPU time of a call and the bytes that it allocates.
func (m *meter) call(name string, call func() error) error {
	if err := m.time(name, call); err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := call()
	runtime.ReadMemStats(&after)
	m.add(name+", allocated", true, float64(after.TotalAlloc-before.TotalAlloc))
	return err
}

// cpu returns the seconds that this process has spent on the processors.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no reason to fail
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// live returns the bytes in use on the heap, after a collection, and on stacks.
func live() float64 {
	runtime.GC()
	debug.FreeOSMemory()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc + s.StackInuse)
}

// slope returns the exponent of n with which a curve grows from its size i to j.
func (c *curve) slope(i, j int) float64 {
	return math.Log(c.y[j]/c.y[i]) / math.Log(c.n[j]/c.n[i])
}

// order returns the exponent of a curve in its last decade, in words, and whether it is worse than
// n log n. A fifth is what caches and noise may add; an exponent of 1.5 is still seen.
func (c *curve) order() (words string, worse bool) {
	last := len(c.n) - 1
	from := last - 1
	for from > 0 && c.n[last]/c.n[from] < 4 {
		from--
	}
	if from < 0 {
		return "", false
	}
	k := c.slope(from, last)
	nLogN := 1 + math.Log(math.Log(c.n[last])/math.Log(c.n[from]))/math.Log(c.n[last]/c.n[from])
	name := "worse than n log n"
	switch {
	case k < 0.15:
		name = "1"
	case k < 0.85:
		name = "less than n"
	case k < 1.05:
		name = "n"
	case k < nLogN+0.2:
		name = "n log n"
	}
	return fmt.Sprintf("%s (n^%.2f)", name, k), k >= nLogN+0.2
}

// bends returns the sizes at which the exponent grows by more than a third.
func (c *curve) bends() (at []int) {
	for i := 1; i+1 < len(c.n); i++ {
		if c.slope(i, i+1)-c.slope(i-1, i) > 0.34 {
			at = append(at, int(c.n[i]))
		}
	}
	return at
}

// print writes the curves of an axis as a table and reports whether one is worse than n log n.
func (a *axis) print() (worse bool) {
	fmt.Printf("\n%s; the last is %s\n%-38s", a.name, a.limit, "")
	for _, n := range a.sizes {
		fmt.Printf("%10d", n)
	}
	fmt.Println("  order")
	for _, c := range a.curves {
		fmt.Printf("%-38s", c.name)
		at := make(map[float64]string)
		for i, n := range c.n {
			at[n] = c.text(c.y[i])
		}
		for _, n := range a.sizes {
			fmt.Printf("%10s", at[float64(n)])
		}
		words, w := c.order()
		worse = worse || w
		fmt.Println(" ", words)
	}
	for _, c := range a.curves {
		if at := c.bends(); len(at) > 0 {
			fmt.Printf("%s bends at %v: %s\n", c.name, at, cmp.Or(a.why[c.name], "the fixed part of its cost ends there"))
		}
	}
	return worse
}

// text writes a value of the curve in the unit that suits it.
func (c *curve) text(y float64) string {
	units := []string{"B", "KB", "MB", "GB"}
	if !c.memory {
		y, units = y*1e9, []string{"ns", "us", "ms", "s"}
	}
	for y >= 999.5 && len(units) > 1 {
		y, units = y/1000, units[1:]
	}
	return fmt.Sprintf("%.3g %s", y, units[0])
}

func main() {
	flag.Parse()
	fmt.Println(contest.Machine())
	d, err := openDesk("") // what is made once in a process is not of any axis
	if err != nil {
		contest.Fail(err)
	}
	d.close()
	worse := false
	var drawn []*axis
	for _, a := range axes {
		if *only != "" && *only != a.name {
			continue
		}
		for len(a.sizes) > 0 && a.sizes[len(a.sizes)-1] > *most {
			a.sizes = a.sizes[:len(a.sizes)-1]
		}
		for _, n := range a.sizes {
			if err := a.measure(n, &meter{a, n}); err != nil {
				contest.Fail(err)
			}
		}
		worse = a.print() || worse
		drawn = append(drawn, a)
	}
	if err := os.WriteFile(*page, draw(drawn), 0o644); err != nil {
		contest.Fail(err)
	}
	if worse {
		contest.Fail(fmt.Errorf("a curve is worse than n log n"))
	}
}
