package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"wick/test/harness"
)

// target is the wick under load.
type target struct {
	*harness.Client // that others are copies of
	metrics         string
	pid             int
	passphrase      string // the owner's; empty if there is none
}

func newTarget(base, metrics, pid string) (*target, error) {
	n, err := strconv.Atoi(pid)
	if base == "" || metrics == "" || err != nil {
		return nil, fmt.Errorf("WICK_URL, WICK_METRICS_URL and WICK_PID must be set: use scripts/with-wick")
	}
	t := &target{Client: harness.New(base, ""), metrics: metrics, pid: n, passphrase: os.Getenv("WICK_PASSPHRASE")}
	t.HTTP.Timeout = 10 * time.Minute
	return t, nil
}

// sample is what the server uses at a moment.
type sample struct {
	memory      int64 // resident, in bytes
	descriptors int
	goroutines  int
}

func (s sample) String() string {
	return fmt.Sprintf("%6.1f MiB resident, %5d descriptors, %5d goroutines", mib(s.memory), s.descriptors, s.goroutines)
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

func (t *target) sample() (s sample, err error) {
	s.memory, _ = harness.Memory(t.pid)
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", t.pid))
	if err != nil {
		return s, err
	}
	s.descriptors = len(open)
	n, err := t.metric("wick_goroutines")
	s.goroutines = int(n)
	return s, err
}

// rest samples the server when all our connections are closed except the one that asks, so
// that two samples can be compared.
func (t *target) rest() (sample, error) {
	t.HTTP.CloseIdleConnections()
	time.Sleep(100 * time.Millisecond) // for the server to notice
	return t.sample()
}

// metric reads one number of the server's metrics.
func (t *target) metric(name string) (float64, error) {
	r, err := t.HTTP.Get(t.metrics)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", t.metrics, name)
}

// over returns the target by connections of its own.
func (t *target) over(connections *http.Transport) *target {
	c := *t.Client
	c.HTTP = &http.Client{Timeout: 30 * time.Second, Transport: connections, CheckRedirect: harness.NoRedirect}
	return &target{&c, t.metrics, t.pid, t.passphrase}
}

// as returns a client of that name that comes from an address.
func (t *target) as(name, from string) *harness.Client {
	c := *t.Client
	c.Name, c.From = name, from
	return &c
}

// with returns a client that has a token.
func (t *target) with(token string) *harness.Client {
	c := *t.Client
	c.Token = token
	return &c
}

// login goes the whole way from a registration to a token.
func (t *target) login(name, from string) (string, error) {
	c := t.as(name, from)
	err := c.LogIn(t.passphrase)
	return c.Token, err
}

// answered returns the status of the answer to a request, and the error of one that got none.
func answered(err error) (status int, none error) {
	if status = harness.Status(err); status != 0 {
		err = nil
	}
	return status, err
}

// ping asks whether the server runs and the token works.
func (t *target) ping(token string) (status int, err error) {
	return answered(t.with(token).Post("/mcp", "application/json", []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), nil))
}

// call calls a tool and returns its first text and the HTTP status.
func (t *target) call(token, tool, arguments string) (text string, status int, err error) {
	reply, err := t.with(token).Call(tool, arguments)
	if status, err = answered(err); status != http.StatusOK {
		return "", status, err
	}
	if len(reply.Texts) == 0 {
		return "", status, fmt.Errorf("%s answered %q", tool, reply.Refused)
	}
	return reply.Texts[0], status, nil
}
