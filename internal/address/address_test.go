package address

import (
	"net/netip"
	"testing"
)

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.0.0.2": true, "127.255.255.254": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.": false, "a.localhost": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false,
		"128.0.0.1": false, "0.0.0.0": false, "::": false, "[::1]": false, "127.0.0.1:80": false, "::1%lo": false, "0177.0.0.1": false, "127.1": false,
	} {
		if got := Loopback(host); got != want {
			t.Errorf("Loopback(%q) = %t, want %t", host, got, want)
		}
	}
}

// TestPublic: the blocks are those of IANA's special-purpose address registries.
func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"1.1.1.1": true, "2606:4700::1111": true, "::ffff:1.1.1.1": true,
		"10.0.0.1": false, "172.16.0.1": false, "192.168.0.1": false, "169.254.169.254": false, "100.64.0.1": false, "127.0.0.1": false,
		"0.1.2.3": false, "192.0.2.1": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fc00::1": false, "ff02::1": false, "2001:db8::1": false, "2001:0:1::1": false, "::ffff:10.0.0.1": false,
		"64:ff9b::101:101": true, "64:ff9b::a00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::7f00:1": false, "64:ff9b:1:101:1:100::": false, // NAT64
		"2002:a00:1::1": false, "2002:101:101::1": true, // 6to4
		"::10.0.0.1": false, "fe80::1%eth0": false,
	} {
		if got := Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("Public(%s) = %t, want %t", text, got, want)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("the zero address is public")
	}
}
