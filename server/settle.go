package server

import (
	"flag"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wick/address"
	"wick/exact"
	"wick/limit"
	"wick/market"
	"wick/trade"
)

// settle checks what the flag package could not and the rules on combining flags, and
// reads the files that flags name: watchlists, destinations, the passphrase, keys. It
// opens nothing that stays open. The first mistake is the error, and names its flag.
func (c *config) settle(raw *rawFlags, env func(string) string) error {
	// The order of these checks decides which of several mistakes is reported. The mode
	// comes early, because later checks ask for it.
	for _, check := range []func() error{
		c.settleTask, c.settleMode,
		func() error { return c.settleGiven(raw) },
		c.settleSource, c.settleCluster, c.settleOnce, c.settleMetrics,
		func() error { return c.settleWatched(raw) },
		func() error { return c.settleAmounts(raw) },
		func() error { return c.settleFills(raw) },
		c.settleAccount, c.settlePrices,
		func() error { return c.settleCounts(raw) },
		c.settleHalt,
		func() error { return c.settleBroker(env) },
		c.settleNotify,
		func() error { return c.settleFiles(raw, env) },
		func() error { return c.settleServer(raw) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// settleMode settles whether there is a server, and checks --log-format.
func (c *config) settleMode() error {
	switch {
	case c.mcp && c.serve:
		return fmt.Errorf("--mcp and --serve exclude each other: start one process for each")
	case c.trade && !c.mcp:
		c.serve = true
	}
	if c.logFormat != "text" && c.logFormat != "json" {
		return fmt.Errorf("--log-format %q is neither text nor json", c.logFormat)
	}
	return nil
}

// settleSource checks that there is a source of the name. Whether it can be opened shows when
// it is.
func (c *config) settleSource() error {
	dir, csv := strings.CutPrefix(c.source, "csv:")
	if csv && dir == "" || !csv && !slices.Contains(market.Sources(), c.source) {
		return fmt.Errorf("--source %q is none of %s", limit.Clip(c.source), strings.Join(market.Sources(), ", "))
	}
	return nil
}

// task is a flag that does one thing and ends the program.
type task struct {
	flag  string
	asked bool
	reads string // the flags whose twins in the environment matter to it; * for all
}

// tasks returns what c asks for of the flags that do one thing and end the program.
func (c *config) tasks() []task {
	return slices.DeleteFunc(c.allTasks(), func(t task) bool { return !t.asked })
}

// allTasks returns all of them; --recover=yes is not one, since it goes on to serve.
func (c *config) allTasks() []task {
	return []task{
		{"version", c.version, ""}, {"print-config", c.printConfig != "", "*"}, {"healthcheck", c.healthcheck, "listen port"}, {"new-key", c.newKey != "", ""},
		{"clients", c.clients, "data-dir"}, {"revoke", c.revoke != "", "data-dir"}, {"halt", c.halt != "", "data-dir"}, {"accept-positions", c.accept, "data-dir"},
		{"audit", c.audit, "data-dir head verify"}, {"import", c.cluster.importDir != "", "cluster cluster-file cluster-store"},
		{"export", c.export != "", "data-dir format cluster cluster-file cluster-store"}, {"recover", c.recover == recoverShow, "data-dir cluster"},
		{"notify-test", c.notifyTest != "", "notify-file source symbols intervals log-format"}, {"output", c.render.output != "", "source log-format " + c.render.names()},
		{"permissions", c.permissions, ""}, {"approve", c.approve != "", "data-dir"},
	}
}

// settleTask refuses two flags that do one thing each: one would be left undone in silence.
func (c *config) settleTask() error {
	if asked := c.tasks(); len(asked) > 1 {
		return fmt.Errorf("--%s and --%s exclude each other: each does one thing and ends, so start wick once for each", asked[0].flag, asked[1].flag)
	}
	return nil
}

// settleGiven refuses a flag of the command line that would be without effect in silence in
// the mode that is started: a chart would not be drawn, an account not be opened. A variable
// may stand for every mode. A flag that is off, as it is anyway, is no mistake.
func (c *config) settleGiven(raw *rawFlags) error {
	for _, group := range raw.groups.list {
		for _, f := range c.given {
			off := f.DefValue == "false" && f.Value.String() == "false"
			if off || !slices.Contains(group.Flags, f) {
				continue
			}
			if why := c.idle(f, group.Title); why != "" {
				return fmt.Errorf("--%s would be without effect: %s", f.Name, why)
			}
		}
	}
	return nil
}

// idle says why a flag of the command line, of the group with this title, would be without
// effect, and returns an empty text if it has one. A task, above all --halt, may stand beside
// all that the server it is meant for was started with, but not beside flags of a chart, which
// no server takes. The chart of --output is meant for no server. And --print-config prints the
// flags of a client that starts wick over stdio, so they are judged as those of --mcp.
func (c *config) idle(f *flag.Flag, title string) string {
	tasks := c.tasks()
	printed := c.printConfig == "claude-desktop" || c.printConfig != "" && c.mcp
	started := (c.serve || c.mcp) && (len(tasks) == 0 || c.render.output != "")
	ofChart := title == chartGroup || title == lookGroup
	switch {
	case (printed || started) && ofChart:
		return "one chart is drawn to --output, and wick ends, only without --serve, --mcp and --trade"
	case (printed || started) && title == tradingGroup && !c.trade:
		return "it belongs to --trade"
	case printed || started:
		return c.without(f)
	case len(tasks) == 0: // there is nothing to do, which is said later
		return ""
	case slices.Contains(strings.Fields(tasks[0].reads), f.Name):
		return c.without(f)
	case c.render.output != "":
		return "it is of a server, and --output draws one chart and ends"
	case ofChart:
		return "it is of the chart of --output, and --" + tasks[0].flag + " draws none"
	}
	return ""
}

// without says to which other flag f belongs, if that is not set and f would change something
// only with it.
func (c *config) without(f *flag.Flag) string {
	owner := map[string]string{"currency": "cash", "stablecoins-as-usd": "cash", "cluster-store": "cluster", "exit-when-broken": "trade"}[f.Name]
	if owner == "" || f.Value.String() == f.DefValue || c.values[owner] != "" && c.values[owner] != "false" {
		return ""
	}
	return "it belongs to --" + owner
}

// settleOnce checks the flags that do one thing. A flag that belongs to another one is
// refused without it.
func (c *config) settleOnce() error {
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
	if c.head && c.verify.on {
		return fmt.Errorf("--head and --verify exclude each other: one prints the newest hash and the other checks the history, so start wick once for each")
	}
	if (c.head || c.verify.on) && !c.audit {
		return fmt.Errorf("--head and --verify belong to --audit: write wick --audit --verify")
	}
	return nil
}

// settleHalt checks the word of --halt.
func (c *config) settleHalt() error {
	if c.halt != "" && haltPaths[c.halt] == "" {
		return fmt.Errorf("--halt %q is none of on, cancel, off", c.halt)
	}
	return nil
}

// settleFiles settles the data directory, and reads the passphrase and the keys.
func (c *config) settleFiles(raw *rawFlags, env func(string) string) (err error) {
	// A missing directory is a mistake only for what reads or writes state: not for charts
	// and stdio without --trade.
	task := slices.ContainsFunc(c.tasks(), func(t task) bool { return strings.Contains(t.reads, "data-dir") })
	if c.dataDir, err = dataDir(raw.dataDir, env); err != nil && (c.serve || c.trade || task) {
		return err
	}
	if c.passphrase, c.passphraseFrom, err = passphrase(raw.passphraseFile, env); err != nil {
		return err
	}
	if len(c.passphrase) == 0 && c.realMoney() && (c.serve || c.mcp) {
		return fmt.Errorf("--broker %s moves real money, and without a passphrase every program on this machine could approve orders, also a model that has a shell; "+
			"set --passphrase-file or WICK_PASSPHRASE", c.broker)
	}
	if c.keys, err = readKeys(raw.keyFile); err != nil {
		return fmt.Errorf("--key-file: %w", err)
	}
	c.documentsAt = env("WICK_CLIENT_DOCUMENTS_URL")
	return nil
}

// settleMetrics checks that the metrics are served on this machine only: they need no
// token, and show when the owner is at work.
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

// settleServer checks the port, the address to bind, the proxies, the origins and the base URL.
func (c *config) settleServer(raw *rawFlags) error {
	if c.port < 0 || c.port > 65535 {
		return fmt.Errorf("--port %d is out of bounds, 0 to 65535", c.port)
	}
	// 127.0.0.1 may be written as ::ffff:127.0.0.1; it is listened on as the former.
	if ip, err := netip.ParseAddr(c.listen); err == nil && ip.Is4In6() {
		c.listen = ip.Unmap().String()
	}
	if _, err := netip.ParseAddr(c.listen); err != nil && strings.ContainsAny(c.listen, "[]:/ ") {
		return fmt.Errorf("--listen %q is no address to bind: write one such as 127.0.0.1 or ::1, without brackets, and the port as --port", limit.Clip(c.listen))
	}
	for _, text := range raw.proxies {
		prefix, err := parsePrefix(text)
		if err != nil {
			return fmt.Errorf("--trusted-proxy %q is neither an address nor a CIDR such as 10.0.0.0/8", text)
		}
		c.proxies = append(c.proxies, prefix.Masked())
	}
	// Origins are compared whole with what browsers send: scheme, host and port, no path.
	for i, origin := range c.origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return fmt.Errorf("--allow-origin: address %d is not an origin such as https://app.example.com", i+1) // not quoted: it may hold a password
		}
		if c.origins[i], err = normalOrigin(u); err != nil {
			return fmt.Errorf("--allow-origin %q: %w", origin, err)
		}
	}
	if c.baseURL == "" {
		return nil
	}
	base, err := normalBase(c.baseURL)
	c.baseURL = base
	return err
}

// parsePrefix reads a CIDR, or a single address, which becomes a prefix of its full
// length.
func parsePrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Prefix(addr.BitLen())
	}
	return netip.ParsePrefix(text)
}

// reachedByLocalhost reports whether a program that connects to localhost meets
// a listener on this address. 127.0.0.2 is this machine too, but not that name.
func reachedByLocalhost(listen string) bool {
	ip, err := netip.ParseAddr(listen)
	return strings.EqualFold(listen, "localhost") ||
		err == nil && (ip.IsUnspecified() || ip == netip.MustParseAddr("127.0.0.1") || ip == netip.IPv6Loopback())
}

// publish settles the base URL once the port is known, and checks who could log in.
func (c *config) publish(port int) error {
	if err := c.settleBase(port); err != nil {
		return err
	}
	base, err := url.Parse(c.baseURL)
	if err == nil {
		err = c.checkAnswered(base, port)
	}
	if err == nil {
		err = c.checkLogin(base)
	}
	return err
}

// settleBase sets the base URL, unless it was given, to localhost and the port, and refuses an
// address to bind that localhost does not lead to.
func (c *config) settleBase(port int) error {
	if c.baseURL != "" {
		return nil
	}
	if !reachedByLocalhost(c.listen) {
		// On a network the address is that of the proxy in front, which speaks https.
		advice := "https://wick.example.com"
		if address.Loopback(c.listen) {
			advice = "http://" + net.JoinHostPort(c.listen, strconv.Itoa(port))
		}
		return fmt.Errorf("--listen %s is not where http://localhost:%d leads: set --base-url to the address that clients use, such as %s", c.listen, port, advice)
	}
	c.baseURL = "http://localhost:" + strconv.Itoa(port)
	return nil
}

// checkAnswered refuses a base URL with an address of this machine and the server's own
// port on which the server does not listen, such as [::1] beside --listen 127.0.0.1: nobody
// would answer there. Another port may be that of a proxy.
func (c *config) checkAnswered(base *url.URL, port int) error {
	at, notAddress := netip.ParseAddr(base.Hostname())
	listen, notListen := netip.ParseAddr(c.listen)
	if notAddress != nil || notListen != nil || !at.IsLoopback() || listen.IsUnspecified() || listen == at || base.Port() != strconv.Itoa(port) {
		return nil
	}
	return fmt.Errorf("--base-url %s is not where --listen %s answers: set --listen to %s, or write the base URL with the address that it listens on", c.baseURL, c.listen, at)
}

// checkLogin refuses a passphrase over plain http on
// the network, and an open login beyond this machine or behind a proxy: whoever reaches
// /authorize can read the code from the redirect, so without a passphrase anyone could
// log in.
func (c *config) checkLogin(base *url.URL) error {
	if base.Scheme == "http" && !address.Loopback(c.listen) {
		return fmt.Errorf("--listen %s is open to the network, but the base URL %s is plain http, so anyone on the way reads the passphrase and the tokens: "+
			"put a TLS proxy in front and set --base-url to its https address, or listen on loopback", c.listen, c.baseURL)
	}
	if len(c.passphrase) == 0 && (!address.Loopback(c.listen) || !address.Loopback(base.Hostname())) {
		return fmt.Errorf("without a passphrase wick serves loopback only, because behind a public address a stranger could log in; " +
			"set WICK_PASSPHRASE or --passphrase-file, or leave --listen and --base-url on loopback")
	}
	if len(c.passphrase) == 0 && len(c.proxies) > 0 {
		return fmt.Errorf("--trusted-proxy without a passphrase: behind a public proxy a stranger could read the code from the redirect, and so log in; " +
			"set WICK_PASSPHRASE or --passphrase-file, or leave --trusted-proxy out")
	}
	return nil
}

// settlePrices checks which prices are believed.
func (c *config) settlePrices() error {
	if c.set["max-price-age"] && c.maxPriceAge <= 0 {
		return fmt.Errorf("--max-price-age %s is no age: write a duration above 0, such as 90s, or leave it out for 60s and, of stocks, the session's last", c.maxPriceAge)
	}
	if !(c.priceBand > 1) || math.IsInf(c.priceBand, 1) { // also NaN
		return fmt.Errorf("--price-band %v is no band: write a multiple above 1, or leave it out for %d", c.priceBand, market.DefaultBand)
	}
	return nil
}

// maxCount is the largest value of a limit that is a whole number. A rate of more than a
// thousand million orders a second would not limit anything, because the time between two
// orders would be rounded to zero.
const maxCount = 1_000_000

// settleCounts checks the limits that are whole numbers. Zero is refused, because for the
// engine it means the default, and the operator who wrote it meant something else.
func (c *config) settleCounts(raw *rawFlags) error {
	for _, n := range []struct {
		flag    string
		n, most int
		to      *int
	}{
		{"max-open-orders-per-symbol", raw.perSymbol, trade.MaxOpenPerSymbol, &c.limits.OpenPerSymbol},
		{"max-open-orders", raw.openOrders, maxCount, &c.limits.Open},
		{"max-order-rate", raw.rate, maxCount, &c.limits.OrdersPerSecond},
	} {
		if n.n < 1 || n.n > n.most {
			return fmt.Errorf("--%s %d is no limit: write a whole number from 1 to %d, or leave it out for %s; to stop all orders use --halt on",
				n.flag, n.n, n.most, raw.groups.fs.Lookup(n.flag).DefValue)
		}
		*n.to = n.n
	}
	return nil
}

// settleFills checks how the paper broker fills orders.
func (c *config) settleFills(raw *rawFlags) (err error) {
	// Without --half-spread bid and ask are those of the source, if it has them.
	c.quoted = raw.spread == ""
	c.grid, err = parseGrid(raw.grid)
	return err
}

// currencyShape is what the currency of an account looks like: an ISO 4217 code, such a code
// with a small letter for hundredths, or a token. It is compared with what sources name, letter by
// letter, so a token in small letters would match nothing.
var currencyShape = regexp.MustCompile(`^([A-Z]{3,10}|[A-Z]{2}[a-z])$`)

// settleAccount checks that flags about an account are used only if there is one: ours,
// opened with --cash, or that of a broker.
func (c *config) settleAccount() error {
	if c.limits.DailyLoss > 0 && c.account.Cash == 0 && !c.atBroker() {
		return fmt.Errorf("--max-daily-loss is counted on an account: add --cash, or --broker")
	}
	if c.account.Cash == 0 && (c.account.Short || c.account.Leverage > exact.One) {
		return fmt.Errorf("--leverage and --short are rules of an account: add --cash, or leave them out (without an account orders are bounded by the other limits alone)")
	}
	if !currencyShape.MatchString(c.account.Currency) {
		return fmt.Errorf("--currency %q is not the name of a currency as data sources write it, such as USD, USDT or, for pence, GBp", limit.Clip(c.account.Currency))
	}
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

// settleAmounts parses the flags that are exact numbers. A field whose flag was left out
// keeps its value: zero, or for --confirm-above -1, which means that no order needs an
// approval.
func (c *config) settleAmounts(raw *rawFlags) error {
	// A maker fee that was not given is nil, since 0 is a fee as well.
	if raw.maker != "" {
		c.makerFee = new(exact.Decimal)
	}
	c.confirmAbove = -1
	for _, a := range []amount{
		{"max-order-notional", raw.notional, &c.limits.OrderNotional, aboveZero, "100000, or 100 at a broker"},
		{"max-position-notional", raw.position, &c.limits.PositionNotional, aboveZero, "ten of the largest order"},
		{"fee-rate", raw.fee, &c.feeRate, fraction, "0.001"},
		{"maker-fee-rate", raw.maker, c.makerFee, fraction, "that of --fee-rate"},
		{"slippage", raw.slippage, &c.slippage, fraction, "0.0005"},
		{"half-spread", raw.spread, &c.halfSpread, fraction, "the source's own"},
		{"confirm-above", raw.confirm, &c.confirmAbove, bounds{0, math.MaxInt64, fmt.Sprintf("from zero up to %d", mostAmount)}, "none, or 0 at a broker"},
		{"cash", raw.cash, &c.account.Cash, aboveZero, "no account"},
		{"max-daily-loss", raw.dailyLoss, &c.limits.DailyLoss, aboveZero, "no limit"},
		{"leverage", raw.leverage, &c.account.Leverage, bounds{exact.One, math.MaxInt64, fmt.Sprintf("from 1 up to %d", mostAmount)}, "1"},
	} {
		if err := a.parse(); err != nil {
			return err
		}
	}
	return nil
}

// amount is a flag whose text is an exact number: a sum of money is never a float.
type amount struct {
	flag, text string
	to         *exact.Decimal
	bounds     bounds
	without    string // what leaving the flag out means
}

// bounds are the least and the largest value of an amount, both allowed, and how they are told.
type bounds struct {
	least, most exact.Decimal
	told        string
}

// mostAmount is the largest whole number that an amount can be.
const mostAmount = math.MaxInt64 / int64(exact.One)

// The bounds of most amounts. Where zero would be the default to the engine, as of a limit, it
// is refused, because the operator who wrote it meant something else.
var (
	aboveZero = bounds{1, math.MaxInt64, fmt.Sprintf("above zero and up to %d", mostAmount)}
	fraction  = bounds{0, exact.One - 1, "from 0 to below 1"}
)

// parse sets the number, unless the flag was left out. One out of bounds is refused.
func (a amount) parse() error {
	if a.text == "" {
		return nil
	}
	v, err := exact.Parse([]byte(a.text))
	if err != nil || v < a.bounds.least || v > a.bounds.most {
		return fmt.Errorf("--%s %q is not a number %s with at most 8 decimals: write one, or leave it out for %s", a.flag, a.text, a.bounds.told, a.without)
	}
	*a.to = v
	return nil
}

// dataDir returns the directory for state, as an absolute path: the flag, else ~/.wick.
// It need not exist yet. HOME is read through env first, so that tests have their own.
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

// howToLogIn says for the start-up line how clients log in.
func (c *config) howToLogIn() string {
	if len(c.passphrase) == 0 {
		return "at once, for clients on this machine"
	}
	return "with the passphrase"
}
