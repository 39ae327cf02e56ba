// Command stdio counts round trips per second over standard input and output:
// wick's binary against mcp-go and the official Go SDK, one message at a time
// and 32 in flight. A summary of three indicators, which the peers do not have, is
// measured of wick alone:
//
//	go run ./stdio -wick ../../wick
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	mark3 "github.com/mark3labs/mcp-go/server"
	official "github.com/modelcontextprotocol/go-sdk/mcp"

	"wick/bench/contest"
	"wick/test/harness"
)

var (
	wick    = flag.String("wick", "../../wick", "wick's `binary`")
	seconds = flag.Float64("seconds", 3, "how long each measurement lasts")
	serve   = flag.String("serve", "", "be the `server` of that name")
)

// peer is what the others serve: one small tool suffices here.
var peer = contest.Peer{Tools: []contest.PeerTool{{Name: "list_alerts", Description: "lists alerts", Schema: []byte(`{"type":"object"}`)}}}

func main() {
	flag.Parse()
	var err error
	switch *serve {
	case "":
		err = compare()
	case "mcp-go":
		err = mark3.ServeStdio(peer.MCPGo())
	case "go-sdk":
		err = peer.GoSDK().Run(context.Background(), &official.StdioTransport{})
	}
	if err != nil && *serve == "" {
		contest.Fail(err)
	}
}

func compare() error {
	fmt.Println(contest.Machine())
	self, err := os.Executable()
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "wick-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	rivals := []struct {
		name string
		args []string
	}{
		{"wick", []string{*wick, "--mcp", "--trade", "--data-dir", home}},
		{"mcp-go", []string{self, "-serve", "mcp-go"}},
		{"go-sdk", []string{self, "-serve", "go-sdk"}},
	}
	jobs := []struct{ name, message string }{
		{"ping", `{"jsonrpc":"2.0","id":7,"method":"ping"}`},
		{"small call", harness.Message("list_alerts", "{}")},
		{"summary", harness.Message("generate_chart", `{"symbol":"BTCUSDT","indicators":["ema_stack","rsi","macd"],"format":"summary"}`)},
	}
	fmt.Printf("%-12s %-9s %-8s %14s %12s %10s\n", "", "in flight", "", "round trips/s", "CPU us each", "wick's")
	for _, job := range jobs {
		for _, flight := range []int{1, 32} {
			var own, ownCPU float64
			for i, r := range rivals {
				if i > 0 && job.name == "summary" {
					break
				}
				rate, cpu, err := measure(r.args, job.message, flight)
				if err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
				if r.name == "wick" {
					own, ownCPU = rate, cpu
				}
				fmt.Printf("%-12s %9d %-8s %14.0f %12.1f %9.1fx\n", job.name, flight, r.name, rate, cpu, own/rate)
				contest.Behind(fmt.Sprintf("%s, %d in flight, us of CPU", job.name, flight), r.name, cpu, ownCPU)
			}
		}
	}
	return nil
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
`
const ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// measure starts a server and returns its round trips per second and the CPU
// microseconds it spends on each.
func measure(args []string, message string, flight int) (rate, cpu float64, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = nil // wick's log of its start
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	// Fd makes our ends block in the system call: by way of Go's poller a reply
	// would reach us later than it could, whoever sent it.
	in.(interface{ Fd() uintptr }).Fd()
	out.(*os.File).Fd()
	replies := bufio.NewReaderSize(out, 1<<20)
	if _, err := io.WriteString(in, hello); err != nil {
		return 0, 0, err
	}
	if _, err := replies.ReadSlice('\n'); err != nil {
		return 0, 0, err
	}
	if _, err := io.WriteString(in, ready); err != nil {
		return 0, 0, err
	}
	var lines []byte
	for id := range flight { // requests under way must differ in their ids
		lines = append(lines, strings.Replace(message, `"id":7`, `"id":`+strconv.Itoa(id+10), 1)+"\n"...)
	}
	for range 200 { // to be warm
		if err := trip(in, replies, lines, flight); err != nil {
			return 0, 0, err
		}
	}
	before, start, n := harness.CPU(cmd.Process.Pid), time.Now(), 0
	for time.Since(start).Seconds() < *seconds {
		for range 20 {
			if err := trip(in, replies, lines, flight); err != nil {
				return 0, 0, err
			}
			n += flight
		}
	}
	took := time.Since(start)
	return float64(n) / took.Seconds(), float64((harness.CPU(cmd.Process.Pid) - before).Microseconds()) / float64(n), nil
}

// trip sends the messages and reads as many replies.
func trip(in io.Writer, replies *bufio.Reader, lines []byte, flight int) error {
	if _, err := in.Write(lines); err != nil {
		return err
	}
	for range flight {
		line, err := replies.ReadSlice('\n')
		if err != nil {
			return err
		}
		if !bytes.Contains(line, []byte(`"result"`)) {
			return fmt.Errorf("answered %.200s", line)
		}
	}
	return nil
}
