//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// process is one life of the binary.
type process struct {
	os   *os.Process
	base string // its URL
}

var baseURL = regexp.MustCompile(`http://localhost:\d+`)

// rules are limits that no run meets, for --paper-file.
const rules = "max-order-rate 1000000\nmax-open-orders-per-symbol 250\nmax-open-orders 100000\n"

// spawn runs the binary on dir, with its log to stderr.
func spawn(wick, dir string, stderr *os.File, flags ...string) (*os.Process, error) {
	if err := os.WriteFile(dir+".paper", []byte(rules), 0o600); err != nil {
		return nil, err
	}
	args := append([]string{wick, "--serve", "--trade", "--port", "0", "--data-dir", dir, "--max-position-notional", "50000000000", "--paper-file", dir + ".paper"}, flags...)
	return os.StartProcess(wick, args, &os.ProcAttr{Files: []*os.File{nil, nil, stderr}, Env: os.Environ()})
}

// verifyHistory has the binary check the whole history of a dead process.
func verifyHistory(wick, dir string) error {
	return command(wick, "audit", "verify", "--data-dir", dir)
}

// start runs the binary on dir, with more flags if there are any, and waits until it says where it listens.
func start(wick, dir string, more ...string) (*process, error) {
	logs, stderr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p, err := spawn(wick, dir, stderr, more...)
	stderr.Close()
	if err != nil {
		return nil, err
	}
	said := make(chan string, 1)
	go func() { // until the process and with it the pipe is gone
		defer logs.Close()
		var lines []string
		for scanner := bufio.NewScanner(logs); scanner.Scan(); {
			line := scanner.Text()
			if base := baseURL.FindString(line); base != "" && len(said) == 0 {
				said <- base
			}
			if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") || len(lines) < 5 {
				lines = append(lines, line)
			}
		}
		select {
		case said <- "died: " + strings.Join(lines, "\n"):
		default:
		}
	}()
	select {
	case base := <-said:
		if strings.HasPrefix(base, "died") {
			p.Wait()
			return nil, fmt.Errorf("the process %s", base)
		}
		return &process{p, base}, nil
	case <-time.After(time.Minute):
		p.Kill()
		p.Wait()
		return nil, fmt.Errorf("the process does not say where it listens")
	}
}

// kill sends SIGKILL. A second call does nothing.
func (p *process) kill() {
	if p.os != nil {
		p.os.Kill()
		p.os.Wait()
		p.os = nil
	}
}
