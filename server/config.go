package server

import (
	"cmp"
	"errors"
	"net/netip"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/oauth"
	"wick/trade/book"
)

// config is the command line and the environment, checked. It is made by parseConfig
// and read by everything else; what is known later (the base URL, the address for
// other replicas) is set before anyone is served.
type config struct {
	// What is asked for: a command with its words, or else a mode.
	command           *Command // nil for a mode
	words             []string
	mcp, serve, trade bool

	// The settings as texts, by spelling: those of the command line and of files; and all, with
	// which of them were set anywhere.
	given, values map[string]string
	set           map[string]bool

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
	passphraseFile string
	passphrase     []byte // the login overwrites it with zeros as soon as it has its hash
	passphraseFrom string // where it was set, for the consent page
	keys           []oauth.Key
	origins        []string
	proxies        []netip.Prefix
	documents      []string // hosts of client documents
	documentsAt    string   // base URL for client documents in tests; empty otherwise

	// How orders are bounded and filled. Rates and shares are fractions: 0.001 is a
	// tenth of a percent.
	limits            book.Limits
	account           book.AccountRules
	feeRate, slippage exact.Decimal
	halfSpread        exact.Decimal
	grid              map[string]book.Grid // by symbol; * for every other
	confirmAbove      exact.Decimal        // negative: no order needs the approval of a person
	approveInClient   bool                 // a form in the client counts as approval, but never for real money
	attachTrade       bool                 // hosts that attach may trade, in spite of a passphrase or real money
	makerFee          *exact.Decimal       // nil for feeRate
	maxPriceAge       time.Duration
	priceBand         float64

	recover, showRecovery bool
	exitWhenBroken        bool

	logFormat string
	noApp     bool   // without the owner's page
	metrics   string // address of the metrics; empty for none

	brokerConfig
	messageConfig
	cluster clusterConfig
}

// check finds mistakes in how settings go together, and reads the passphrase. A command is
// judged by nothing that it does not read.
func (c *config) check(env func(string) string) (err error) {
	if c.dataDir == "" {
		if c.dataDir, err = defaultDir(env); err != nil && (c.trade || c.serve || c.command != nil && c.command.reads("data-dir")) {
			return err
		}
	}
	if c.trade && !c.mcp {
		c.serve = true
	}
	if !c.set["--exit-when-broken"] {
		c.exitWhenBroken = env("INVOCATION_ID") != "" || env("NOTIFY_SOCKET") != "" // systemd sets them
	}
	if c.command != nil {
		return nil
	}
	if c.passphrase, c.passphraseFrom, err = passphrase(c.passphraseFile, env); err != nil {
		return err
	}
	c.documentsAt = env("WICK_CLIENT_DOCUMENTS_URL")
	switch {
	case c.mcp && c.serve:
		return errors.New("--mcp and --serve exclude each other: start one process for each")
	case c.recover && !c.trade:
		return errors.New("--recover=yes goes on to serve: add --trade; wick recover shows what it would keep")
	case c.limits.DailyLoss > 0 && c.account.Cash == 0 && !c.atBroker():
		return errors.New("--max-daily-loss is counted on an account: add --cash, or --broker")
	}
	return cmp.Or(c.checkMessages(), c.checkCluster(env), c.checkBroker(env))
}
