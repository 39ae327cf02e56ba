// Package metrics keeps a few numbers about a running program and writes them
// in the text format that Prometheus reads, version 0.0.4.
//
// A [Registry] holds families of series in the order in which they were made. A caller
// tells a [Counter] and a [Histogram] what happens. [Registry.Gauge], [Registry.Gauges]
// and [Registry.Total] take a function instead, which returns numbers that are kept
// elsewhere; it is called for each answer. A Registry is an HTTP handler.
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

// Registry holds families. The zero value is ready. Its methods and those of
// its families may be called from many goroutines.
type Registry struct {
	mu       sync.Mutex
	families []*family // guarded by mu
}

// family is one metric: a name, a kind and a series for every combination of
// label values that was seen.
type family struct {
	name, help, kind string
	labels           []string
	bounds           []float64             // of a histogram's buckets, rising; +Inf is implied
	read             func() float64        // for a family of one number that is kept elsewhere
	readAll          func() map[string]int // the same for several, by the value of the label

	mu     sync.Mutex
	series map[string]*series // by the label values, joined; guarded by mu
}

// series is one line of a family, or one histogram: the numbers for one set of label
// values.
type series struct {
	values []string
	sum    float64  // of a counter, the count; of a histogram, the sum of the values
	counts []uint64 // of a histogram, one per bucket and one for larger values
}

// add adds a family. It panics on a name that is taken, which is a mistake in this program.
func (r *Registry) add(f *family) *family {
	f.series = make(map[string]*series)
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.families, func(other *family) bool { return other.name == f.name }) {
		panic("metrics: two families named " + f.name)
	}
	r.families = append(r.families, f)
	return f
}

// get returns the series with these label values. It makes the series if there is none,
// or returns the one of "other" if there are too many. f.mu is held.
func (f *family) get(values []string) *series {
	if len(values) != len(f.labels) {
		panic(fmt.Sprintf("metrics: %s has %d labels, got %d values", f.name, len(f.labels), len(values)))
	}
	key := strings.Join(values, "\xff") // a byte that is in no UTF-8 text
	s := f.series[key]
	if s == nil && len(f.series) >= maxSeries-1 {
		values = slices.Repeat([]string{"other"}, len(values))
		key = strings.Join(values, "\xff")
		s = f.series[key]
	}
	if s == nil {
		s = &series{values: slices.Clone(values), counts: make([]uint64, len(f.bounds)+1)}
		f.series[key] = s
	}
	return s
}

// Counter is a number that only grows.
type Counter struct{ f *family }

// Counter makes a counter, whose name should end in _total.
func (r *Registry) Counter(name, help string, labels ...string) Counter {
	return Counter{r.add(&family{name: name, help: help, kind: "counter", labels: labels})}
}

// Add adds n to the series of the label values, which come in the order of the
// labels.
func (c Counter) Add(n float64, values ...string) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.get(values).sum += n
}

// Histogram counts values by size.
type Histogram struct{ f *family }

// Histogram makes a histogram whose buckets end at the bounds, which rise.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) Histogram {
	if !slices.IsSorted(bounds) {
		panic("metrics: the bounds of " + name + " do not rise")
	}
	return Histogram{r.add(&family{name: name, help: help, kind: "histogram", labels: labels, bounds: slices.Clone(bounds)})}
}

// Observe counts v in the series of the label values.
func (h Histogram) Observe(v float64, values ...string) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s := h.f.get(values)
	i, _ := slices.BinarySearch(h.f.bounds, v)
	s.counts[i]++
	s.sum += v
}

// Gauge makes a family of one number that rises and falls. Each answer calls read for it.
// If read returns NaN, the answer does not have the number.
func (r *Registry) Gauge(name, help string, read func() float64) {
	r.add(&family{name: name, help: help, kind: "gauge", read: read})
}

// Total makes a family of one number that only grows. Each answer calls read for it.
func (r *Registry) Total(name, help string, read func() float64) {
	r.add(&family{name: name, help: help, kind: "counter", read: read})
}

// Gauges makes a family of numbers that rise and fall, one for each value of a label.
// Each answer calls read for them. The values must come from a fixed set.
func (r *Registry) Gauges(name, help, label string, read func() map[string]int) {
	r.add(&family{name: name, help: help, kind: "gauge", labels: []string{label}, readAll: read})
}

// text returns all families in the text format.
func (r *Registry) text() []byte {
	r.mu.Lock()
	families := slices.Clone(r.families)
	r.mu.Unlock()
	var b bytes.Buffer
	for _, f := range families {
		f.write(&b)
	}
	return b.Bytes()
}

// ServeHTTP answers with all families in the text format.
func (r *Registry) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Write(r.text())
}

func (f *family) write(b *bytes.Buffer) {
	if f.read != nil {
		if v := f.read(); !math.IsNaN(v) {
			f.head(b)
			f.line(b, "", nil, v)
		}
		return
	}
	if f.readAll != nil {
		f.head(b)
		values := f.readAll()
		for _, value := range slices.Sorted(maps.Keys(values)) {
			f.line(b, "", pairs(f.labels, []string{value}), float64(values[value]))
		}
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head(b)
	for _, key := range slices.Sorted(maps.Keys(f.series)) {
		s := f.series[key]
		if f.kind == "counter" {
			f.line(b, "", pairs(f.labels, s.values), s.sum)
			continue
		}
		labels := pairs(f.labels, s.values)
		var total uint64
		for i, n := range s.counts {
			total += n
			bound := math.Inf(1)
			if i < len(f.bounds) {
				bound = f.bounds[i]
			}
			f.line(b, "_bucket", append(slices.Clone(labels), pair("le", number(bound))), float64(total))
		}
		f.line(b, "_sum", labels, s.sum)
		f.line(b, "_count", labels, float64(total))
	}
}

func (f *family) head(b *bytes.Buffer) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, helpText.Replace(f.help), f.name, f.kind)
}

func (f *family) line(b *bytes.Buffer, suffix string, labels []string, v float64) {
	b.WriteString(f.name)
	b.WriteString(suffix)
	if len(labels) > 0 {
		b.WriteString("{" + strings.Join(labels, ",") + "}")
	}
	b.WriteString(" " + number(v) + "\n")
}

// Escapes for help texts and for values of labels. In the latter quotes are escaped too.
var (
	helpText   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func pairs(labels, values []string) []string {
	out := make([]string, len(labels))
	for i, label := range labels {
		out[i] = pair(label, values[i])
	}
	return out
}

func pair(label, value string) string {
	return label + `="` + labelValue.Replace(strings.ToValidUTF8(value, "�")) + `"`
}

// number writes v as the format requires. The format and strconv both write infinity as
// +Inf.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
