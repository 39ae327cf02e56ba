package metrics

import (
	"fmt"
	"math"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// text returns what a scrape gets.
func text(r *Registry) string {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// TestText writes one family of each kind. The expected text was written by
// hand after the description of the exposition format, version 0.0.4: HELP and
// TYPE before the samples, buckets that accumulate and end in +Inf, a sum and a
// count, backslash, line break and quote escaped.
func TestText(t *testing.T) {
	var r Registry
	c := r.Counter("app_requests_total", `by method, \ and`+"\nstatus", "method", "status")
	c("POST", "200")
	c("GET", "404")
	c("GET", "404")
	c("POST", "200")
	c("a\"b\\c\nd", "200")
	h := r.Histogram("app_seconds", "how long", []float64{0.1, 1})
	for _, v := range []float64{0.05, 0.1, 0.5, 7} {
		h(v)
	}
	r.Gauge("app_queue", "waiting", func() float64 { return 3 })
	r.Gauge("app_absent", "unknown", math.NaN)
	r.Total("app_syncs_total", "syncs", func() float64 { return 1e9 })
	want := `# HELP app_requests_total by method, \\ and\nstatus
# TYPE app_requests_total counter
app_requests_total{method="GET",status="404"} 2
app_requests_total{method="POST",status="200"} 2
app_requests_total{method="a\"b\\c\nd",status="200"} 1
# HELP app_seconds how long
# TYPE app_seconds histogram
app_seconds_bucket{le="0.1"} 2
app_seconds_bucket{le="1"} 3
app_seconds_bucket{le="+Inf"} 4
app_seconds_sum 7.65
app_seconds_count 4
# HELP app_queue waiting
# TYPE app_queue gauge
app_queue 3
# HELP app_syncs_total syncs
# TYPE app_syncs_total counter
app_syncs_total 1e+09
`
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Body.String() != want || w.Header().Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("over HTTP: %v %s", w.Header(), w.Body)
	}
}

// TestBound: a label that a stranger chooses makes at most maxSeries series.
func TestBound(t *testing.T) {
	var r Registry
	c := r.Counter("x_total", "x", "word")
	for i := range 10 * maxSeries {
		c(fmt.Sprint("word", i))
	}
	if n := strings.Count(text(&r), "x_total{"); n != maxSeries {
		t.Errorf("%d series, want %d", n, maxSeries)
	}
	want := fmt.Sprintf(`x_total{word="other"} %d`, 10*maxSeries-(maxSeries-1))
	if !strings.Contains(text(&r), want) {
		t.Errorf("no line %s", want)
	}
}

// TestMistakes: what the format does not allow stops the program at once.
func TestMistakes(t *testing.T) {
	for name, make := range map[string]func(r *Registry){
		"twice":          func(r *Registry) { r.Counter("a", ""); r.Gauge("a", "", nil) },
		"falling bounds": func(r *Registry) { r.Histogram("a", "", []float64{2, 1}) },
		"missing value":  func(r *Registry) { r.Counter("a", "", "b")() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			make(new(Registry))
		}()
	}
}

// TestTogether counts from many goroutines while the text is read.
func TestTogether(t *testing.T) {
	var r Registry
	c := r.Counter("a_total", "", "n")
	h := r.Histogram("b", "", []float64{1})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 100 {
				c(fmt.Sprint(i))
				h(float64(i))
				text(&r)
			}
		})
	}
	wg.Wait()
	if text := text(&r); !strings.Contains(text, "b_count 400\n") || strings.Count(text, "} 100\n") != 4 {
		t.Errorf("lost counts:\n%s", text)
	}
}

// sample is a line of the format: a name, labels in quotes with the three
// escapes, a number.
var sample = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\\n]|\\[\\"n])*",?)*\})? [^ ]+$`)

// FuzzLabel: whatever a label's value is, the text stays in the format.
func FuzzLabel(f *testing.F) {
	f.Add("a\n# TYPE b counter", "\xff\"")
	f.Fuzz(func(t *testing.T, one, two string) {
		var r Registry
		r.Counter("a_total", two, "one", "two")(one, two)
		lines := strings.Split(strings.TrimSuffix(text(&r), "\n"), "\n")
		if len(lines) != 3 || !sample.MatchString(lines[2]) {
			t.Errorf("%q, %q: %q", one, two, lines)
		}
	})
}

func TestGauges(t *testing.T) {
	var r Registry
	r.Gauges("waiting", "What waits.", "for", func() map[string]int { return map[string]int{"b": 2, "a": 1} })
	want := "# HELP waiting What waits.\n# TYPE waiting gauge\nwaiting{for=\"a\"} 1\nwaiting{for=\"b\"} 2\n"
	if got := text(&r); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
