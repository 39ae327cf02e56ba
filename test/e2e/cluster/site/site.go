// Package site starts etcd and wick as processes on this machine, and speaks to wick
// as a client does.
package site

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"wick/test/harness"
)

// Site is a directory with the processes that work in it.
type Site struct {
	Dir string
	all []*harness.Process
}

// Run starts a program whose output goes to the file NAME.log.
func (s *Site) Run(name string, args ...string) (*harness.Process, error) {
	out, err := os.OpenFile(filepath.Join(s.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p, err := harness.Spawn(out, out, args[0], args[1:]...)
	if err == nil {
		s.all = append(s.all, p)
	}
	return p, err
}

// Stop ends all that was started.
func (s *Site) Stop() {
	for _, p := range s.all {
		p.Kill()
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
		p.Wait()
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
		"--key-file", filepath.Join(s.Dir, "key"), "--base-url", "http://" + published}
}

// Serve starts a wick with limits that no measurement meets.
func (s *Site) Serve(wick, name string, flags ...string) (*harness.Process, error) {
	free, err := harness.FreePorts(1)
	if err != nil {
		return nil, err
	}
	unlimited, err := harness.Unlimited(filepath.Join(s.Dir, "rules"))
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(free[0])
	args := append([]string{wick, "--serve", "--port", port, "--data-dir", filepath.Join(s.Dir, name), "--source", "sample"}, unlimited...)
	p, err := s.Run(name, append(args, flags...)...)
	if err == nil {
		p.Base = "http://localhost:" + port
		if slices.Contains(flags, "--base-url") {
			p.Host = published
		}
	}
	return p, err
}

// Await waits until a wick says that it is ready; a replica knows a leader then.
func Await(p *harness.Process) error {
	for range 300 {
		if said, err := harness.Ready(p.Base, true); err == nil && said.Ready {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%s is not ready after half a minute", p.Base)
}

// published is the name of the service that the replicas are.
const published = "localhost:9315"

// Call calls a tool at a wick with the token of a client, and returns the texts of the reply. A
// refusal is an error.
func Call(p *harness.Process, c *harness.Client, tool, arguments string) (string, error) {
	there := *c
	there.Base = p.Base
	reply, err := there.Call(tool, arguments)
	if err == nil && reply.Refused != "" {
		err = errors.New(reply.Refused)
	}
	return strings.Join(reply.Texts, "\n"), err
}
