// Package site starts etcd and wick as processes on this machine, and speaks to wick
// as a client does.
package site

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Site is a directory with the processes that work in it.
type Site struct {
	Dir string
	all []*os.Process
}

// FreePort returns an address that nobody uses at the moment.
func FreePort() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// Run starts a program whose output goes to the file NAME.log.
func (s *Site) Run(name string, args ...string) (*os.Process, error) {
	out, err := os.OpenFile(filepath.Join(s.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{Files: []*os.File{nil, out, out}, Env: os.Environ()})
	if err == nil {
		s.all = append(s.all, p)
	}
	return p, err
}

// Stop ends all that was started.
func (s *Site) Stop() {
	for _, p := range s.all {
		p.Kill()
		p.Wait()
	}
}

// Secrets makes the files cluster.txt and key, which replicas share. More is added to
// the first.
func (s *Site) Secrets(wick, more string) error {
	if err := os.WriteFile(filepath.Join(s.Dir, "cluster.txt"), []byte("secret 0123456789abcdef0123456789abcdef\n"+more), 0o600); err != nil {
		return err
	}
	p, err := s.Run("key", wick, "key", filepath.Join(s.Dir, "key"))
	if err == nil {
		_, err = p.Wait()
	}
	return err
}

// Replica returns the flags of a replica on an etcd.
func (s *Site) Replica(endpoints string) []string {
	shared, err := os.ReadFile(filepath.Join(s.Dir, "cluster.txt"))
	if err != nil {
		panic(err) // Secrets has written it
	}
	f, err := os.CreateTemp(s.Dir, "replica-*.txt")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\netcd %s\nlisten 127.0.0.1:0\n", shared, endpoints)
	return []string{"--cluster-file", f.Name(),
		"--key-file", filepath.Join(s.Dir, "key"), "--base-url", "http://localhost:9315"}
}

// Serve starts a wick with limits that no measurement meets. It returns the process
// and its URL.
func (s *Site) Serve(wick, name string, flags ...string) (*os.Process, string, error) {
	address, err := FreePort()
	if err != nil {
		return nil, "", err
	}
	_, port, _ := net.SplitHostPort(address)
	rules := filepath.Join(s.Dir, "rules")
	if err := os.WriteFile(rules, []byte("max-order-rate 1000000\nmax-open-orders-per-symbol 250\nmax-open-orders 100000\n"), 0o600); err != nil {
		return nil, "", err
	}
	p, err := s.Run(name, append([]string{wick, "--serve", "--trade", "--port", port, "--data-dir", filepath.Join(s.Dir, name), "--source", "sample", "--max-position-notional", "50000000000", "--paper-file", rules}, flags...)...)
	return p, "http://localhost:" + port, err
}

// Await waits until a wick says that it is ready; a replica knows a leader then.
func Await(base string) error {
	for range 300 {
		if ready(base) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%s is not ready after half a minute", base)
}

// ready asks a wick.
func ready(base string) bool {
	r, err := http.Get(base + "/readyz?strict")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	var doc struct{ Ready bool }
	return json.NewDecoder(r.Body).Decode(&doc) == nil && doc.Ready
}
