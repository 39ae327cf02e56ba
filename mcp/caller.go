package mcp

import "time"

// Caller says on whose behalf a message came. The names are opaque.
type Caller struct {
	ID      string    // the token, as a digest; "stdio" for the local client
	Client  string    // the client, as a digest that outlives its token
	Name    string    // the client, as it calls itself: a stranger's text
	Scope   string    // scopes held, separated by blanks
	Door    string    // by which way it came, for [Options.May]
	Address string    // where it came from; empty for the local client
	Token   string    // the bearer token, to pass a request on with; never written anywhere
	Login   string    // by which the login knows the token after a restart; empty if it does not
	Expires time.Time // when the token ends; zero for never

	// Conversation tells apart the conversations that one caller holds over stdio:
	// each has its own calls in progress, watched resources and turns. Empty over
	// HTTP, where requests of one token belong together.
	Conversation string
}

// Key returns a name of the caller's conversation; over HTTP that is the ID. Options.Tell
// is called with it.
func (c Caller) Key() string {
	if c.Conversation == "" {
		return c.ID
	}
	return c.ID + "/" + c.Conversation
}

// short returns the first characters of the ID: enough to tell tokens apart in a
// log, too few to be useful to somebody who steals the log.
func (c Caller) short() string { return c.ID[:min(8, len(c.ID))] }
