// Package harness is what the comparison programs share: servers as processes
// of their own, whose CPU time and memory the kernel counts, a login to wick,
// the peers' servers, and load from wrk.
//
// All programs measure CPU time: unlike wall time it does not grow when others use
// the machine. But a cache or a core that is shared with others makes the same
// instructions slower, so the programs run all contestants in one go, in turns, and
// print ratios.
package harness

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is a running server.
type Process struct {
	Base string // such as http://127.0.0.1:41234
	PID  int

	cmd *exec.Cmd
	dir string // its home, removed by Stop
}

// Self starts this program again with the arguments, which must make it a
// server that prints its base URL as the first line of its output.
func Self(args ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(self, args...)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.PID = p.cmd.Process.Pid
	if _, err := fmt.Fscanln(out, &p.Base); err != nil {
		p.Stop()
		return nil, fmt.Errorf("%v said nothing: %w", args, err)
	}
	return p, nil
}

// Wick starts the binary with the arguments, a home of its own and any port,
// and waits until it serves. Its log goes to a file, as under a service
// manager.
func Wick(bin string, args ...string) (*Process, error) {
	dir, err := os.MkdirTemp("", "wick-bench-")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &Process{cmd: exec.Command(bin, append(args, "--port", "0")...), dir: dir}
	p.cmd.Env = []string{"HOME=" + dir}
	p.cmd.Stderr = log
	if err := p.cmd.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	p.PID = p.cmd.Process.Pid
	for range 4000 {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			break
		}
		// Its own address: without a passphrase the login answers there only.
		if _, rest, ok := strings.Cut(string(text), ` url=`); ok {
			p.Base, _, _ = strings.Cut(rest, "/mcp ")
			return p, nil
		}
		time.Sleep(time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	p.Stop()
	return nil, fmt.Errorf("wick did not start: %s", text)
}

// Stop ends the process and waits for it.
func (p *Process) Stop() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
	if p.dir != "" {
		os.RemoveAll(p.dir)
	}
}

// CPU returns the time the process has spent on the cores, its own and the
// kernel's on its behalf, in steps of 10 ms.
func (p *Process) CPU() time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold blanks
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	const perSecond = 100 // USER_HZ, fixed in Linux's interface
	return time.Duration(user+system) * time.Second / perSecond
}

// RSS returns the resident memory in bytes, now and at its peak.
func (p *Process) RSS() (now, peak int) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			now = kib << 10
		}
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			peak = kib << 10
		}
	}
	return now, peak
}

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

// Fail prints the error and ends the program.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Get reads a URL whole.
func Get(url string) ([]byte, error) {
	r, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}
