// Load puts a running wick under load and reports whether it withstood it.
//
//	load flood   what strangers and a greedy client can do at their worst, for some minutes
//	load soak    mixed honest and dishonest work, for --time
//
// Both need the server's process id, to read its memory, and its metrics; see
// scripts/with-wick, which starts one and passes them in the environment. The
// server must trust 127.0.0.1 as a proxy: the strangers come from as many
// addresses as they like. WICK_PASSPHRASE holds the owner's passphrase, if there
// is one.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("say flood or soak"))
	}
	fs := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	length := fs.Duration("time", time.Hour, "how long to soak")
	fs.Parse(os.Args[2:])
	t, err := newTarget(os.Getenv("WICK_URL"), os.Getenv("WICK_METRICS_URL"), os.Getenv("WICK_PID"))
	if err != nil {
		fail(err)
	}
	switch os.Args[1] {
	case "flood":
		err = flood(t)
	case "soak":
		err = soak(t, *length)
	default:
		err = fmt.Errorf("%q is neither flood nor soak", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "load:", err)
	os.Exit(1)
}
