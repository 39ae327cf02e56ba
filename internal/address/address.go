// Package address decides what a host name or an IP address is: this machine,
// or a place on the public internet. Every rule that depends on it (who may log
// in without a passphrase, which redirects may be plain http, which hosts a
// request may carry, where a fetch may go) asks here, so they cannot disagree.
package address

import (
	"net/netip"
	"strings"
)

// Loopback reports whether host always means this machine: the name localhost in upper
// or lower case, or an address of 127.0.0.0/8 or ::1. The host must be without port and
// brackets. It returns false for a.localhost and for localhost with a dot at the end,
// because some resolvers ask the network for such names.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

// reserved are the blocks of addresses that are not public, besides those that netip's
// own predicates know: "this network", carrier NAT, protocol assignments, documentation,
// benchmarks and the old class E. Of IPv6 they are the blocks that are discarded, that
// are for documentation, and that contain an IPv4 address in a place that the address
// alone does not show (NAT64 of a local network, Teredo).
var reserved = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32", "3fff::/20", "fec0::/10",
)

// embedding are the IPv6 blocks whose addresses lead to an IPv4 address inside them,
// through a translator or a tunnel, and the index of its four bytes.
var embedding = []struct {
	block netip.Prefix
	at    int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64, RFC 6052
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4, RFC 3056
	{netip.MustParsePrefix("::/96"), 12},        // IPv4-compatible, deprecated
}

// Public reports whether ip is an address that a service on the internet may have. An
// IPv6 address that contains an IPv4 address is public if that one is: through a NAT64
// gateway 64:ff9b::a00:1 is 10.0.0.1.
func Public(ip netip.Addr) bool {
	ip = ip.Unmap()
	for _, e := range embedding {
		if e.block.Contains(ip) {
			b := ip.As16()
			return Public(netip.AddrFrom4([4]byte(b[e.at : e.at+4])))
		}
	}
	for _, block := range reserved {
		if block.Contains(ip) {
			return false
		}
	}
	return ip.Zone() == "" && ip.IsGlobalUnicast() && !ip.IsPrivate()
}

func prefixes(texts ...string) []netip.Prefix {
	blocks := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		blocks[i] = netip.MustParsePrefix(text)
	}
	return blocks
}
