package server

import (
	"flag"
	"net/netip"
	"time"

	"wick/broker/alpaca"
	"wick/exact"
	"wick/market"
	"wick/notify"
	"wick/oauth"
	"wick/trade"
)

// config is the command line and the environment, checked. It is made by parseConfig
// and read by everything else; what is settled later (the base URL, the address for
// other replicas) is set before anyone is served.
type config struct {
	// The mode: over stdio or over HTTP, and with an account or without.
	mcp, serve, trade bool

	// Where the server listens, and the address it publishes.
	listen  string
	port    int
	baseURL string // empty until the port is known

	// Market data. Symbols and intervals are those that the engine follows from the
	// start; each symbol is spelled as the operator wrote it.
	source     string
	watchlists map[string][]string // symbols by the name of their list
	symbols    []string
	intervals  []market.Interval

	// State, the login and whom it lets in. The keys are those of --key-file; without
	// any, logins end with the process.
	dataDir        string
	passphrase     []byte // the login overwrites it with zeros as soon as it has its hash
	passphraseFrom string // where it was set, for the consent page
	keys           []oauth.Key
	newKey         string // make a key file of this name; empty for none
	origins        []string
	proxies        []netip.Prefix
	documents      []string // hosts of client documents
	documentsAt    string   // base URL for client documents in tests; empty otherwise

	// How orders are bounded and filled. Rates and shares are fractions: 0.001 is a
	// tenth of a percent.
	limits            trade.Limits
	account           trade.AccountOptions
	feeRate, slippage exact.Decimal
	halfSpread        exact.Decimal
	quoted            bool                  // no --half-spread: the bid and ask of the source
	grid              map[string]trade.Grid // by symbol; * for every other
	confirmAbove      exact.Decimal         // negative: no order needs the approval of a person
	approveInClient   bool                  // a form in the client counts as approval, but never for real money
	attachTrade       bool                  // hosts that attach may trade, in spite of a passphrase or real money
	makerFee          *exact.Decimal        // nil for feeRate
	maxPriceAge       time.Duration
	priceBand         float64
	recover           recoverFlag
	exitWhenBroken    bool

	logFormat string
	noApp     bool   // without the owner's page
	metrics   string // address of the metrics; empty for none

	// Messages to the owner, and the test of them.
	notifyFile   string
	notifyTest   testFlag
	destinations []*notify.Destination // of notifyFile

	cluster clusterConfig

	render render

	// What is done once, before the process ends again.
	version, helpAll, healthcheck bool

	// --audit alone prints the journal; head and verify ask for something else of it.
	audit, head bool
	verify      verifyFlag

	printConfig string       // client to print a configuration for; empty for none
	given       []*flag.Flag // the flags of the command line, in the order of the alphabet
	export      string       // orders, fills or equity; empty for none

	// A broker elsewhere, and what is asked of a running server about it.
	broker        string // paper, alpaca-paper or alpaca
	brokerKeyFile string
	brokerKeys    alpaca.Keys
	brokerURL     string
	deadMan       time.Duration // how long the broker's stream may be away; zero means for ever
	halt          string        // on, cancel or off, for the running server; empty for none of them
	accept        bool          // accept the broker's positions as they are

	// What the flag package knows, for comparing with another process and for printing.
	values map[string]string // of all flags, as text
	shared []string          // those that two processes on one data directory must agree about
	set    map[string]bool   // those that were set, by a flag or the environment

	clients     bool   // list the logins of the running server
	permissions bool   // print who may do what
	approve     string // id of the order to approve at the running server
	revoke      string // id of the login to end, or "all"; empty for none
}

// rawFlags holds flag values that need more than the flag package to check, as they were
// written: settle reads them and sets the fields of config.
type rawFlags struct {
	symbols, intervals, dataDir, passphraseFile string
	watchlist, keyFile                          string
	proxies                                     list
	notional, position, fee, slippage, confirm  string
	spread, grid                                string
	cash, leverage, dailyLoss, maker            string
	perSymbol, openOrders, rate                 int

	groups groups // every flag, as --help shows them
}

// clusterConfig is what the flags say about several machines.
type clusterConfig struct {
	endpoints list   // of etcd; empty for a process by itself
	file      string // with the credentials
	store     string
	listen    string
	advertise string // where the others reach listen
	importDir string
}
