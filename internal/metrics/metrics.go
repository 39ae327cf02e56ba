// Package metrics keeps a few numbers about a running program and writes them
// in the text format that Prometheus reads, version 0.0.4.
//
// A [Registry] holds families of numbers in the order in which they were made. What
// [Registry.Counter] and [Registry.Histogram] return is called when something happens.
// [Registry.Gauge], [Registry.Gauges] and [Registry.Total] take a function instead, which
// returns numbers that are kept elsewhere; it is called for each answer. A Registry is an
// HTTP handler.
//
// # Security considerations
//
// If a stranger could choose the value of a label, he could make any number of series.
// Callers map such values to a fixed set. In case one forgets that, a family holds at most
// 256 series and counts all others under the label value "other".
package metrics

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxSeries bounds the series of one family.
const maxSeries = 256

// Registry holds families. The zero value is ready. Its methods, and the functions that
// they return, may be called from many goroutines.
type Registry struct {
	mu       sync.Mutex
	families []family // guarded by mu
}

// family is one metric: a name, a kind, and what writes its lines.
type family struct {
	name, help, kind string
	write            func(line line)
}

// line writes a line of a family: what its name ends with, the labels, and the number.
type line func(suffix, labels string, v float64)

// add adds a family. It panics on a name that is taken, which is a mistake in this program.
func (r *Registry) add(name, help, kind string, write func(line line)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.families, func(other family) bool { return other.name == name }) {
		panic("metrics: two families named " + name)
	}
	r.families = append(r.families, family{name, help, kind, write})
}

// series are the numbers of a family that are kept here, by the labels as they are written.
type series[T any] struct {
	labels []string

	mu  sync.Mutex
	all map[string]T // guarded by mu
}

// change replaces the number of these label values, or of "other" if there are too many.
func (s *series[T]) change(values []string, by func(T) T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := pairs(s.labels, values)
	if _, known := s.all[key]; !known && len(s.all) >= maxSeries-1 {
		key = pairs(s.labels, slices.Repeat([]string{"other"}, len(values)))
	}
	s.all[key] = by(s.all[key])
}

// each calls do for every number, in the order of the labels.
func (s *series[T]) each(do func(labels string, v T)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(s.all)) {
		do(key, s.all[key])
	}
}

// Counter makes a family of numbers that only grow, whose name should end in _total, and
// returns the function that counts one more. Its values come in the order of the labels.
// Without labels the number is shown from the start, as 0: a rate needs a first value.
func (r *Registry) Counter(name, help string, labels ...string) (count func(values ...string)) {
	s := &series[float64]{labels: labels, all: make(map[string]float64)}
	if len(labels) == 0 {
		s.all[""] = 0
	}
	r.add(name, help, "counter", func(line line) {
		s.each(func(labels string, n float64) { line("", labels, n) })
	})
	return func(values ...string) { s.change(values, func(n float64) float64 { return n + 1 }) }
}

// sizes are the numbers of a histogram for one set of label values.
type sizes struct {
	sum    float64
	counts []float64 // by bucket
}

// Histogram makes a family that counts values by size, in buckets that end at the bounds,
// which rise. It returns the function that counts a value.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) (observe func(v float64, values ...string)) {
	if !slices.IsSorted(bounds) {
		panic("metrics: the bounds of " + name + " do not rise")
	}
	bounds = append(slices.Clone(bounds), math.Inf(1))
	s := &series[sizes]{labels: labels, all: make(map[string]sizes)}
	r.add(name, help, "histogram", func(line line) {
		s.each(func(labels string, h sizes) {
			total := 0.0
			for i, n := range h.counts {
				total += n
				line("_bucket", strings.TrimPrefix(labels+`,le="`+number(bounds[i])+`"`, ","), total)
			}
			line("_sum", labels, h.sum)
			line("_count", labels, total)
		})
	})
	return func(v float64, values ...string) {
		s.change(values, func(h sizes) sizes {
			if h.counts == nil {
				h.counts = make([]float64, len(bounds))
			}
			i, _ := slices.BinarySearch(bounds, v)
			h.counts[i]++
			return sizes{h.sum + v, h.counts}
		})
	}
}

// Gauge makes a family of one number that rises and falls. Each answer calls read for it.
// If read returns NaN, the answer does not have the number.
func (r *Registry) Gauge(name, help string, read func() float64) {
	r.add(name, help, "gauge", func(line line) {
		if v := read(); !math.IsNaN(v) {
			line("", "", v)
		}
	})
}

// Total makes a family of one number that only grows. Each answer calls read for it.
func (r *Registry) Total(name, help string, read func() float64) {
	r.add(name, help, "counter", func(line line) { line("", "", read()) })
}

// Gauges makes a family of numbers that rise and fall, one for each value of a label.
// Each answer calls read for them. The values must come from a fixed set.
func (r *Registry) Gauges(name, help, label string, read func() map[string]int) {
	r.add(name, help, "gauge", func(line line) {
		all := read()
		for _, value := range slices.Sorted(maps.Keys(all)) {
			line("", pairs([]string{label}, []string{value}), float64(all[value]))
		}
	})
}

// ServeHTTP answers with all families in the text format. One without numbers is left out.
func (r *Registry) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	families := slices.Clone(r.families)
	r.mu.Unlock()
	var b bytes.Buffer
	for _, f := range families {
		head := fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", f.name, helpText.Replace(f.help), f.name, f.kind)
		f.write(func(suffix, labels string, v float64) {
			if labels != "" {
				labels = "{" + labels + "}"
			}
			fmt.Fprintf(&b, "%s%s%s%s %s\n", head, f.name, suffix, labels, number(v))
			head = ""
		})
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Write(b.Bytes())
}

// Escapes for help texts and for values of labels. In the latter quotes are escaped too.
var (
	helpText   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// pairs returns labels with their values, as they are written.
func pairs(labels, values []string) string {
	if len(values) != len(labels) {
		panic(fmt.Sprintf("metrics: %d values for the labels %q", len(values), labels))
	}
	var out []string
	for i, value := range values {
		out = append(out, labels[i]+`="`+labelValue.Replace(strings.ToValidUTF8(value, "\ufffd"))+`"`)
	}
	return strings.Join(out, ",")
}

// number writes v as the format requires. The format and strconv both write infinity as
// +Inf.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
