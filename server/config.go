package server

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/address"
	"wick/broker/alpaca"
	"wick/exact"
	"wick/market"
	"wick/notify"
	"wick/oauth"
	"wick/trade"
)

// config is the command line and the environment, checked.
type config struct {
	mcp, serve, trade bool

	listen  string
	port    int
	baseURL string // empty until the port is known

	source     string
	watchlists map[string][]string // symbols by the name of their list
	symbols    []string
	intervals  []market.Interval

	dataDir        string
	passphrase     []byte // the login overwrites it with zeros as soon as it has its hash
	passphraseFrom string // where it was set, for the consent page
	keys           []oauth.Key
	newKey         string // make a key file of this name; empty for none
	origins        []string
	proxies        []netip.Prefix
	documents      []string // hosts of client documents
	documentsAt    string   // where tests have them

	limits            trade.Limits
	account           trade.AccountOptions
	feeRate, slippage exact.Decimal
	halfSpread        exact.Decimal
	quoted            bool                  // no --half-spread: the bid and ask of the source
	participation     exact.Decimal         // 0 for whole fills
	grid              map[string]trade.Grid // by symbol; * for every other
	confirmAbove      exact.Decimal         // negative: no order needs a person's yes
	makerFee          *exact.Decimal        // nil for feeRate
	maxPriceAge       time.Duration
	priceBand         float64
	recover           recoverFlag
	exitWhenBroken    bool

	logFormat string
	noApp     bool   // without the owner's page
	metrics   string // address of the metrics; empty for none

	notifyFile   string
	notifyTest   testFlag
	destinations []*notify.Destination // of notifyFile

	cluster clusterConfig

	render render

	version, helpAll, healthcheck bool

	audit, head bool
	verify      verifyFlag

	printConfig string       // client to print a configuration for; empty for none
	given       []*flag.Flag // the flags of the command line, in the order of the alphabet
	export      string       // orders, fills or equity; empty for none

	broker        string // paper, alpaca-paper or alpaca
	brokerKeyFile string
	brokerKeys    alpaca.Keys
	brokerURL     string
	deadMan       time.Duration // how long the broker's stream may be away; zero means for ever
	halt          string        // on, cancel or off, for the running server; empty for neither
	accept        bool          // take the broker's positions as they are

	values map[string]string // of all flags, as text
	set    map[string]bool   // those that were set, by a flag or the environment

	clients bool   // list the logins of the running server
	revoke  string // end one of them, or "all"; empty for neither
}

// errUsage asks main to point to --help; the message is already complete.
var errUsage = errors.New("see wick --help")

// parseConfig reads the flags in args and, where a flag is not given, its
// environment twin. Help goes to out and ends with flag.ErrHelp.
func parseConfig(args []string, env func(string) string, out io.Writer) (*config, error) {
	c := &config{}
	fs, raw := c.flags()
	c.exitWhenBroken = env("INVOCATION_ID") != "" || env("NOTIFY_SOCKET") != "" // systemd sets them
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	if err := parseVerified(fs, args, &c.verify); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			writeHelp(out, raw.groups.list, false)
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", err, errUsage)
	}
	if c.helpAll {
		writeHelp(out, raw.groups.list, true)
		return nil, flag.ErrHelp
	}
	// A flag that may stand alone leaves the word after it over: here it is the name of
	// a destination.
	if c.notifyTest == testAll && fs.NArg() == 1 {
		c.notifyTest = testFlag(fs.Arg(0))
	} else if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: %w", fs.Arg(0), errUsage)
	}
	// Flags of the command line are noted before those of the environment are set.
	fs.Visit(func(f *flag.Flag) { c.given = append(c.given, f) })
	if err := fromEnvironment(fs, env); err != nil {
		return nil, err
	}
	c.values, c.set = make(map[string]string), make(map[string]bool)
	fs.VisitAll(func(f *flag.Flag) { c.values[f.Name] = f.Value.String() })
	fs.Visit(func(f *flag.Flag) { c.set[f.Name] = true })
	if err := c.settle(raw, env); err != nil {
		return nil, err
	}
	return c, nil
}

// fromEnvironment sets every flag that was not given from its twin: --base-url
// is WICK_BASE_URL. A mode on the command line wins over the other one in the
// environment: the container image sets WICK_SERVE, and must take --mcp.
func fromEnvironment(fs *flag.FlagSet, env func(string) string) error {
	given := make(map[string]bool)
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	// Either mode on the command line closes both to the environment.
	if given["mcp"] || given["serve"] {
		given["mcp"], given["serve"] = true, true
	}
	var err error
	fs.VisitAll(func(f *flag.Flag) {
		name := envName(f.Name)
		if v := env(name); v != "" && !given[f.Name] && err == nil {
			if e := fs.Set(f.Name, v); e != nil {
				err = fmt.Errorf("%s %q: %w", name, v, e)
			}
		}
	})
	return err
}

// envName returns the name of the environment variable for a flag.
func envName(flag string) string {
	return "WICK_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// rawFlags holds flag values that need more than the flag package to check.
type rawFlags struct {
	symbols, intervals, dataDir, passphraseFile string
	watchlist, keyFile                          string
	proxies                                     list
	notional, position, fee, slippage, confirm  string
	spread, grid, share                         string
	cash, leverage, dailyLoss, maker            string
	perSymbol, openOrders, rate                 int

	groups groups // every flag, as --help shows them
}

// list is a flag that may be given several times, or once with commas.
type list []string

// String returns the values with commas between them.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set adds the values of one flag.
func (l *list) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// Flags returns every flag with its default and meaning, in groups, for
// documents that are made from them.
func Flags() []Group {
	_, raw := (&config{}).flags()
	return raw.groups.list
}

// flags declares every flag. What each means stands once, here and in the parts
// it calls: --help, the man page and the completions are made from it. A flag
// belongs to the group that was started last before it.
func (c *config) flags() (*flag.FlagSet, *rawFlags) {
	fs := flag.NewFlagSet("wick", flag.ContinueOnError)
	raw := &rawFlags{groups: groups{fs: fs}}
	g := &raw.groups

	g.start("Modes", common)
	fs.BoolVar(&c.mcp, "mcp", false, "speak MCP over standard input and output")
	fs.BoolVar(&c.serve, "serve", false, "speak MCP over HTTP, with the OAuth login")
	fs.BoolVar(&c.trade, "trade", false, "add orders, positions and alerts; alone it means --serve --trade")

	g.start("Server", common)
	c.serverFlags(fs, raw)

	g.start("Market data", common)
	fs.StringVar(&c.source, "source", "sample", "`source` of bars: "+strings.Join(market.Sources(), ", "))

	g.start("Trading", rare)
	c.orderFlags(fs, raw)
	c.paperFlags(fs, raw)
	fs.StringVar(&c.halt, "halt", "", "`on` halts trading of the server that runs on --data-dir; cancel also cancels every order; off lets it go on")

	g.start("A broker elsewhere", rare)
	c.brokerFlags(fs)

	g.start("Several machines", rare)
	c.cluster.flags(fs)

	g.start("State, messages and logs", common)
	c.stateFlags(fs, raw)

	g.start("Do one thing and exit", common)
	c.onceFlags(fs)

	c.render.flags(fs, g)
	g.end()
	return fs, raw
}

// serverFlags declares where the server listens and whom it lets in.
func (c *config) serverFlags(fs *flag.FlagSet, raw *rawFlags) {
	fs.StringVar(&c.listen, "listen", "127.0.0.1", "`address` to bind")
	fs.IntVar(&c.port, "port", 9315, "`port` to bind; 0 picks a free one")
	fs.StringVar(&c.baseURL, "base-url", "", "published `URL`; default http://localhost:<port>")
	fs.StringVar(&raw.passphraseFile, "passphrase-file", "", "`file` with the owner's passphrase (WICK_PASSPHRASE holds the passphrase itself)")
	fs.StringVar(&raw.keyFile, "key-file", "", "`file` with keys that keep everybody logged in over a restart, see docs/keys.md; mode 0600")
	fs.Var((*list)(&c.origins), "allow-origin", "browser `origin` to allow besides loopback and our own; repeatable")
	fs.Var((*list)(&c.documents), "client-documents", "`host` whose clients may log in by a document about them, such as claude.ai; repeatable")
	fs.Var(&raw.proxies, "trusted-proxy", "`CIDR` of proxies whose X-Forwarded-For is believed; repeatable")
	fs.BoolVar(&c.noApp, "no-app", false, "do not serve the owner's page at /app")
}

// orderFlags declares what the engine watches and the limits that hold for every
// order, whichever broker takes it.
func (c *config) orderFlags(fs *flag.FlagSet, raw *rawFlags) {
	fs.StringVar(&raw.watchlist, "watchlist", "", "`file` of named lists of symbols, one a line, such as majors: BTCUSDT ETHUSDT; a scan takes them as @majors")
	fs.StringVar(&raw.symbols, "symbols", "BTCUSDT", "`symbols` the engine watches from the start, separated by commas")
	fs.StringVar(&raw.intervals, "intervals", "4h,1h", "`intervals` it keeps of each; alerts take the first unless told")
	fs.StringVar(&raw.notional, "max-order-notional", "100000", "largest order in quote `units`; with --broker alpaca or alpaca-paper 100 unless set")
	fs.StringVar(&raw.position, "max-position-notional", "", "largest position per symbol in quote `units`; default ten orders")
	fs.IntVar(&raw.perSymbol, "max-open-orders-per-symbol", 200, "largest `number` of open orders per symbol")
	fs.IntVar(&raw.openOrders, "max-open-orders", 1000, "largest `number` of open orders in all")
	fs.IntVar(&raw.rate, "max-order-rate", 10, "largest `number` of orders a second")
	fs.StringVar(&raw.confirm, "confirm-above", "", "`sum` a client may place within an hour before a person approves each order; default: no bound, at a broker 0")
	fs.DurationVar(&c.maxPriceAge, "max-price-age", 0, "oldest price to trade at, as a `duration` such as 90s; default 60s, stocks the session's last")
	fs.Float64Var(&c.priceBand, "price-band", market.DefaultBand, "largest jump of a price, up or down, that needs no second answer, as a `multiple`")
}

// paperFlags declares how the paper broker fills orders and what its account holds.
func (c *config) paperFlags(fs *flag.FlagSet, raw *rawFlags) {
	fs.StringVar(&raw.fee, "fee-rate", "0.001", "paper broker: fee as a `fraction` of a fill")
	fs.StringVar(&raw.maker, "maker-fee-rate", "", "paper broker: the same for limits that rested; default --fee-rate")
	fs.StringVar(&raw.spread, "half-spread", "", "paper broker: how far bid and ask are from the price, as a `fraction` of it; default the source's own, or 0")
	fs.StringVar(&raw.share, "participation", "0.1", "paper broker: `share` of what a minute traded that fills orders; 1 for whole fills")
	fs.StringVar(&raw.grid, "grid", "", "paper broker: steps and least order, `SYMBOL=TICK/LOT/MIN,...`; * for all others; default the exchange's")
	fs.StringVar(&raw.slippage, "slippage", "0.0005", "paper broker: slippage of market orders as a `fraction`")
	fs.StringVar(&raw.cash, "cash", "", "open a paper account with this `amount`: orders need buying power, and get_positions shows the account")
	fs.StringVar(&raw.dailyLoss, "max-daily-loss", "", "with --cash or --broker: after a loss of this `amount` in a day only orders that shrink a position are taken")
	fs.StringVar(&c.account.Currency, "currency", "USD", "`currency` of the account")
	fs.StringVar(&raw.leverage, "leverage", "1", "with --cash: how many `times` its equity positions may be worth")
	fs.BoolVar(&c.account.Short, "short", false, "with --cash: allow to sell what is not held")
	fs.BoolVar(&c.account.Stablecoins, "stablecoins-as-usd", true, "with --cash: count USDT and USDC as USD")
}

// stateFlags declares where state is kept and where messages, logs and metrics go.
func (c *config) stateFlags(fs *flag.FlagSet, raw *rawFlags) {
	fs.StringVar(&c.notifyFile, "notify-file", "", "`file` with destinations for messages to the owner, see docs/notify.md; mode 0600")
	fs.Var(&c.notifyTest, "notify-test", "send one message to every destination, or to the one named after it, say what came back, and exit")
	fs.StringVar(&raw.dataDir, "data-dir", "", "`directory` for state; default ~/.wick")
	fs.BoolVar(&c.exitWhenBroken, "exit-when-broken", false, "end when the journal is broken and a new start would help; default under systemd and in the image")
	fs.StringVar(&c.logFormat, "log-format", "text", "`format` of the log: text or json")
	fs.StringVar(&c.metrics, "metrics", "", "loopback `address` to serve Prometheus metrics on, such as 127.0.0.1:9316")
}

// onceFlags declares the flags that do one thing and end the program.
func (c *config) onceFlags(fs *flag.FlagSet) {
	fs.Var(&c.recover, "recover", "show what can be kept of a damaged journal, and exit; --recover=yes keeps it, sets the rest aside and goes on")
	fs.StringVar(&c.newKey, "new-key", "", "make a `file` for --key-file, with a new key in it")
	fs.BoolVar(&c.clients, "clients", false, "list the logins of the server that runs on --data-dir")
	fs.StringVar(&c.revoke, "revoke", "", "end the login with this `ID` from --clients, or all of them")
	fs.BoolVar(&c.audit, "audit", false, "print the journal and who did what, one line per event")
	fs.BoolVar(&c.head, "head", false, "with --audit: print the newest hash of the history instead, to write down")
	fs.Var(&c.verify, "verify", "with --audit: check the whole history instead; with a `HASH` of --head, also that it is still in it")
	fs.StringVar(&c.export, "export", "", "print orders, fills or equity of --data-dir, as `what` says, with --format csv or json")
	fs.StringVar(&c.printConfig, "print-config", "", "settings to paste into a `client`: "+strings.Join(ClientNames(), ", "))
	fs.BoolVar(&c.version, "version", false, "print the version")
	fs.BoolVar(&c.helpAll, "help-all", false, "explain every flag")
	fs.BoolVar(&c.healthcheck, "healthcheck", false, "ask the server on --listen and --port for its health; exit 0 or 1")
}

// settle checks what the flag package could not and the rules on combining
// flags.
func (c *config) settle(raw *rawFlags, env func(string) string) error {
	switch {
	case c.mcp && c.serve:
		return fmt.Errorf("--mcp and --serve exclude each other: start one process for each")
	case c.trade && !c.mcp:
		c.serve = true
	}
	if c.logFormat != "text" && c.logFormat != "json" {
		return fmt.Errorf("--log-format %q is neither text nor json", c.logFormat)
	}
	if err := c.settleCluster(); err != nil {
		return err
	}
	// With etcd --export names a directory to copy the store to, not a table.
	if c.export != "" && !c.clustered() && !slices.Contains(trade.Exports, c.export) {
		return fmt.Errorf("--export %q is none of %s", c.export, strings.Join(trade.Exports, ", "))
	}
	if f := c.render.format; c.export != "" && !c.clustered() && f != "csv" && f != "json" {
		return fmt.Errorf("--export needs --format csv or --format json")
	}
	if c.recover == recoverYes && !c.trade {
		return fmt.Errorf("--recover=yes goes on to serve: add --trade; --recover alone shows what it would keep")
	}
	if (c.head || c.verify.on) && !c.audit {
		return fmt.Errorf("--head and --verify belong to --audit: write wick --audit --verify")
	}
	// The order of these checks decides which of several mistakes is reported.
	if err := c.settleMetrics(); err != nil {
		return err
	}
	if err := c.settleEngine(raw); err != nil {
		return err
	}
	if c.halt != "" && !slices.Contains(haltWords, c.halt) {
		return fmt.Errorf("--halt %q is none of %s", c.halt, strings.Join(haltWords, ", "))
	}
	if err := c.settleBroker(env); err != nil {
		return err
	}
	if err := c.settleNotify(); err != nil {
		return err
	}
	var err error
	// A missing directory is a mistake only for what reads or writes state.
	if c.dataDir, err = dataDir(raw.dataDir, env); err != nil && (c.serve || c.trade || c.audit || c.export != "" || c.recover != recoverNo || c.clients || c.revoke != "" || c.halt != "" || c.accept) {
		return err // charts and stdio without --trade keep no state
	}
	if c.passphrase, c.passphraseFrom, err = passphrase(raw.passphraseFile, env); err != nil {
		return err
	}
	if c.keys, err = readKeys(raw.keyFile); err != nil {
		return fmt.Errorf("--key-file: %w", err)
	}
	c.documentsAt = env("WICK_CLIENT_DOCUMENTS_URL")
	return c.settleServer(raw)
}

// settleMetrics checks that the metrics stay on this machine: they need no
// token, and say when the owner is at work.
func (c *config) settleMetrics() error {
	if c.metrics == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(c.metrics)
	switch {
	case err != nil || !address.Loopback(host):
		return fmt.Errorf("--metrics %q is not a loopback address with a port, such as 127.0.0.1:9316", c.metrics)
	case c.mcp:
		return fmt.Errorf("--metrics belongs to --serve: over stdio there is one client, which needs none")
	}
	return nil
}

// settleServer checks the port, the proxies, the origins and the base URL.
func (c *config) settleServer(raw *rawFlags) error {
	if c.port < 0 || c.port > 65535 {
		return fmt.Errorf("--port %d is out of bounds, 0 to 65535", c.port)
	}
	for _, text := range raw.proxies {
		prefix, err := netip.ParsePrefix(text)
		// An address alone is the prefix of its whole length.
		if addr, e := netip.ParseAddr(text); err != nil && e == nil {
			prefix, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return fmt.Errorf("--trusted-proxy %q is neither an address nor a CIDR such as 10.0.0.0/8", text)
		}
		c.proxies = append(c.proxies, prefix.Masked())
	}
	for _, origin := range c.origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
			return fmt.Errorf("--allow-origin %q is not an origin such as https://app.example.com", origin)
		}
	}
	if c.baseURL == "" {
		return nil
	}
	base, err := normalBase(c.baseURL)
	c.baseURL = base
	return err
}

// normalBase checks a base URL and returns it in the one spelling that is
// published: scheme and host in lower case, no default port, no trailing slash.
func normalBase(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return "", fmt.Errorf("--base-url %q is not a URL such as https://wick.example.com", text)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.Trim(u.Path, "/") != "":
		return "", fmt.Errorf("--base-url %q must be a bare origin: no path, query, fragment or user", text)
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch {
	case scheme == "https":
		host = strings.TrimSuffix(host, ":443")
	case scheme == "http" && address.Loopback(u.Hostname()):
		host = strings.TrimSuffix(host, ":80")
	default:
		return "", fmt.Errorf("--base-url %q must be https; http is for loopback names only", text)
	}
	return scheme + "://" + host, nil
}

// reachedByLocalhost reports whether a program that connects to localhost meets
// a listener on this address. 127.0.0.2 is this machine too, but not that name.
func reachedByLocalhost(listen string) bool {
	ip, err := netip.ParseAddr(listen)
	return listen == "" || strings.EqualFold(listen, "localhost") ||
		err == nil && (ip.IsUnspecified() || ip == netip.MustParseAddr("127.0.0.1") || ip == netip.IPv6Loopback())
}

// publish settles the base URL once the port is known, and refuses to serve
// strangers without a passphrase: whoever reaches /authorize can read the code
// from the redirect, so without a passphrase anyone could log in.
func (c *config) publish(port int) error {
	if c.baseURL == "" {
		if !reachedByLocalhost(c.listen) {
			return fmt.Errorf("--listen %s is not where http://localhost:%d leads: set --base-url to the address that clients use, such as http://%s",
				c.listen, port, net.JoinHostPort(c.listen, strconv.Itoa(port)))
		}
		c.baseURL = "http://localhost:" + strconv.Itoa(port)
	}
	// From here on the base URL is known. Three things are refused: real money without
	// a passphrase, a passphrase over plain http on the network, and an open login
	// beyond this machine.
	u, err := url.Parse(c.baseURL)
	if err != nil {
		return err
	}
	if len(c.passphrase) == 0 && c.realMoney() {
		return fmt.Errorf("--broker %s moves real money, and without a passphrase every program on this machine could log in and approve orders, also a model that has a shell; "+
			"set --passphrase-file or WICK_PASSPHRASE", c.broker)
	}
	if u.Scheme == "http" && !address.Loopback(c.listen) {
		return fmt.Errorf("--listen %s is open to the network, but the base URL %s is plain http, so anyone on the way reads the passphrase and the tokens: "+
			"put a TLS proxy in front and set --base-url to its https address, or listen on loopback", c.listen, c.baseURL)
	}
	if len(c.passphrase) == 0 && (!address.Loopback(c.listen) || !address.Loopback(u.Hostname())) {
		return fmt.Errorf("without a passphrase wick serves loopback only, because behind a public address a stranger could log in; " +
			"set WICK_PASSPHRASE or --passphrase-file, or leave --listen and --base-url on loopback")
	}
	return nil
}

// settleEngine checks the flags about trading: what is watched, the amounts, the
// paper broker and its account.
func (c *config) settleEngine(raw *rawFlags) error {
	if err := c.settleWatched(raw); err != nil {
		return err
	}
	if err := c.settleAmounts(raw); err != nil {
		return err
	}
	if c.participation == 0 || c.participation > exact.One {
		return fmt.Errorf("--participation %q: a share above 0 and up to 1, such as 0.1", raw.share)
	}
	if c.participation == exact.One {
		c.participation = 0 // the engine's word for whole fills
	}
	c.quoted = raw.spread == ""
	var err error
	if c.grid, err = parseGrid(raw.grid); err != nil {
		return err
	}
	if c.limits.DailyLoss > 0 && c.account.Cash == 0 && !c.atBroker() {
		return fmt.Errorf("--max-daily-loss is counted on an account: add --cash, or --broker")
	}
	if c.account.Cash == 0 && (c.account.Short || c.account.Leverage > exact.One) {
		return fmt.Errorf("--leverage and --short are rules of an account: add --cash, or leave them out (without an account orders are bounded by the other limits alone)")
	}
	if c.account.Leverage < exact.One {
		return fmt.Errorf("--leverage %q is below 1", raw.leverage)
	}
	if c.maxPriceAge < 0 {
		return fmt.Errorf("--max-price-age %s is negative: write a duration such as 90s", c.maxPriceAge)
	}
	if !(c.priceBand > 1) { // also NaN
		return fmt.Errorf("--price-band %v is not above 1: write a multiple such as 2", c.priceBand)
	}
	c.limits.OpenPerSymbol, c.limits.Open, c.limits.OrdersPerSecond = raw.perSymbol, raw.openOrders, raw.rate
	return nil
}

// settleWatched reads the watchlists, and the symbols and intervals that the engine
// follows from the start.
func (c *config) settleWatched(raw *rawFlags) error {
	if raw.watchlist != "" {
		var err error
		if c.watchlists, err = readWatchlists(raw.watchlist); err != nil {
			return fmt.Errorf("--watchlist: %w", err)
		}
	}
	for text := range strings.SplitSeq(raw.symbols, ",") {
		// The source, which is not open yet, has the last word on the spelling.
		if _, err := market.Resolve(market.Sample{}, text); err != nil {
			return fmt.Errorf("--symbols: %w", err)
		}
		c.symbols = append(c.symbols, text)
	}
	for text := range strings.SplitSeq(raw.intervals, ",") {
		iv, err := market.ParseInterval(text)
		if err != nil {
			return fmt.Errorf("--intervals: %w", err)
		}
		c.intervals = append(c.intervals, iv)
	}
	return nil
}

// settleAmounts parses the flags that are exact numbers. An empty one keeps what
// the field has: its zero, or for --confirm-above the -1 that asks for no approval.
func (c *config) settleAmounts(raw *rawFlags) error {
	// A maker fee that was not given is nil, since 0 is a fee as well.
	if raw.maker != "" {
		c.makerFee = new(exact.Decimal)
	}
	decimals := []struct {
		flag, text string
		to         *exact.Decimal
	}{
		{"max-order-notional", raw.notional, &c.limits.OrderNotional},
		{"max-position-notional", raw.position, &c.limits.PositionNotional},
		{"fee-rate", raw.fee, &c.feeRate},
		{"maker-fee-rate", raw.maker, c.makerFee},
		{"slippage", raw.slippage, &c.slippage},
		{"half-spread", raw.spread, &c.halfSpread},
		{"participation", raw.share, &c.participation},
		{"confirm-above", raw.confirm, &c.confirmAbove},
		{"cash", raw.cash, &c.account.Cash},
		{"max-daily-loss", raw.dailyLoss, &c.limits.DailyLoss},
		{"leverage", raw.leverage, &c.account.Leverage},
	}
	c.confirmAbove = -1
	for _, d := range decimals {
		if d.text == "" {
			continue
		}
		v, err := exact.Parse([]byte(d.text))
		if err != nil || v < 0 {
			return fmt.Errorf("--%s %q is not a number of zero or more with at most 8 decimals", d.flag, d.text)
		}
		*d.to = v
	}
	return nil
}

// dataDir returns the directory for state: the flag, else ~/.wick.
func dataDir(flag string, env func(string) string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	home := env("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", fmt.Errorf("no home directory for state: set --data-dir")
		}
	}
	return filepath.Join(home, ".wick"), nil
}

// howToLogIn tells the reader of the start-up line what a client will meet.
func (c *config) howToLogIn() string {
	if len(c.passphrase) == 0 {
		return "at once, for clients on this machine"
	}
	return "with the passphrase"
}
