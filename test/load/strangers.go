package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// What strangers do.
const (
	registrations = 100_000 // each from an IPv4 address of its own, or as many as there is time for
	networks      = 5_000   // IPv6 /64s, each of which registers and asks for the login page
	halfOpen      = 10_000
	slow          = 500 // heads, and as many bodies
	unread        = 500 // lists of tools, and as many batches of twenty, whose answers nobody reads
	bad           = 100 // huge messages, and as many deep ones
)

// registering is how long registrations go on at most: on a slow machine the
// rest of the flood is over long before there are 100,000.
const registering = 2 * time.Minute

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// strangers floods the server and returns when the registrations are done. The
// connections that say nothing, say too little or do not read are held meanwhile.
// Wrong passphrases are guessed until stop is closed.
func strangers(t *target, stop <-chan struct{}) {
	h := newHolders(t)
	var workers sync.WaitGroup
	start := time.Now()
	batch := "[" + strings.Repeat(listTools+",", 19) + listTools + "]"
	for n, opening := range map[int][]string{
		halfOpen: {""},
		slow: {"POST /mcp HTTP/1.1\r\nHost: " + h.host + "\r\nX-Slow: ",
			h.post("", 16000, "{"+strings.Repeat(" ", 7000)),
			h.post("", len(listTools), listTools), h.post("", len(batch), batch)},
	} {
		for _, text := range opening {
			workers.Go(func() { h.hold(n, text) })
		}
	}
	workers.Go(func() { badMessages(t) })
	workers.Go(func() { visit(t) })
	go guess(t, stop)
	statuses := register(t, &workers)
	workers.Wait()
	fmt.Printf("strangers:      registrations for %.1f s, answered %v; %d from /64s;\n                %d connections that say too little or do not read (%d refused); %d huge and deep messages\n",
		time.Since(start).Seconds(), statuses, networks, halfOpen+2*slow+2*unread, h.refused.Load(), 2*bad)
	h.release()
}

// holders opens connections and keeps them.
type holders struct {
	host    string
	stop    chan struct{}
	held    sync.WaitGroup
	refused atomic.Int64
}

func newHolders(t *target) *holders {
	address, _ := url.Parse(t.Base)
	return &holders{host: address.Host, stop: make(chan struct{})}
}

// post returns a request of so many bytes that begins with body.
func (h *holders) post(token string, length int, body string) string {
	authorization := ""
	if token != "" {
		authorization = "Authorization: Bearer " + token + "\r\n"
	}
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", h.host, authorization, length, body)
}

// hold opens n connections, sends opening on each and reads nothing. Their
// receive buffers are small, so that what is not read stays with the server.
func (h *holders) hold(n int, opening string) {
	for range n {
		c, err := net.Dial("tcp", h.host)
		if err != nil {
			h.refused.Add(1)
			continue
		}
		c.(*net.TCPConn).SetReadBuffer(4 << 10)
		h.held.Go(func() {
			go io.WriteString(c, opening) // may block: the server need not read it
			<-h.stop
			c.Close()
		})
	}
}

// release closes all connections.
func (h *holders) release() {
	close(h.stop)
	h.held.Wait()
}

// register registers clients, each from an address of its own, so that rate limits do not
// help the server.
func register(t *target, workers *sync.WaitGroup) *tally {
	var next atomic.Int64
	statuses, start := &tally{}, time.Now()
	for range 8 {
		workers.Go(func() {
			for n := next.Add(1); n <= registrations && time.Since(start) < registering; n = next.Add(1) {
				statuses.add(answered(t.as("stranger", fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)).Register()))
			}
		})
	}
	return statuses
}

// visit registers and asks for the login page from many IPv6 networks of one
// provider. The answers do not matter.
func visit(t *target) {
	for n := range networks {
		c := t.as("visitor", fmt.Sprintf("2001:db8:77:%x::1", n))
		c.Register()
		c.Send("GET", c.AuthorizePath("a verifier that nobody will ask for"), "", nil)
	}
}

// guess types wrong passphrases, from a new address each time.
func guess(t *target, stop <-chan struct{}) {
	if t.passphrase == "" {
		return
	}
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(50 * time.Millisecond):
		}
		c := t.as("guesser", fmt.Sprintf("198.51.%d.%d", n>>8&255, n&255))
		if c.Register() == nil {
			c.Authorize(fmt.Sprint("wrong guess number ", n)) // refused
		}
	}
}

// badMessages sends messages that are too large or nested too deeply. The answers do not
// matter, only that the server still runs afterwards.
func badMessages(t *target) {
	huge := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 2<<20) + `"}`
	deep := strings.Repeat(`[`, 15000)
	for i := range 2 * bad {
		body := huge
		if i%2 == 0 {
			body = deep
		}
		t.Send("POST", "/mcp", "application/json", strings.NewReader(body))
	}
}
