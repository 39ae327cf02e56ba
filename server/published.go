package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"wick/internal/address"
)

// This file spells addresses as browsers do (https://url.spec.whatwg.org). Host and Origin
// of a request are compared with them byte for byte, so a spelling that no browser sends
// would shut everybody out.

// normalBase checks a base URL and returns it in the one spelling that is
// published: scheme and host as browsers write them, no default port, no trailing slash.
func normalBase(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return "", fmt.Errorf("is not a URL such as https://wick.example.com")
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.Trim(u.Path, "/") != "":
		return "", fmt.Errorf("must be a bare origin: no path, query, fragment or user") // which may be secrets, so it is not quoted
	}
	origin, err := normalOrigin(u)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q: %w", text, err)
	case u.Scheme != "https" && !(u.Scheme == "http" && address.Loopback(u.Hostname())):
		return "", fmt.Errorf("%q must be https; http is for loopback names only", text)
	}
	return origin, nil
}

// normalOrigin returns scheme, host and port of u as browsers write them: in lower case,
// without the port that belongs to the scheme. The parser has put the scheme in lower case.
func normalOrigin(u *url.URL) (string, error) {
	host, err := normalHost(u.Hostname())
	if err != nil || u.Port() == "" {
		return u.Scheme + "://" + host, err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil || port < 1 || port > 65535 {
		return "", fmt.Errorf("the port %s is out of bounds, 1 to 65535", u.Port())
	}
	if own := u.Scheme == "https" && port == 443 || u.Scheme == "http" && port == 80; !own {
		host += ":" + strconv.Itoa(port)
	}
	return u.Scheme + "://" + host, nil
}

// normalHost returns a host, which comes without brackets, as browsers write it, or says
// how to write one that they would turn into another: a name in letters of its own
// language, or a number that stands for an address.
func normalHost(host string) (string, error) {
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && ip.Zone() != "":
		return "", errors.New("an address with a zone is not taken by browsers: write one without, or a name")
	case err == nil && ip.Is4In6():
		return "", fmt.Errorf("browsers spell an IPv4 address in brackets in another way: write %s", ip.Unmap())
	case err == nil && ip.Is6():
		return "[" + ip.String() + "]", nil
	case err == nil:
		return ip.String(), nil
	case strings.ContainsFunc(host, func(r rune) bool { return r > '~' }):
		return "", errors.New("browsers send such a name in its ASCII form: write that, which begins with xn-- where a part has other letters")
	case strings.HasSuffix(host, "."):
		return "", errors.New("with a dot at its end it is another name for browsers: write it without")
	}
	host = strings.ToLower(host)
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", fmt.Errorf("%q is not the name of a host: write letters, digits and hyphens, with single dots between", host)
		}
	}
	// Browsers take a name whose last part is a number for an address, and write it anew.
	last := labels[len(labels)-1]
	if hex, ok := strings.CutPrefix(last, "0x"); strings.Trim(last, "0123456789") == "" || ok && strings.Trim(hex, "0123456789abcdef") == "" {
		return "", fmt.Errorf("browsers read %q as an address: write it as four numbers, such as 127.0.0.1", host)
	}
	return host, nil
}

// reachedByLocalhost reports whether a program that connects to localhost meets
// a listener on this address. 127.0.0.2 is this machine too, but not that name.
func reachedByLocalhost(listen string) bool {
	ip, err := netip.ParseAddr(listen)
	return strings.EqualFold(listen, "localhost") ||
		err == nil && (ip.IsUnspecified() || ip == netip.MustParseAddr("127.0.0.1") || ip == netip.IPv6Loopback())
}

// publish settles the base URL once the port is known, and checks who could log in.
func (c *config) publish(port int) error {
	if err := c.settleBase(port); err != nil {
		return err
	}
	base, err := url.Parse(c.baseURL)
	if err == nil {
		err = c.checkAnswered(base, port)
	}
	if err == nil {
		err = c.checkLogin(base)
	}
	return err
}

// settleBase sets the base URL, unless it was given, to localhost and the port, and refuses an
// address to bind that localhost does not lead to.
func (c *config) settleBase(port int) error {
	if c.baseURL != "" {
		return nil
	}
	if !reachedByLocalhost(c.listen) {
		// On a network the address is that of the proxy in front, which speaks https.
		advice := "https://wick.example.com"
		if address.Loopback(c.listen) {
			advice = "http://" + net.JoinHostPort(c.listen, strconv.Itoa(port))
		}
		return fmt.Errorf("--listen %s is not where http://localhost:%d leads: set --base-url to the address that clients use, such as %s", c.listen, port, advice)
	}
	c.baseURL = "http://localhost:" + strconv.Itoa(port)
	return nil
}

// checkAnswered refuses a base URL with an address of this machine and the server's own
// port on which the server does not listen, such as [::1] beside --listen 127.0.0.1: nobody
// would answer there. Another port may be that of a proxy.
func (c *config) checkAnswered(base *url.URL, port int) error {
	at, notAddress := netip.ParseAddr(base.Hostname())
	listen, notListen := netip.ParseAddr(c.listen)
	if notAddress != nil || notListen != nil || !at.IsLoopback() || listen.IsUnspecified() || listen == at || base.Port() != strconv.Itoa(port) {
		return nil
	}
	return fmt.Errorf("--base-url %s is not where --listen %s answers: set --listen to %s, or write the base URL with the address that it listens on", c.baseURL, c.listen, at)
}

// checkLogin refuses a passphrase over plain http on
// the network, and an open login beyond this machine or behind a proxy: whoever reaches
// /authorize can read the code from the redirect, so without a passphrase anyone could
// log in.
func (c *config) checkLogin(base *url.URL) error {
	if base.Scheme == "http" && !address.Loopback(c.listen) {
		return fmt.Errorf("--listen %s is open to the network, but the base URL %s is plain http, so anyone on the way reads the passphrase and the tokens: "+
			"put a TLS proxy in front and set --base-url to its https address, or listen on loopback", c.listen, c.baseURL)
	}
	if len(c.passphrase) == 0 && (!address.Loopback(c.listen) || !address.Loopback(base.Hostname())) {
		return fmt.Errorf("without a passphrase wick serves loopback only, because behind a public address a stranger could log in; " +
			"set WICK_PASSPHRASE or --passphrase-file, or leave --listen and --base-url on loopback")
	}
	if len(c.passphrase) == 0 && len(c.proxies) > 0 {
		return fmt.Errorf("--trusted-proxy without a passphrase: behind a public proxy a stranger could read the code from the redirect, and so log in; " +
			"set WICK_PASSPHRASE or --passphrase-file, or leave --trusted-proxy out")
	}
	return nil
}

// howToLogIn says for the start-up line how clients log in.
func (c *config) howToLogIn() string {
	if len(c.passphrase) == 0 {
		return "at once, for clients on this machine"
	}
	return "with the passphrase"
}
