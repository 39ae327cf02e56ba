package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain lets this test binary be wick itself, so that tests can send signals
// to a whole process without building one.
func TestMain(m *testing.M) {
	fewRounds = 10 // the hash of a passphrase is slow on purpose, and slower still under the race detector
	if os.Getenv("WICK_TEST_AS_WICK") != "" {
		ctx, stop := signal.NotifyContext(context.Background(), Signals()...)
		defer stop()
		if err := Run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr); err != nil {
			Complain(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// Most tests wait for a process, a lease or a timer, so many more of them may run
	// at once than there are cores. A -parallel on the command line is read later.
	flag.Set("test.parallel", "24")
	os.Exit(m.Run())
}

// process is a wick in a process of its own.
type process struct {
	running
	cmd   *exec.Cmd
	wait  func() error // returns how the process ended, once it has
	ended chan struct{}
}

// startWith starts wick on the data directory. Its standard error is stderr, or p.log if
// that is nil.
func startWith(t testing.TB, stderr io.Writer, dataDir string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{running: running{log: &syncBuffer{}}, ended: make(chan struct{})}
	if stderr == nil {
		stderr = p.log
	}
	p.cmd = exec.Command(self, append([]string{"--serve", "--trade", "--port", "0", "--data-dir", dataDir}, args...)...)
	p.cmd.Env = append(os.Environ(), "WICK_TEST_AS_WICK=1")
	p.cmd.Stderr = stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.wait = sync.OnceValue(func() error {
		defer close(p.ended)
		return p.cmd.Wait()
	})
	go p.wait()
	t.Cleanup(func() {
		p.cmd.Process.Kill() // unless it has ended
		p.wait()
	})
	return p
}

// startProcess starts wick on the data directory and waits for its start-up
// line.
func startProcess(t testing.TB, dataDir string, args ...string) *process {
	t.Helper()
	p := startWith(t, nil, dataDir, args...)
	for p.base == "" {
		select {
		case <-p.ended:
			t.Fatalf("wick did not start: %v\n%s", p.wait(), p.log)
		case <-time.After(5 * time.Millisecond):
		}
		if m := servingAt.FindStringSubmatch(p.log.String()); m != nil {
			p.base = m[1]
		}
	}
	return p
}

// terminate sends SIGTERM and returns how long the process took to exit with
// success.
func (p *process) terminate(t testing.TB) time.Duration {
	t.Helper()
	start := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.wait(); err != nil {
		t.Fatalf("exit: %v\n%s", err, p.log)
	}
	return time.Since(start)
}

// openStream opens a stream and returns once its first line has come.
func (h *running) openStream(t *testing.T, token string) *bufio.Reader {
	t.Helper()
	request, err := http.NewRequest("GET", h.base+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "text/event-stream")
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	lines := bufio.NewReader(r.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != ": open\n" {
		t.Fatalf("the stream begins with %q, %v", line, err)
	}
	return lines
}

// TestTerminate: SIGTERM ends open streams with a goodbye and the process with
// success.
func TestTerminate(t *testing.T) {
	p := startProcess(t, t.TempDir())
	token := p.login(t)
	var streams []*bufio.Reader
	for range 3 {
		streams = append(streams, p.openStream(t, token))
	}
	// A stream that did not end by itself would be cut at shutdownTimeout,
	// without the goodbye below.
	t.Logf("stopped in %v", p.terminate(t))
	for i, s := range streams {
		rest, err := io.ReadAll(s)
		if err != nil || !strings.Contains(string(rest), "retry: 2000\n") {
			t.Errorf("stream %d ends with %q, %v", i, rest, err)
		}
	}
}

// TestTerminateBroken: after a journal that broke, SIGTERM ends the process with exit code 1 and
// the reason: what was refused since is not on disk.
func TestTerminateBroken(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	p := startProcess(t, dir)
	if err := os.Rename(dir, dir+"-elsewhere"); err != nil {
		t.Fatal(err)
	}
	for health := ""; !strings.Contains(health, `"journal":"broken"`); time.Sleep(5 * time.Millisecond) {
		r, err := http.Get(p.base)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		health = string(text)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.wait()
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || strings.Count(p.log.String(), "\nwick: ") != 1 {
		t.Errorf("exit code %d\n%s", code, p.log)
	}
}

// TestNobodyReadsLog: a wick whose log nobody reads, on a pipe that is full or broken, goes
// on to answer, halts, and ends in time when it is told to, with success.
func TestNobodyReadsLog(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		p := startWith(t, write, dir)
		log := bufio.NewScanner(read)
		for p.base == "" && log.Scan() {
			if m := servingAt.FindStringSubmatch(log.Text()); m != nil {
				p.base = m[1]
			}
		}
		if broken {
			read.Close()
		}
		token := p.login(t)
		for range 500 { // a pipe of Linux holds 64 KiB, and the line of a call has over 150 bytes
			p.call(t, token, "get_positions", `{}`)
		}
		var out bytes.Buffer
		if err := Run(t.Context(), []string{"halt", "on", "--data-dir", dir}, env(), nil, &out, io.Discard); err != nil || out.Len() == 0 {
			t.Errorf("halt on: %q, %v", &out, err)
		}
		p.terminate(t)
		read.Close()
	}
}

// TestHangup: SIGHUP, which closing a terminal sends, ends the process as SIGTERM does, and no
// login. A process that was started to ignore it, as by nohup, does.
func TestHangup(t *testing.T) {
	dir := t.TempDir()
	key, _ := newKeyFile(t)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // these tests may have been started to ignore it, and what is ignored is inherited
	p := startProcess(t, dir, "--key-file", key)
	token := p.login(t)
	stream := p.openStream(t, token)
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(stream); err != nil { // it ends, by itself
		t.Errorf("the stream broke: %v", err)
	}
	if err := p.wait(); err != nil || !strings.Contains(p.log.String(), "msg=stopped") {
		t.Errorf("after SIGHUP: %v\n%s", err, p.log)
	}
	signal.Ignore(syscall.SIGHUP) // the process that is started next inherits it
	p = p.again(t, dir, "--key-file", key)
	signal.Reset(syscall.SIGHUP)
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := p.ping(t, token); got != 200 {
			t.Errorf("the token: %d, want 200", got)
		}
	}
	p.terminate(t)
}

// TestBackup follows docs/deploy.md: stop, copy the directory, go on; then put
// the copy back elsewhere. Orders, alerts and subscriptions are those of the
// copy. A copy taken from a running process is as good as a crash at that
// moment: what was acknowledged before is in it.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startProcess(t, dir)
	token := p.login(t)
	p.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.01,"client_order_id":"one"}`)
	p.call(t, token, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1e9}}`)
	orders, alerts := p.call(t, token, "get_orders", `{}`), p.call(t, token, "list_alerts", `{}`)
	hot := copyDir(t, dir)
	p.terminate(t)
	cold := copyDir(t, dir)
	for name, backup := range map[string]string{"hot": hot, "cold": cold} {
		restored := startProcess(t, backup)
		token := restored.login(t)
		if got := restored.call(t, token, "get_orders", `{}`); got != orders {
			t.Errorf("%s: orders %s, want %s", name, got, orders)
		}
		if got := restored.call(t, token, "list_alerts", `{}`); !sameJSON(got, alerts) {
			t.Errorf("%s: alerts %s, want %s", name, got, alerts)
		}
		restored.terminate(t)
	}
}

// copyDir copies the regular files of a directory, as cp and tar do; the socket
// of a running server is no state, and a file under a temporary name may get its own
// before it is read.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) && filepath.Ext(entry.Name()) == ".tmp" {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, entry.Name()), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func sameJSON(a, b string) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, []byte(a)) == nil && json.Compact(&y, []byte(b)) == nil && x.String() == y.String()
}

// env returns a lookup in pairs of name and value.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func parse(t *testing.T, environment func(string) string, args ...string) *config {
	t.Helper()
	c, err := parseConfig(args, environment, &bytes.Buffer{})
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return c
}
