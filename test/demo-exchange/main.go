// Demo-exchange serves the fake services of market/markettest on a loopback
// port, for trying wick's real sources without the real services. It prints the
// settings to give to wick.
package main

import (
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"wick/market/markettest"
)

func main() {
	port := flag.Int("port", 9317, "loopback port to listen on; 0 picks a free one")
	sparse := flag.Bool("sparse", false, "leave out minutes and hours, as thin markets do")
	flag.Parse()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo-exchange:", err)
		os.Exit(1)
	}
	settings := markettest.Settings("http://" + listener.Addr().String())
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Printf("export %s=%s\n", name, settings[name])
	}
	server := &http.Server{Handler: &markettest.Exchange{Sparse: *sparse}, ReadHeaderTimeout: 5 * time.Second}
	fmt.Fprintln(os.Stderr, "demo-exchange:", server.Serve(listener))
	os.Exit(1)
}
