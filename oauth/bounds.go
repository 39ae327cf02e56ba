package oauth

import (
	"time"

	"wick/internal/limit"
)

// This file has every bound on what strangers send, on how often, and on what is kept of it. The
// head of a request has the bounds of the HTTP server. docs/limits.md names the test of each.

// Bounds on what is sent.
const (
	maxBody  = 16 << 10 // bytes of a registration, a token request or a consent form
	maxQuery = 12 << 10 // bytes of an authorization request: 2 KiB of client_id, and a state of 2 KiB, percent-encoded

	bodyTime = 10 * time.Second // to send a body: a slower client would only hold a connection

	// maxClientID bounds a client_id, which holds the whole registration, in characters: it travels
	// in the address of every authorization request.
	maxClientID = 2 << 10

	// maxSealed bounds a sealed code or token in characters. The longest that is made has a name
	// of maxName characters of four bytes each; whatever is longer is not opened.
	maxSealed = 1 << 10

	maxName        = 64      // characters of a client's name; a longer one is cut
	maxRedirects   = 16      // Cursor registers three at once, VS Code four
	maxRedirectLen = 1024    // bytes
	maxState       = 2 << 10 // bytes of the client's state, which travels in the form and back to the client
)

// Bounds on client documents. A host that the operator named is trusted to say who its clients
// are, and in nothing else.
const (
	maxDocument    = 5 << 10 // bytes
	documentTime   = 5 * time.Second
	documentLeast  = 5 * time.Minute // how long a document is kept at least
	documentMost   = 24 * time.Hour  // and at most
	documentFailed = time.Minute     // after a failed fetch, until the next one
	maxDocuments   = 64              // kept; the one longest unused goes
	maxDocumentURL = 512             // bytes
)

// Bounds on what is kept. Past one of them the entry used longest ago goes.
const (
	maxAnswered = 1000 // forms that were answered, so that none counts twice
	maxApproved = 1000 // clients that the owner has allowed since the start
	maxPlaces   = 128  // places from which the owner is known to have logged in

	// maxTokens bounds the tokens that are known because they were given or presented here. One
	// that is pushed out still works, but its open streams end. So the bound is as high as the
	// number of streams and listeners that can be open: clients that come back do not push each
	// other out.
	maxTokens = 20480

	maxAddresses = 4096 // buckets in each of the two generations that a limiter keeps
)

// Bounds of a [Book]. They are far above what an owner's logins need: each entry takes a consent.
const (
	maxTaken   = 500
	maxRevoked = 5000
)

// How many requests one address may make to each endpoint.
var (
	discoveryRate     = limit.Rate{Burst: 60, Every: 200 * time.Millisecond}
	registrationRate  = limit.Rate{Burst: 20, Every: time.Hour / 20}
	authorizationRate = limit.Rate{Burst: 100, Every: 15 * time.Minute / 100}
	exchangeRate      = limit.Rate{Burst: 50, Every: 15 * time.Minute / 50}
)

const (
	// localFactor is how much more a program on this machine may ask for, so that tests and local
	// use do not meet limits meant for strangers.
	localFactor = 10

	// siteFactor is how much more a whole IPv6 /48 may ask for than one of its 65,536 networks. A
	// provider gives a /48 to one customer.
	siteFactor = 4
)

// guesses is how often a wrong passphrase may be tried: five times, and once more a minute.
// Guessing a million takes two years.
var guesses = limit.Rate{Burst: 5, Every: time.Minute}

// How often documents are fetched. A visitor who asks for many documents of an allowed host must
// not make us send that host as many requests. Strangers can invent any number of addresses, so
// known documents are renewed at a rate of their own, which strangers cannot use up; and one
// visitor gets only a part of the rate for unknown ones.
var (
	documentRate = limit.Rate{Burst: 20, Every: 6 * time.Second} // of known ones, and again of unknown ones, for all visitors together
	visitorRate  = limit.Rate{Burst: 5, Every: time.Minute}      // of unknown ones, for one visitor
)
