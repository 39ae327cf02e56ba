package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
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

// Browsers take a name whose last part is a number for an address, and write it anew.
var (
	hostShape  = regexp.MustCompile(`^([a-z0-9_-]+\.)*[a-z0-9_-]+$`)
	numberLast = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)
)

// normalHost returns a host, which comes without brackets, as browsers write it, or says
// how to write one that they would turn into another.
func normalHost(host string) (string, error) {
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && ip.Is4():
		return ip.String(), nil
	case err == nil && !ip.Is4In6() && ip.Zone() == "":
		return "[" + ip.String() + "]", nil
	}
	if host = strings.ToLower(host); !hostShape.MatchString(host) || numberLast.MatchString(host) {
		return "", errors.New("no browser sends this host: write a name in letters, digits and hyphens, with single dots between and none at its end, which begins with xn-- where a part has other letters; " +
			"or an address, as four numbers such as 127.0.0.1 or, in brackets, as IPv6 without a zone")
	}
	return host, nil
}

// settleBase sets the base URL, unless it was given, to localhost and the port, and refuses an
// address to bind that localhost does not lead to. 127.0.0.2 is this machine too, but not that
// name.
func (c *config) settleBase(port int) error {
	ip, notIP := netip.ParseAddr(c.listen)
	switch {
	case c.baseURL != "":
		return nil
	case strings.EqualFold(c.listen, "localhost"), notIP == nil && (ip.IsUnspecified() || ip == netip.MustParseAddr("127.0.0.1") || ip == netip.IPv6Loopback()):
		c.baseURL = "http://localhost:" + strconv.Itoa(port)
		return nil
	}
	// On a network the address is that of the proxy in front, which speaks https.
	advice := "https://wick.example.com"
	if address.Loopback(c.listen) {
		advice = "http://" + net.JoinHostPort(c.listen, strconv.Itoa(port))
	}
	return fmt.Errorf("--listen %s is not where http://localhost:%d leads: set --base-url to the address that clients use, such as %s", c.listen, port, advice)
}

// publish settles the base URL once the port is known, and checks who could log in. It
// refuses a passphrase over plain http on the network, and an open login beyond this machine
// or behind a proxy: whoever reaches /authorize can read the code from the redirect, so
// without a passphrase anyone could log in.
func (c *config) publish(port int) error {
	if err := c.settleBase(port); err != nil {
		return err
	}
	base, err := url.Parse(c.baseURL)
	open := len(c.login.Passphrase) == 0
	switch {
	case err != nil:
		return err
	case base.Scheme == "http" && !address.Loopback(c.listen):
		return fmt.Errorf("--listen %s is open to the network, but the base URL %s is plain http, so anyone on the way reads the passphrase and the tokens: "+
			"put a TLS proxy in front and set --base-url to its https address, or listen on loopback", c.listen, c.baseURL)
	case open && (!address.Loopback(c.listen) || !address.Loopback(base.Hostname())):
		return errors.New("without a passphrase wick serves loopback only, because behind a public address a stranger could log in; " +
			"set WICK_PASSPHRASE or --passphrase-file, or leave --listen and --base-url on loopback")
	case open && len(c.login.TrustedProxies) > 0:
		return errors.New("--trusted-proxy without a passphrase: behind a public proxy a stranger could read the code from the redirect, and so log in; " +
			"set WICK_PASSPHRASE or --passphrase-file, or leave --trusted-proxy out")
	}
	return nil
}

// listenBeside listens on the other address of localhost, if that name and the port of at are
// published: browsers go to ::1 first, whatever hosts files say. It returns nil if there is no
// such address. What is published has to lead to at or there, and nowhere else on this machine:
// a program there would be shown in place of ours and get the passphrase.
func (c *config) listenBeside(at *net.TCPAddr) (net.Listener, error) {
	base, err := url.Parse(c.baseURL)
	if err != nil || base.Scheme != "http" || cmp.Or(base.Port(), "80") != strconv.Itoa(at.Port) {
		return nil, err
	}
	ours := []net.IP{net.ParseIP(base.Hostname())}
	if ours[0] == nil { // localhost: no other name is published without TLS
		ours = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	}
	i := slices.IndexFunc(ours, at.IP.Equal)
	if i < 0 {
		return nil, fmt.Errorf("--listen %s is not where %s leads, and what listens there would get the passphrase: let both name the same address", c.listen, c.baseURL)
	}
	has, err := net.InterfaceAddrs()
	beside := slices.Delete(ours, i, i+1)
	if err != nil || len(beside) == 0 || !slices.ContainsFunc(has, func(a net.Addr) bool { n, ok := a.(*net.IPNet); return ok && n.IP.Equal(beside[0]) }) {
		return nil, err
	}
	address := net.JoinHostPort(beside[0].String(), strconv.Itoa(at.Port))
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be listened on, and browsers take %s for it too, so what listens there would get the passphrase: stop it, or choose another --port (%w)", address, c.baseURL, err)
	}
	return ln, nil
}
