package server

import (
	"cmp"
	"errors"

	"wick/oauth"
	"wick/permit"
	"wick/trade"
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

	// Market data, and state. Symbols are spelled as the operator wrote them.
	source     string
	watchlists map[string][]string // symbols by the name of their list
	dataDir    string

	// What settings say to the engine, the gate and the login; openApp and logIn add the rest.
	// The login overwrites the passphrase with zeros as soon as it has its hash.
	engine         trade.Options
	asking         permit.Options
	login          oauth.Options
	passphraseFile string
	origins        []string

	grid        map[string]book.Grid // by symbol; * for every other
	attachTrade bool                 // hosts that attach may trade, in spite of a passphrase or real money
	priceBand   float64

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
	if c.login.Passphrase, c.login.PassphraseFrom, err = passphrase(c.passphraseFile, env); err != nil {
		return err
	}
	c.login.DocumentsAt = env("WICK_CLIENT_DOCUMENTS_URL")
	switch {
	case c.mcp && c.serve:
		return errors.New("--mcp and --serve exclude each other: start one process for each")
	case c.recover && !c.trade:
		return errors.New("--recover=yes goes on to serve: add --trade; wick recover shows what it would keep")
	case c.engine.Limits.DailyLoss > 0 && c.engine.Account.Cash == 0 && !c.atBroker():
		return errors.New("--max-daily-loss is counted on an account: add --cash, or --broker")
	}
	return cmp.Or(c.checkMessages(), c.checkCluster(env), c.checkBroker(env))
}
