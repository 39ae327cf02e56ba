package oauth

// OwnClient is the client_id of the owner's own page. It is not a registration: the
// server knows it, and sends its codes to the page and nowhere else.
const OwnClient = "wick-app"

// ownClient returns the owner's own page as a client, if there is one. Its identity
// cannot be had by registering the same name and address.
func (s *Server) ownClient() (*client, bool) {
	if s.ownPage == "" {
		return nil, false
	}
	return &client{
		id: digestOf(OwnClient), identity: digestOf("the owner's own page"), name: "The owner's page",
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
