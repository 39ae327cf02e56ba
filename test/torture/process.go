//go:build unix

package main

import (
	"os"

	"wick/test/harness"
)

// flags are those of a wick on dir, with limits that no run meets.
func flags(dir string, more ...string) ([]string, error) {
	unlimited, err := harness.Unlimited(dir + ".paper")
	return append(append(unlimited, "--data-dir", dir), more...), err
}

// start runs the binary on dir, with more flags if there are any, and waits until it says where it listens.
func start(wick, dir string, more ...string) (*harness.Process, error) {
	args, err := flags(dir, more...)
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp("", "wick-torture-*.log") // not on the disk that is filled
	if err != nil {
		return nil, err
	}
	log.Close()
	defer os.Remove(log.Name())
	return harness.Serve(wick, log.Name(), append([]string{"--port", "0"}, args...)...)
}

// spawn runs the binary on dir and does not wait.
func spawn(wick, dir string, stderr *os.File, more ...string) (*harness.Process, error) {
	args, err := flags(dir, more...)
	if err != nil {
		return nil, err
	}
	return harness.Spawn(nil, stderr, wick, append([]string{"--serve", "--port", "0"}, args...)...)
}

// verifyHistory has the binary check the whole history of a dead process.
func verifyHistory(wick, dir string) error {
	return harness.Run(wick, "audit", "verify", "--data-dir", dir)
}
