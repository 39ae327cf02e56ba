package harness

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is a program that runs.
type Process struct {
	*os.Process
	Base string // the address of a server
	Host string // that it answers for, if Base is not its published address

	ended chan struct{} // closed when it has ended
	state *os.ProcessState
}

// Spawn starts a program with its output and errors in files, which may be nil.
func Spawn(out, errors *os.File, program string, args ...string) (*Process, error) {
	return spawn(os.Environ(), out, errors, program, args)
}

func spawn(env []string, out, errors *os.File, program string, args []string) (*Process, error) {
	started, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{Files: []*os.File{nil, out, errors}, Env: env})
	if err != nil {
		return nil, err
	}
	p := &Process{Process: started, ended: make(chan struct{})}
	go func() {
		p.state, _ = started.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Login returns a client of the server, which has no passphrase.
func (p *Process) Login(name string) (*Client, error) {
	c := New(p.Base, name)
	c.Host = p.Host
	return c, c.LogIn("")
}

// Wait waits until the program has ended, and returns how.
func (p *Process) Wait() *os.ProcessState {
	<-p.ended
	return p.state
}

// Kill ends the program with SIGKILL and waits for that. A second call does nothing.
func (p *Process) Kill() {
	p.Process.Kill()
	p.Wait()
}

// Run runs a program to its end, with its output beside ours.
func Run(program string, args ...string) error {
	p, err := Spawn(os.Stdout, os.Stderr, program, args...)
	if err != nil {
		return err
	}
	if state := p.Wait(); !state.Success() {
		return fmt.Errorf("%s %s ends with %s", filepath.Base(program), strings.Join(args, " "), state)
	}
	return nil
}

// Serve starts wick with its log in a file, as under a service manager, and the directory of
// that file as its home, and waits until it says where it listens.
func Serve(wick, file string, args ...string) (*Process, error) {
	log, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	// Of two entries for HOME a program takes the first.
	p, err := spawn(append([]string{"HOME=" + filepath.Dir(file)}, os.Environ()...), nil, log, wick, append([]string{"--serve"}, args...))
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(file)
		// Its own address: without a passphrase the login answers there only.
		if _, rest, ok := strings.Cut(string(text), " url="); ok {
			if base, _, whole := strings.Cut(rest, "/mcp "); whole {
				p.Base = base
				return p, nil
			}
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("wick died: %s", text)
		default:
		}
	}
	p.Kill()
	return nil, fmt.Errorf("wick does not say where it listens")
}

// Rules are limits that no run meets, for --paper-file.
const Rules = "max-order-rate 1000000\nmax-open-orders-per-symbol 250\nmax-open-orders 100000\n"

// Unlimited writes a file with [Rules] and returns the flags of a book with them.
func Unlimited(file string) ([]string, error) {
	return []string{"--trade", "--max-position-notional", "50000000000", "--paper-file", file}, os.WriteFile(file, []byte(Rules), 0o600)
}

// FreePorts returns n addresses on loopback that nobody uses at the moment.
func FreePorts(n int) (addresses []string, err error) {
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer ln.Close()
		addresses = append(addresses, ln.Addr().String())
	}
	return addresses, nil
}

// Readiness is what a wick says of itself.
type Readiness struct {
	Ready bool
	Role  string // of a replica
}

// Ready asks a wick whether it is ready; strictly, a replica is when it knows a leader.
func Ready(base string, strict bool) (r Readiness, err error) {
	path := "/readyz"
	if strict {
		path += "?strict"
	}
	probe := http.Client{Timeout: time.Second}
	answer, err := probe.Get(base + path)
	if err != nil {
		return r, err
	}
	defer answer.Body.Close()
	return r, json.NewDecoder(answer.Body).Decode(&r)
}

// CPU returns the time that a process has spent on the cores, its own and the kernel's on its
// behalf, in steps of 10 ms.
func CPU(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
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

// Memory returns the resident memory of a process in bytes, now and at its peak.
func Memory(pid int) (now, peak int64) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			now = kib << 10
		}
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			peak = kib << 10
		}
	}
	return now, peak
}
