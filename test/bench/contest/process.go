// Package contest is what the comparison programs share: servers as processes
// of their own, whose CPU time and memory the kernel counts, a login to wick,
// the peers' servers, and load from wrk.
//
// All programs measure CPU time: unlike wall time it does not grow when others use
// the machine. But a cache or a core that is shared with others makes the same
// instructions slower, so the programs run all contestants in one go, in turns, and
// print ratios.
package contest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wick/test/harness"
)

// Process is a running server.
type Process struct {
	*harness.Process
	dir string // its home, removed by Stop
}

// Self starts this program again with the arguments, which must make it a
// server that prints its base URL as the first line of its output.
func Self(args ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	said, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer said.Close()
	started, err := harness.Spawn(out, os.Stderr, self, args...)
	out.Close()
	if err != nil {
		return nil, err
	}
	p := &Process{Process: started}
	if _, err := fmt.Fscanln(said, &p.Base); err != nil {
		p.Stop()
		return nil, fmt.Errorf("%v said nothing: %w", args, err)
	}
	return p, nil
}

// Wick starts the binary with the arguments, a home of its own and any port,
// and waits until it serves.
func Wick(bin string, args ...string) (*Process, error) {
	dir, err := os.MkdirTemp("", "wick-bench-")
	if err != nil {
		return nil, err
	}
	p, err := harness.Serve(bin, filepath.Join(dir, "log"), append(args, "--port", "0")...)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return &Process{p, dir}, nil
}

// Stop ends the process and waits for it.
func (p *Process) Stop() {
	p.Kill()
	if p.dir != "" {
		os.RemoveAll(p.dir)
	}
}

// CPU returns the time that the process has spent on the cores.
func (p *Process) CPU() time.Duration { return harness.CPU(p.Pid) }

// RSS returns the resident memory in bytes, now and at its peak.
func (p *Process) RSS() (now, peak int64) { return harness.Memory(p.Pid) }

// Machine describes the computer in a line, with its load, which says how far
// figures can be trusted.
func Machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	return fmt.Sprintf("%s, load %s", model, strings.TrimSpace(string(load)))
}

// Behind prints that somebody else's figure, of which less is better, is below ours, if it is.
// scripts/bench puts these lines first.
func Behind(what, who string, theirs, ours float64) {
	if theirs < ours {
		fmt.Printf("behind: %s: %s %.3g, wick %.3g\n", what, who, theirs, ours)
	}
}

// Fail prints the error and ends the program.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Get reads a URL whole.
func Get(url string) ([]byte, error) {
	answer, err := harness.New(url, "bench").Send("GET", "", "", nil)
	return answer.Body, err
}

// Headers returns what an MCP client sends with a message.
func Headers(token string) map[string]string {
	return map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-03-26",
	}
}

// Post sends one message to a server with a token and returns the status and the whole reply.
func Post(base, token, message string) (int, []byte, error) {
	c := harness.New(base, "bench")
	var headers []string
	for name, value := range Headers(token) {
		headers = append(headers, name, value)
	}
	answer, err := c.Send("POST", "/mcp", "", strings.NewReader(message), headers...)
	return answer.Status, answer.Body, err
}
