package contest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Load is what wrk saw and what the server spent meanwhile.
type Load struct {
	Requests int     `json:"requests"`
	Errors   int     `json:"errors"` // connections, timeouts and statuses of 400 and more
	P50      float64 `json:"p50"`    // microseconds
	P99      float64 `json:"p99"`
	Micros   float64 `json:"duration"`

	CPU time.Duration // of the server
}

// Add adds another measurement to l. Percentiles cannot be added, so the worse one stays.
func (l *Load) Add(other Load) {
	l.Requests += other.Requests
	l.Errors += other.Errors
	l.Micros += other.Micros
	l.CPU += other.CPU
	l.P50, l.P99 = max(l.P50, other.P50), max(l.P99, other.P99)
}

// PerRequest returns the server's CPU time for one request, in microseconds.
func (l Load) PerRequest() float64 {
	return float64(l.CPU.Microseconds()) / float64(max(1, l.Requests))
}

// Rate returns the requests per second.
func (l Load) Rate() float64 { return float64(l.Requests) / (l.Micros / 1e6) }

// Number, in a message of Wrk, is replaced by another number in each request.
const Number = "#number#"

// Wrk posts one message to the server again and again over a number of
// connections. A first second that is not counted warms the server up.
func Wrk(p *Process, connections int, d time.Duration, token, message string) (Load, error) {
	dir, err := os.MkdirTemp("", "wrk-")
	if err != nil {
		return Load{}, err
	}
	defer os.RemoveAll(dir)
	var script strings.Builder
	fmt.Fprintf(&script, "wrk.method = \"POST\"\nwrk.body = %s\n", luaString(message))
	for name, value := range Headers(token) {
		fmt.Fprintf(&script, "wrk.headers[ %s ] = %s\n", luaString(name), luaString(value))
	}
	if strings.Contains(message, Number) {
		// The text of the request is made once, and only the number in it changes, which
		// always has 16 digits. The less processor the load takes, the more the server has.
		fmt.Fprintf(&script, `
local number, head, tail = os.time() * 1000000, "", ""
function init()
  local text = wrk.format(nil, nil, nil, (string.gsub(wrk.body, %s, string.rep("#", 16))))
  local first, last = string.find(text, string.rep("#", 16), 1, true)
  head, tail = string.sub(text, 1, first - 1), string.sub(text, last + 1)
end
function request()
  number = number + 1
  return head .. string.format("%%016d", number) .. tail
end
`, luaString(Number))
	}
	script.WriteString(`
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('\n{"requests":%d,"errors":%d,"p50":%.1f,"p99":%.1f,"duration":%d}\n', summary.requests,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99), summary.duration))
end
`)
	file := filepath.Join(dir, "post.lua")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		return Load{}, err
	}
	if _, err := runWrk(p, connections, time.Second, file); err != nil {
		return Load{}, err
	}
	return runWrk(p, connections, d, file)
}

func runWrk(p *Process, connections int, d time.Duration, script string) (l Load, err error) {
	before := p.CPU()
	out, err := exec.Command("wrk", "-t1", fmt.Sprint("-c", connections), fmt.Sprintf("-d%ds", int(d.Seconds())), "--timeout", "30s",
		"-s", script, p.Base+"/mcp").CombinedOutput()
	if err != nil {
		return l, fmt.Errorf("wrk (Debian has a package of that name): %w: %s", err, out)
	}
	l.CPU = p.CPU() - before
	cpu := l.CPU
	_, line, _ := strings.Cut(string(out), "\n{")
	if err := json.Unmarshal([]byte("{"+line), &l); err != nil {
		return l, fmt.Errorf("wrk said %q: %w", out, err)
	}
	l.CPU = cpu
	return l, nil
}

// luaString quotes s for Lua.
func luaString(s string) string { return "[==[" + s + "]==]" }
