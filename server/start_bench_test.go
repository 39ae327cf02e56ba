package server

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"wick/indicators"
)

// BenchmarkStart compares the processor time of a start on an empty directory, with the stop that
// follows, to that of wick version, which does no more than every wick begins with: above all it
// makes the tables of the indicators. A start takes three times as much; the benchmark fails at six, and when the
// tables take more than 7,500 bytes an indicator, twice of what they do.
func BenchmarkStart(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	least := func(run func() *os.ProcessState) (least time.Duration) {
		for range 5 {
			state := run()
			if took := state.UserTime() + state.SystemTime(); least == 0 || took < least {
				least = took
			}
		}
		return least
	}
	for b.Loop() {
		var said string
		version := least(func() *os.ProcessState {
			cmd := exec.Command(self, "version")
			cmd.Env = append(os.Environ(), "WICK_TEST_AS_WICK=1", "GODEBUG=inittrace=1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			said = string(out)
			return cmd.ProcessState
		})
		start := least(func() *os.ProcessState {
			p := startProcess(b, b.TempDir())
			p.terminate(b)
			return p.cmd.ProcessState
		})
		ratio := float64(start) / float64(version)
		b.ReportMetric(ratio, "start/version")
		if ratio > 6 {
			b.Errorf("a start takes %.1f times the processor time of wick version", ratio)
		}
		entries, bytes := 0, 0
		for range indicators.All() {
			entries++
		}
		_, tables, _ := strings.Cut(said, "init wick/indicators @")
		_, tables, _ = strings.Cut(tables, " clock, ")
		if _, err := fmt.Sscanf(tables, "%d bytes", &bytes); err != nil {
			b.Fatalf("%v: %s", err, said)
		}
		b.ReportMetric(float64(bytes)/float64(entries), "B/indicator")
		if bytes > 7500*entries {
			b.Errorf("the tables of %d indicators take %d bytes", entries, bytes)
		}
	}
}
