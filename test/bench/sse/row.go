package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"wick/bench/contest"
)

// row is a line of the table: a judge, in a process of its own, with its
// server. It does what it is told and answers each order with a line.
type row struct {
	name    string
	stalled bool
	said    string // the last answer

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (r *row) String() string {
	if r.stalled {
		return r.name + ", one stalled"
	}
	return r.name
}

// start starts the judge and waits until its n streams are open.
func (r *row) start(n int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r.cmd = exec.Command(self, "-read", r.name, "-stalled="+strconv.FormatBool(r.stalled), "-streams", strconv.Itoa(n), "-turns", strconv.Itoa(*turns))
	r.cmd.Stderr = os.Stderr
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	r.out = bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		return err
	}
	return r.listen()
}

// tell gives an order and waits until it is done.
func (r *row) tell(order string) error {
	if _, err := fmt.Fprintln(r.in, order); err != nil {
		return fmt.Errorf("%v: %w", r, err)
	}
	return r.listen()
}

func (r *row) listen() error {
	line, err := r.out.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%v: %w", r, err)
	}
	r.said = strings.TrimSuffix(line, "\n")
	return nil
}

func (r *row) stop() {
	r.in.Close() // the judge ends, and its server with it
	r.cmd.Wait()
}

// judge runs the server of a name with n streams and takes orders until there
// are no more.
func judge(name string, n int, stalled bool) error {
	p, err := contest.Self("-serve", name)
	if err != nil {
		return err
	}
	defer p.Stop()
	before, err := settle(p)
	if err != nil {
		return err
	}
	r, err := open(p.Base, n, stalled)
	if err != nil {
		return err
	}
	defer r.close()
	after, err := settle(p)
	if err != nil {
		return err
	}
	report := fmt.Sprintf("%9.1f", float64(after-before)/float64(n)/1024)
	if name == "bare" {
		rss, _ := p.RSS()
		return obey(func(string) (string, error) { return fmt.Sprintf("%s %9.0f", report, mib(rss)), nil })
	}
	if err := r.publish(p, new(round), 5, 1); err != nil { // the first write of a stream grows its stack
		return err
	}
	var single, burst round
	rss := int64(0) // after the single events: the bursts leave a hundred in every mailbox
	each := max(1, 600_000/n / *turns)
	return obey(func(order string) (string, error) {
		switch order {
		case "single":
			err := r.publish(p, &single, each, 1)
			_, rss = p.RSS()
			return "done", err
		case "burst":
			return "done", r.publish(p, &burst, max(1, 5000/n), 100)
		}
		return fmt.Sprintf("%s %9.0f %9.1f %9.1f %9.1f %12.2f %12.2f", report, mib(rss),
			single.percentile(50), single.percentile(99), single.percentile(100), single.each(), burst.each()), nil
	})
}

// obey says that it is ready, does what each line of the input asks for, and
// answers.
func obey(do func(order string) (string, error)) error {
	fmt.Println("ready")
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		answer, err := do(orders.Text())
		if err != nil {
			return err
		}
		fmt.Println(answer)
	}
	return nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// settle has the server give back what it does not use and returns the bytes
// of its heap and stacks.
func settle(p *contest.Process) (int, error) {
	text, err := contest.Get(p.Base + "/memory")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
