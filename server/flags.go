package server

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/limit"
	"wick/market"
)

// errUsage ends the message of every mistake in how the flags are written.
var errUsage = errors.New("see wick --help")

// errRareUsage is errUsage for a flag that --help does not explain.
var errRareUsage = errors.New("see wick --help-all")

// parseConfig reads the flags in args and, where a flag is not given, its
// environment twin. Help goes to out and ends with flag.ErrHelp.
func parseConfig(args []string, env func(string) string, out io.Writer) (*config, error) {
	c := &config{}
	fs, raw := c.flags()
	// This default depends on the environment; the flag, if given, overwrites it. The flag
	// package prints nothing by itself: the caller prints the one error.
	c.exitWhenBroken = env("INVOCATION_ID") != "" || env("NOTIFY_SOCKET") != "" // systemd sets them
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	if err := c.parseArgs(fs, raw, args, out); err != nil {
		return nil, err
	}
	// Flags of the command line are noted before those of the environment are set, since
	// only they are printed for a client to start wick with.
	fs.Visit(func(f *flag.Flag) { c.given = append(c.given, f) })
	if err := c.refuseEmpty(); err != nil {
		return nil, err
	}
	env = c.forTask(env)
	if err := fromEnvironment(raw.groups, env); err != nil {
		return nil, err
	}
	c.values, c.set = make(map[string]string), make(map[string]bool)
	fs.VisitAll(func(f *flag.Flag) { c.values[f.Name] = f.Value.String() })
	fs.Visit(func(f *flag.Flag) { c.set[f.Name] = true })
	c.shared = raw.groups.shared()
	if err := c.settle(raw, env); err != nil {
		return nil, err
	}
	return c, nil
}

// parseArgs reads the flags in args, and writes the help that they ask for.
func (c *config) parseArgs(fs *flag.FlagSet, raw *rawFlags, args []string, out io.Writer) error {
	// What does one thing may be written as a word: wick halt on is wick --halt on.
	if len(args) > 0 && slices.ContainsFunc(c.allTasks(), func(t task) bool { return t.flag == args[0] }) {
		args = append([]string{"--" + args[0]}, args[1:]...)
	}
	if err := parseVerified(fs, args, &c.verify); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			writeHelp(out, raw.groups.list, false)
			return err
		}
		return wrongArgument(err, raw.groups)
	}
	if c.helpAll {
		writeHelp(out, raw.groups.list, true)
		return flag.ErrHelp
	}
	// The flag package does not take the word after a flag that may stand alone for its
	// value. After --notify-test that word is the name of a destination.
	if c.notifyTest == testAll && fs.NArg() == 1 && fs.Arg(0) != "" {
		c.notifyTest = testFlag(fs.Arg(0))
	} else if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: %w", fs.Arg(0), errUsage)
	}
	return nil
}

// refuseEmpty refuses a flag of the command line with nothing after it, as a shell makes of
// a variable that is not set: it would act as if it were left out, --listen would open the
// server to the network, and --symbol would draw an invented market.
func (c *config) refuseEmpty() error {
	for _, f := range c.given {
		if !alone(f) && f.Value.String() == "" {
			return fmt.Errorf(`--%s "" has no value: write one, or leave it out`, f.Name)
		}
	}
	return nil
}

// forTask returns env as the task on the command line sees it, if there is one: of our own
// variables only those that it reads. The rest are the server's, whose environment a health
// check or a halt in its container shares without its flags: they must not refuse for them.
func (c *config) forTask(env func(string) string) func(string) string {
	asked := c.tasks()
	if len(asked) == 0 || asked[0].reads == "*" {
		return env
	}
	var read []string
	for _, flag := range strings.Fields(asked[0].reads) {
		read = append(read, envName(flag))
	}
	return func(name string) string {
		value := env(name) // asked for all the same, so that nobody calls it misspelled
		if strings.HasPrefix(name, envPrefix) && !slices.Contains(read, name) {
			return ""
		}
		return value
	}
}

// fromEnvironment sets every flag that was not given from its twin: --base-url
// is WICK_BASE_URL. A mode on the command line wins over the other one in the
// environment: the container image sets WICK_SERVE, and must take --mcp. --help-all has no
// twin: a server must not print its help and end for a variable.
func fromEnvironment(g groups, env func(string) string) error {
	given := make(map[string]bool)
	g.fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	// If either mode is on the command line, neither is taken from the environment.
	if given["mcp"] || given["serve"] {
		given["mcp"], given["serve"] = true, true
	}
	// VisitAll cannot be ended early: after the first error the others are left alone.
	var err error
	g.fs.VisitAll(func(f *flag.Flag) {
		if f.Name == "help-all" {
			return // not asked for, so that the log names it
		}
		name := envName(f.Name)
		if v := env(name); v != "" && !given[f.Name] && err == nil {
			if e := g.fs.Set(f.Name, v); e != nil {
				err = wrongValue(name, f, v, e, g)
			}
		}
	})
	return err
}

// parseError ends what the flag package says of a value that is not of the kind of its flag.
const parseError = "parse error"

// unparsed is what the flag package says of such a value on the command line.
var unparsed = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-(\S+): ` + parseError + `$`)

// wrongArgument returns the error for what the flag package refused on the command line.
func wrongArgument(err error, g groups) error {
	if found := unparsed.FindStringSubmatch(err.Error()); found != nil {
		f, value := g.fs.Lookup(found[2]), found[1]
		if text, bad := strconv.Unquote(value); bad == nil && f != nil {
			return wrongValue("--"+f.Name, f, text, errors.New(parseError), g)
		}
	}
	return fmt.Errorf("%w: %w", err, errUsage)
}

// wrongValue returns the error for a value that f does not take, by the name under which it
// was given. Where the flag package says "parse error", it says what to write in place of that,
// and which help explains the flag.
func wrongValue(name string, f *flag.Flag, value string, err error, g groups) error {
	kind := kindOf(f, value)
	if kind == "" || err.Error() != parseError {
		return fmt.Errorf("%s %q: %w", name, limit.Clip(value), err)
	}
	help := errUsage
	if g.rare(f) {
		help = errRareUsage
	}
	return fmt.Errorf("%s %q is %s: %w", name, limit.Clip(value), kind, help)
}

// kindOf says what a value of f, which is not of its kind, is not. It returns an empty text
// for a flag that says so itself.
func kindOf(f *flag.Flag, value string) string {
	getter, ok := f.Value.(flag.Getter)
	if !ok {
		return ""
	}
	switch getter.Get().(type) {
	case time.Duration:
		example := "60s"
		if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 && n < 1e6 {
			example = limit.Clip(value) + "s" // seconds, most likely
		}
		return "no duration: write a number and its unit, such as " + example
	case int:
		return "no whole number"
	case float64:
		return "no number"
	case bool:
		return "neither true nor false"
	}
	return ""
}

// envPrefix begins the names of the variables that are wick's own.
const envPrefix = "WICK_"

// envName returns the name of the environment variable for a flag.
func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// parseVerified parses args like fs.Parse, but takes the word after --verify for its
// hash. Because --verify may stand alone, fs.Parse would stop at that word and leave all
// that follows unread.
func parseVerified(fs *flag.FlagSet, args []string, verify *verifyFlag) error {
	if err := fs.Parse(args); err != nil || !verify.on || fs.NArg() == 0 {
		return err
	}
	// Parsing stopped at the first word that is no flag: that is the hash, and what
	// stands after it is parsed as if the hash were not there.
	rest := fs.Args()
	if err := verify.set(rest[0]); err != nil {
		return err
	}
	return fs.Parse(rest[1:])
}

// Flags returns every flag with its default and meaning, in groups, for
// documents that are made from them.
func Flags() []Group {
	_, raw := (&config{}).flags()
	return raw.groups.list
}

// flags declares every flag, with the functions that it calls. This is the only place
// that says what a flag means: --help, the man page and the completions are made from
// it. A flag belongs to the group that was started last before it.
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
	g.share()
	fs.StringVar(&c.source, "source", "sample", "`source` of bars: "+strings.Join(market.Sources(), ", "))
	fs.StringVar(&raw.watchlist, "watchlist", "", "`file` of named lists of symbols, one a line, such as majors: BTCUSDT ETHUSDT; a scan takes them as @majors")

	g.start(tradingGroup, rare)
	g.share()
	c.orderFlags(fs, raw)
	c.paperFlags(fs, raw)
	fs.StringVar(&c.approve, "approve", "", "approve the order with this `ID` on --data-dir; reads the passphrase from standard input")
	fs.BoolVar(&c.permissions, "permissions", false, "print which scope, approval and doors each action needs")
	fs.StringVar(&c.halt, "halt", "", "`on` halts trading of the server that runs on --data-dir; cancel also cancels every order; off lets it go on")

	g.start("A broker elsewhere", rare)
	g.share()
	c.brokerFlags(fs)

	g.start("Several machines", rare)
	c.cluster.flags(fs)

	g.start("State, messages and logs", common)
	c.stateFlags(fs, raw)

	g.start("Do one thing and exit", common)
	c.onceFlags(fs)

	c.render.flags(fs, g) // must come last, because it ends the groups
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
	fs.Var(&raw.proxies, "trusted-proxy", "`CIDR` of proxies whose X-Forwarded-For is believed; repeatable; needs a passphrase")
	fs.BoolVar(&c.noApp, "no-app", false, "do not serve the owner's page at /app")
}

// orderFlags declares what the engine watches and the limits that hold for every
// order, whichever broker takes it.
func (c *config) orderFlags(fs *flag.FlagSet, raw *rawFlags) {
	fs.StringVar(&raw.symbols, "symbols", "BTCUSDT", "up to 50 `symbols` the engine watches from the start, separated by commas")
	fs.StringVar(&raw.intervals, "intervals", "4h,1h", "`intervals` the engine keeps of each symbol; alerts take the first unless told")
	fs.StringVar(&raw.notional, "max-order-notional", "100000", "largest order in quote `units`; with --broker alpaca or alpaca-paper 100 unless set")
	fs.StringVar(&raw.position, "max-position-notional", "", "largest position per symbol in quote `units`; default ten times the largest order")
	fs.IntVar(&raw.perSymbol, "max-open-orders-per-symbol", 200, "largest `number` of open orders per symbol, at most 250")
	fs.IntVar(&raw.openOrders, "max-open-orders", 1000, "largest `number` of open orders in all")
	fs.IntVar(&raw.rate, "max-order-rate", 10, "largest `number` of orders a second, after twice as many at once")
	fs.StringVar(&raw.confirm, "confirm-above", "", "`sum` a client may place within an hour; beyond it a person approves each order; default none, at a broker 0")
	fs.BoolVar(&c.approveInClient, "approve-in-client", false, "let a form in the client approve an order, in place of the page; never for real money")
	fs.BoolVar(&c.attachTrade, "attach-trade", false, "let hosts that attach over stdio trade, though there is a passphrase or real money")
	fs.DurationVar(&c.maxPriceAge, "max-price-age", 0, "oldest price to trade at, as a `duration` such as 90s; default 60s, for stocks the session's last price")
	fs.Float64Var(&c.priceBand, "price-band", market.DefaultBand, "largest jump of a price, up or down, that is believed without asking twice, as a `multiple`")
}

// paperFlags declares how the paper broker fills orders and what its account holds.
// Amounts are texts: they are parsed as exact numbers, not as floats.
func (c *config) paperFlags(fs *flag.FlagSet, raw *rawFlags) {
	fs.StringVar(&raw.fee, "fee-rate", "0.001", "paper broker: fee as a `fraction` of a fill")
	fs.StringVar(&raw.maker, "maker-fee-rate", "", "paper broker: fee of limits that rested, as a `fraction` of a fill; default --fee-rate")
	fs.StringVar(&raw.spread, "half-spread", "", "paper broker: how far bid and ask are from the price, as a `fraction` of it; default the source's own, or 0")
	fs.StringVar(&raw.grid, "grid", "", "paper broker: steps and least order, `SYMBOL=TICK/LOT/MIN,...`; * for all others; default the exchange's")
	fs.StringVar(&raw.slippage, "slippage", "0.0005", "paper broker: slippage of stops and of orders that fill at once, as a `fraction` of the price")
	fs.StringVar(&raw.cash, "cash", "", "open a paper account with this `amount`: orders need buying power, and get_positions shows the account")
	fs.StringVar(&raw.dailyLoss, "max-daily-loss", "", "with --cash or --broker: after a loss of this `amount` in a day only orders that shrink a position are taken")
	fs.StringVar(&c.account.Currency, "currency", "USD", "`currency` of the account")
	fs.StringVar(&raw.leverage, "leverage", "1", "with --cash: how many `times` its equity positions may be worth")
	fs.BoolVar(&c.account.Short, "short", false, "with --cash: allow selling what is not held")
	fs.BoolVar(&c.account.Stablecoins, "stablecoins-as-usd", true, "with --cash: count USDT and USDC as USD")
}

// stateFlags declares where state is kept and where messages, logs and metrics go.
func (c *config) stateFlags(fs *flag.FlagSet, raw *rawFlags) {
	fs.StringVar(&c.notifyFile, "notify-file", "", "`file` with destinations for messages to the owner, see docs/notify.md; mode 0600")
	fs.BoolFunc("notify-test", "send one message to every destination, or to the one named after it, say what came back, and exit", c.notifyTest.set)
	fs.StringVar(&raw.dataDir, "data-dir", "", "`directory` for state; default ~/.wick")
	fs.BoolVar(&c.exitWhenBroken, "exit-when-broken", false, "end when the journal is broken and a new start would help; default under systemd and in the image")
	fs.StringVar(&c.logFormat, "log-format", "text", "`format` of the log: text or json")
	fs.StringVar(&c.metrics, "metrics", "", "loopback `address` to serve Prometheus metrics on, such as 127.0.0.1:9316")
}

// onceFlags declares the flags that do one thing and end the program, and those that
// belong to them. A new one is listed in tasks too, so that no two are taken together.
func (c *config) onceFlags(fs *flag.FlagSet) {
	fs.Var(&c.recover, "recover", "show what can be kept of a damaged journal, and exit; --recover=yes keeps it, sets the rest aside and goes on")
	fs.StringVar(&c.newKey, "new-key", "", "make a `file` for --key-file, with a new key in it")
	fs.BoolVar(&c.clients, "clients", false, "list the logins of the server that runs on --data-dir")
	fs.StringVar(&c.revoke, "revoke", "", "end the login with this `ID` from --clients; the word all ends every login")
	fs.BoolVar(&c.audit, "audit", false, "print the journal and who did what, one line per event")
	fs.BoolVar(&c.head, "head", false, "with --audit: print the newest hash of the history instead, to write down")
	fs.BoolFunc("verify", "with --audit: check the whole history instead; with a `HASH` of --head, also that the history still has it", c.verify.set)
	fs.StringVar(&c.export, "export", "", "`what` to print of --data-dir: orders, fills or equity, with --format csv or json")
	fs.StringVar(&c.printConfig, "print-config", "", "settings to paste into a `client`: "+strings.Join(ClientNames(), ", "))
	fs.BoolVar(&c.version, "version", false, "print the version")
	fs.BoolVar(&c.helpAll, "help-all", false, "explain every flag")
	fs.BoolVar(&c.healthcheck, "healthcheck", false, "ask the server on --listen and --port; exit 0 if it answers, degraded or not, else 1")
}
