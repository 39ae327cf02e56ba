//go:build unix

package market

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe has no end: reading it would wait for a writer that never comes.
func TestCSVPipe(t *testing.T) {
	c := directory(t, nil)
	if err := syscall.Mkfifo(filepath.Join(c.dir, "pipe-1d.csv"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Bars(t.Context(), Query{Symbol: "PIPE", Interval: Day1, Limit: 7}); err == nil {
		t.Errorf("a pipe gave %v", s)
	}
}
