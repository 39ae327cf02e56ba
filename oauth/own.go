package oauth

import (
	"strings"
	"unicode"
)

// OwnClient is the client_id of the owner's own page. It is not a registration: the
// server knows it, and sends its codes to the page and nowhere else.
const OwnClient = "wick-app"

// ownName is what the owner's own page is called in the list of logins.
const ownName = "The owner's page"

// lookAlikes are characters that look like letters of that name, after them.
var lookAlikes = strings.NewReplacer(
	"т", "t", "τ", "t", "һ", "h", "н", "h", "е", "e", "ε", "e", "о", "o", "ο", "o", "0", "o", "ԝ", "w", "ω", "w",
	"ѕ", "s", "р", "p", "ρ", "p", "а", "a", "α", "a", "ɡ", "g")

// passesForOwn reports whether a reader would take a client's name for that of the
// owner's own page: the same letters, whatever case, marks and blanks they come with,
// and in full width or as the usual look-alikes. It cannot know all of these; what
// proves the page is its scope, which is shown beside the name.
func passesForOwn(name string) bool { return seen(name) == seen(ownName) }

// seen returns the letters and digits of a name as a quick reader sees them.
func seen(name string) string {
	return lookAlikes.Replace(strings.Map(func(c rune) rune {
		if c >= '！' && c <= '～' { // full width
			c -= '！' - '!'
		}
		if unicode.Is(unicode.Lm, c) || !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, name))
}

// ownClient returns the owner's own page as a client, if there is one. Its identity
// cannot be had by registering the same name and address.
func (s *Server) ownClient() (*client, bool) {
	if s.ownPage == "" {
		return nil, false
	}
	return &client{
		id: digestOf(OwnClient), identity: digestOf("the owner's own page"), name: ownName,
		redirect: []string{s.base + s.ownPage}, public: true, own: true,
	}, true
}

// scopeFor returns what a client is granted with or without trading. The owner's own
// page gets everything there is, for whoever passed the login there is the owner.
func (s *Server) scopeFor(cl *client, trade bool) string {
	switch {
	case cl.own && s.trade:
		return chartsAndTrade + " " + ScopeOwner
	case cl.own:
		return ScopeCharts + " " + ScopeOwner
	case trade:
		return chartsAndTrade
	}
	return ScopeCharts
}
