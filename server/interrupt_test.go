package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestReadingTaskEnds: a task that only reads ends at once by a signal, though whoever
// should read what it writes does not.
func TestReadingTaskEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startProcess(t, dir)
	token := p.login(t)
	for range 200 { // together more than a pipe holds
		p.call(t, token, "set_alert", fmt.Sprintf(`{"symbol":"BTCUSDT","condition":{"price_above":1e9},"note":%q}`, strings.Repeat("n", 200)))
	}
	p.terminate(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range [][]string{{"audit"}, {"--output", "-", "--format", "series", "--bars", "2000"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self, task...)
		cmd.Env = append(os.Environ(), "WICK_TEST_AS_WICK=1", "WICK_DATA_DIR="+dir)
		cmd.Stdout = w
		if err := errors.Join(cmd.Start(), w.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(make([]byte, 1)); err != nil { // it has begun to write, and cannot go on for long
			t.Fatalf("%v: %v", task, err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &ended) || !strings.Contains(err.Error(), "signal: terminated") {
			t.Errorf("%v: %v, want the end by the signal", task, err)
		}
		r.Close()
	}
}
