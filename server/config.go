package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"wick/broker/alpaca"
	"wick/exact"
	"wick/market"
	"wick/notify"
	"wick/oauth"
	"wick/trade"
)

// config is the command line and the environment, checked. It is made by parseConfig
// and read by everything else; what is known later (the base URL, the address for
// other replicas) is set before anyone is served.
type config struct {
	// What is asked for: a command with its words, or else a mode.
	command           *Command // nil for a mode
	words             []string
	mcp, serve, trade bool

	// The settings as texts: of the command line, by name; and of all, by spelling, with which
	// of them were set anywhere. Lines are those of files of settings.
	given  map[string]string
	values map[string]string
	set    map[string]bool
	lines  map[string]map[string]string

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
	limits            trade.Limits
	account           trade.AccountOptions
	feeRate, slippage exact.Decimal
	halfSpread        exact.Decimal
	grid              map[string]trade.Grid // by symbol; * for every other
	confirmAbove      exact.Decimal         // negative: no order needs the approval of a person
	approveInClient   bool                  // a form in the client counts as approval, but never for real money
	attachTrade       bool                  // hosts that attach may trade, in spite of a passphrase or real money
	makerFee          *exact.Decimal        // nil for feeRate
	maxPriceAge       time.Duration
	priceBand         float64

	recover, showRecovery bool
	exitWhenBroken        bool

	logFormat string
	noApp     bool   // without the owner's page
	metrics   string // address of the metrics; empty for none

	destinations []*notify.Destination // of messages to the owner

	// A broker elsewhere.
	broker     string // paper, alpaca-paper or alpaca
	brokerKeys alpaca.Keys
	brokerURL  string
	deadMan    time.Duration // how long the broker's stream may be away; zero means for ever

	cluster clusterConfig
}

// check finds mistakes in how settings go together, and reads the passphrase. A command is
// judged by nothing that it does not read.
func (c *config) check(env func(string) string) (err error) {
	if c.dataDir == "" {
		if c.dataDir, err = defaultDir(env); err != nil && (c.trade || c.serve || c.command.reads("data-dir")) {
			return err
		}
	}
	if c.trade && !c.mcp {
		c.serve = true
	}
	if !c.set["--exit-when-broken"] {
		c.exitWhenBroken = env("INVOCATION_ID") != "" || env("NOTIFY_SOCKET") != "" // systemd sets them
	}
	c.cluster.listen = os.Expand(c.cluster.listen, env)
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
	case len(c.destinations) > 0 && !c.trade:
		return errors.New("--notify-file needs --trade: what waits to be sent is kept in its journal")
	case c.limits.DailyLoss > 0 && c.account.Cash == 0 && !c.atBroker():
		return errors.New("--max-daily-loss is counted on an account: add --cash, or --broker")
	}
	if err := c.checkCluster(); err != nil {
		return err
	}
	return c.checkBroker(env)
}

// checkCluster finds what does not go with several replicas. Each of them must know the same
// logins and the same orders, so what only one of them would know is refused: a broker's
// stream, questions to a person, logins in memory.
func (c *config) checkCluster() error {
	if !c.clustered() {
		return nil
	}
	host, _, err := net.SplitHostPort(c.cluster.listen)
	ip := net.ParseIP(host)
	switch {
	case c.recover:
		return errors.New("--recover repairs a directory: with --cluster-file the journal is in etcd")
	case !c.trade || c.mcp:
		return errors.New("--cluster-file belongs to --serve --trade: what it keeps is the account")
	case len(c.keys) == 0:
		return errors.New("--cluster-file needs --key-file, the same at every replica: otherwise a login would be known to one of them alone")
	case c.atBroker():
		return errors.New("--broker does not work with --cluster-file: the next leader would not know what the one before had under way at the broker")
	case c.confirmAbove >= 0:
		return errors.New("--confirm-above does not work with --cluster-file: a question would be known to one replica alone")
	// The other replicas are told this address, so it must not be one such as 0.0.0.0.
	case err != nil || host == "" || ip != nil && ip.IsUnspecified():
		return fmt.Errorf("--cluster-file: listen %q is no address with a port that the other replicas reach, such as 10.0.0.1:9317", c.cluster.listen)
	}
	return nil
}
