package address

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// ErrRefused is the error of a connection to an address that is not allowed.
var ErrRefused = errors.New("address refused")

// Dialer returns a dialer that connects only to addresses for which may returns true. It
// checks the address that a name resolved to, so a public name that leads into a private
// network is refused. It does not check the address of the resolver, which the operator
// has set and which is often private.
func Dialer(may func(netip.Addr) bool) *net.Dialer {
	return &net.Dialer{Timeout: 5 * time.Second, Control: func(_, to string, _ syscall.RawConn) error {
		addr, err := netip.ParseAddrPort(to)
		if err != nil || !may(addr.Addr()) {
			return fmt.Errorf("%w: %s is not one that may be connected to", ErrRefused, to)
		}
		return nil
	}}
}

// Allowed returns a function for Dialer that allows public addresses, or only those of
// this machine if loopback is set.
func Allowed(loopback bool) func(netip.Addr) bool {
	if loopback {
		return func(ip netip.Addr) bool { return Loopback(ip.String()) }
	}
	return Public
}

// maxHead bounds the head of a reply, in bytes.
const maxHead = 64 << 10

// Client returns an HTTP client whose connections are made by Dialer(may). A request
// takes at most timeout, with its reply. The client uses no proxy. It returns a redirect
// and does not follow it, because it could lead anywhere.
func Client(timeout time.Duration, may func(netip.Addr) bool) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext: Dialer(may).DialContext, TLSHandshakeTimeout: 5 * time.Second, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHead,
		},
		CheckRedirect: Stay,
	}
}

// Stay returns a redirect as the reply: for [http.Client.CheckRedirect].
func Stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
