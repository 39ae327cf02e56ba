package address

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// TestClient: a refused address is not connected to, also by a name; a redirect
// comes back as it is; a head without end is not read.
func TestClient(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/head":
			for range 2 * maxHead / 1024 {
				w.Header().Add("X", strings.Repeat("x", 1024))
			}
		}
	}))
	defer server.Close()
	for _, at := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
		if _, err := Client(time.Minute, Public).Get(at); !errors.Is(err, ErrRefused) || asked != 0 {
			t.Errorf("%s: %v, asked %d times", at, err, asked)
		}
	}
	client := Client(time.Minute, func(ip netip.Addr) bool { return ip.IsLoopback() })
	r, err := client.Get(server.URL + "/away")
	if err != nil || r.StatusCode != http.StatusFound || asked != 1 {
		t.Errorf("redirect: %v %v, asked %d times", r, err, asked)
	} else {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	if _, err := client.Get(server.URL + "/head"); err == nil {
		t.Error("a head of 128 KiB was read")
	}
	if transport := client.Transport.(*http.Transport); transport.Proxy != nil {
		t.Error("a proxy of the environment would be used")
	}
}
