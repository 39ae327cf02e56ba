package server

import (
	"net/http"
	"strings"

	"wick/oauth"
)

// welcome answers GET / from a browser with a page for people. Everything else goes to
// next: programs get JSON at GET /, and a path that does not exist is answered with JSON
// even to a browser.
func welcome(next http.Handler, login *oauth.Server, endpoint string, health func() healthDoc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" || !fromBrowser(r) {
			next.ServeHTTP(w, r)
			return
		}
		h := health()
		login.Tell(w, h.title(), "This is a service for MCP clients such as Claude, ChatGPT, Cursor or VS Code. Give the client the address below, and it will send you here to log in.", h.facts(endpoint)...)
	})
}

// fromBrowser reports whether a person asks: browsers name HTML when they open a
// page, and programs do not.
func fromBrowser(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/html")
}

// title returns the heading of the page: whether the service is well.
func (h healthDoc) title() string {
	if h.Status != "ok" {
		return "wick needs its owner"
	}
	return "wick is running"
}

// facts says for a person what the document says for a program: where to connect, where
// bars come from, how trading is, and the journal if something is wrong with it. No one
// is logged in here, so nothing of the account is shown but the end of its number.
func (h healthDoc) facts(endpoint string) []oauth.Fact {
	bars := h.Source
	if h.Source == "sample" {
		bars = "sample: invented, for trying out"
	}
	facts := []oauth.Fact{{Name: "Address for MCP clients", Value: endpoint}, {Name: "Bars from", Value: bars}}
	if h.Trade {
		name, value := "Paper trading", h.Trading
		if h.Broker != "" {
			name, value = "Trading at "+h.Broker+", account "+h.Account, h.Trading
		}
		if h.Money == "real" {
			value += ", with real money"
		}
		facts = append(facts, oauth.Fact{Name: name, Value: value})
		if h.Journal != "ok" {
			facts = append(facts, oauth.Fact{Name: "Journal", Value: h.Journal + ": nothing can be written; the log says why"})
		}
	}
	return append(facts, oauth.Fact{Name: "Version", Value: h.Version})
}
