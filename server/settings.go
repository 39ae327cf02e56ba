package server

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/market"
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
		home := env("HOME") // read through env first, so that tests have their own
		if home == "" {
			home, err = os.UserHomeDir()
		}
		switch {
		case err == nil:
			c.dataDir = filepath.Join(home, ".wick")
		case c.trade || c.serve || c.command != nil && c.command.reads("data-dir"):
			return errors.New("no home directory for state: set --data-dir")
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
	switch {
	case c.mcp && c.serve:
		return errors.New("--mcp and --serve exclude each other: start one process for each")
	case c.recover && !c.trade:
		return errors.New("--recover=yes goes on to serve: add --trade; wick recover shows what it would keep")
	case c.engine.Limits.DailyLoss > 0 && c.engine.Account.Cash == 0 && !c.atBroker():
		return errors.New("--max-daily-loss is counted on an account: add --cash, or --broker")
	}
	return c.checkRooms(env)
}

// Setting is all there is to know of one setting. The flag, its twin in the environment,
// --help, the manual page, docs/settings.md, the lines of a file and what attached hosts must
// agree about are made from these rows.
type Setting struct {
	Name    string // of the flag; in a file the first word of a line
	Group   string // its title in --help
	Value   string // what its value is called; empty for a switch
	Default string // its text if it is left out
	Help    string
	File    string // the setting that names the file whose line this is; empty for a flag
	Shared  bool   // a host that attaches must agree: it decides about prices, orders and money
	Repeat  bool   // it may be given several times, or once with commas

	set func(text string) error // checks the text and stores it
}

// Spelling returns the setting as a person writes it.
func (s Setting) Spelling() string {
	if s.File != "" {
		return s.Name + " in --" + s.File
	}
	return "--" + s.Name
}

// Variable returns the name of the twin in the environment: WICK_BASE_URL of --base-url.
func (s Setting) Variable() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Meaning returns the help with the default.
func (s Setting) Meaning() string {
	if s.Default == "" || s.Default == "false" || strings.Contains(s.Help, "default") {
		return s.Help
	}
	return s.Help + " (default " + s.Default + ")"
}

// Check returns an error if the setting does not take a text.
func (s Setting) Check(text string) error { return s.set(text) }

// Settings returns every setting, for documents that are made from them.
func Settings() []Setting { return new(config).settings() }

// envPrefix begins the names of the variables that are wick's own.
const envPrefix = "WICK_"

// The settings that name a file of further settings.
const (
	inPaper   = "paper-file"
	inCluster = "cluster-file"
)

// settings returns the table: what is set in c, and how. Amounts of money are exact numbers,
// never floats. Where zero would mean the default to the engine it is refused, because the
// operator who wrote it meant something else.
func (c *config) settings() []Setting {
	return slices.Concat(
		c.group("Modes", "",
			Setting{Name: "mcp", Help: "speak MCP over standard input and output", set: on(&c.mcp)},
			Setting{Name: "serve", Help: "speak MCP over HTTP, with the OAuth login", set: on(&c.serve)},
			Setting{Name: "trade", Help: "add orders, positions and alerts; alone it means --serve --trade", set: on(&c.trade)}),
		c.group("Server", "",
			Setting{Name: "listen", Value: "address", Default: "127.0.0.1", Help: "address to bind", set: c.setListen},
			Setting{Name: "port", Value: "port", Default: "9315", Help: "port to bind; 0 picks a free one", set: whole(&c.port, 0, 65535)},
			Setting{Name: "base-url", Value: "URL", Help: "published URL; default http://localhost:<port>", set: func(text string) (err error) { c.baseURL, err = normalBase(text); return err }},
			Setting{Name: "passphrase-file", Value: "file", Help: "file with the owner's passphrase (WICK_PASSPHRASE holds the passphrase itself)", set: store(&c.passphraseFile)},
			Setting{Name: "key-file", Value: "file", Help: "file with keys that keep everybody logged in over a restart, see docs/keys.md; mode 0600", set: fromFile(readSecret, maxKeyFile, func(text []byte) (err error) { c.login.Keys, err = oauth.ParseKeys(text); return err })},
			Setting{Name: "allow-origin", Value: "origin", Help: "browser origin to allow besides loopback and our own; repeatable", Repeat: true, set: each(&c.origins, asOrigin)},
			Setting{Name: "client-documents", Value: "host", Help: "host whose clients may log in by a document about them, such as claude.ai; repeatable", Repeat: true, set: each(&c.login.Documents, asText)},
			Setting{Name: "trusted-proxy", Value: "CIDR", Help: "CIDR of proxies whose X-Forwarded-For is believed; repeatable; needs a passphrase", Repeat: true, set: each(&c.login.TrustedProxies, asPrefix)},
			Setting{Name: "attach-trade", Help: "let hosts that attach over stdio trade, though there is a passphrase or real money", set: on(&c.attachTrade)}),
		c.group("Market data", "",
			Setting{Name: "source", Value: "source", Default: "sample", Help: "source of bars: " + strings.Join(market.Sources(), ", "), set: value(&c.source, asText, isSource, "is none of "+strings.Join(market.Sources(), ", "))},
			Setting{Name: "watchlist", Value: "file", Help: "file of named lists of symbols, one a line, such as majors: BTCUSDT ETHUSDT; a scan takes them as @majors", set: fromFile(readOpen, maxWatchlist, c.setWatchlists)}),
		c.group("Trading", "",
			Setting{Name: "symbols", Value: "symbols", Default: "BTCUSDT", Help: "up to 50 symbols the engine watches from the start, separated by commas", set: each(&c.engine.Symbols, asSymbol)},
			Setting{Name: "intervals", Value: "intervals", Default: "4h,1h", Help: "intervals the engine keeps of each symbol; alerts take the first by default", set: each(&c.engine.Intervals, market.ParseInterval)},
			Setting{Name: "max-order-notional", Value: "units", Default: "100000", Help: "largest order in quote units, unless it can only reduce; at a broker 100 unless set", set: amount(&c.engine.Limits.OrderNotional, 1)},
			Setting{Name: "max-position-notional", Value: "units", Help: "largest position per symbol in quote units; default ten times the largest order", set: amount(&c.engine.Limits.PositionNotional, 1)},
			Setting{Name: "max-daily-loss", Value: "amount", Help: "with --cash or --broker: after a loss of this amount in a day only orders that shrink a position are taken", set: amount(&c.engine.Limits.DailyLoss, 1)},
			Setting{Name: "cash", Value: "amount", Help: "open a paper account with this amount: orders need buying power unless they only reduce; get_positions shows it", set: amount(&c.engine.Account.Cash, 1)},
			Setting{Name: "fee-rate", Value: "fraction", Default: "0.001", Help: "paper broker: fee as a fraction of a fill", set: fraction(&c.engine.FeeRate)},
			Setting{Name: "slippage", Value: "fraction", Default: "0.0005", Help: "paper broker: slippage of stops and of orders that fill at once, as a fraction of the price", set: fraction(&c.engine.Slippage)},
			Setting{Name: inPaper, Value: "file", Help: "file with details of the paper account and its rules, see docs/settings.md", set: fromFile(readOpen, maxLines, func(text []byte) error { return c.setLines(inPaper, text) })},
			Setting{Name: "confirm-above", Value: "sum", Help: "sum in the account's currency that a client may place within an hour, without a passphrase all together; beyond it a person approves; default none, at a broker 0", set: amount(&c.asking.Above, 0)},
			Setting{Name: "approve-in-client", Help: "let a form in the client approve an order, besides the page; never for real money", set: on(&c.asking.InClient)}),
		c.group("State, messages and logs", "",
			Setting{Name: "data-dir", Value: "directory", Help: "directory for state; default ~/.wick", set: func(text string) (err error) { c.dataDir, err = filepath.Abs(text); return err }},
			Setting{Name: "exit-when-broken", Help: "end when the journal is broken and a new start would help; default under systemd and in the image", set: on(&c.exitWhenBroken)},
			Setting{Name: "recover", Help: "show what can be kept of a damaged journal, and exit; --recover=yes goes on with that", set: c.setRecover},
			Setting{Name: "log-format", Value: "format", Default: "text", Help: "format of the log: text or json", set: oneOf(&c.logFormat, "text", "json")},
			Setting{Name: "metrics", Value: "address", Help: "with --serve: loopback address for Prometheus metrics, such as 127.0.0.1:9316", set: value(&c.metrics, asText, isHere, "is not a loopback address with a port, such as 127.0.0.1:9316")},
			Setting{Name: "version", Help: "the same as wick version", set: store(new(string))},
			Setting{Name: "healthcheck", Help: "the same as wick healthcheck", set: store(new(string))}),
		c.group("Lines of --paper-file", inPaper,
			Setting{Name: "maker-fee-rate", Value: "fraction", Help: "fee of limits that rested, as a fraction of a fill; default --fee-rate", set: func(text string) error {
				c.engine.MakerFeeRate = new(exact.Decimal)
				return fraction(c.engine.MakerFeeRate)(text)
			}},
			Setting{Name: "half-spread", Value: "fraction", Help: "how far bid and ask are from the price, as a fraction of it; default the source's own, or 0", set: fraction(&c.engine.HalfSpread)},
			Setting{Name: "grid", Value: "SYMBOL=TICK/LOT/MIN", Help: "steps and least order, several with commas; * for all others; default the exchange's", Repeat: true, set: func(text string) (err error) { c.grid, err = parseGrid(text); return err }},
			Setting{Name: "currency", Value: "currency", Default: "USD", Help: "currency of the account, as data sources write it", set: value(&c.engine.Account.Currency, asText, isCurrency, "is not the name of a currency as data sources write it, such as USD, USDT or, for pence, GBp")},
			Setting{Name: "stablecoins-as-usd", Value: "switch", Default: "true", Help: "count USDT and USDC as USD", set: on(&c.engine.Account.Stablecoins)},
			Setting{Name: "leverage", Value: "times", Default: "1", Help: "with --cash: how many times the equity of the account positions may be worth", set: amount(&c.engine.Account.Leverage, exact.One)},
			Setting{Name: "short", Value: "switch", Default: "false", Help: "with --cash: allow selling what is not held, as without it", set: on(&c.engine.Account.Short)},
			Setting{Name: "max-open-orders-per-symbol", Value: "number", Default: "200", Help: "largest number of open orders per symbol", set: whole(&c.engine.Limits.OpenPerSymbol, 1, book.MaxOpenPerSymbol)},
			Setting{Name: "max-open-orders", Value: "number", Default: "1000", Help: "largest number of open orders in all", set: whole(&c.engine.Limits.Open, 1, maxCount)},
			Setting{Name: "max-order-rate", Value: "number", Default: "10", Help: "largest number of orders a second, after twice as many at once", set: whole(&c.engine.Limits.OrdersPerSecond, 1, maxCount)},
			Setting{Name: "max-price-age", Value: "duration", Help: "oldest price to trade at, such as 90s; default 60s, for Yahoo's stocks the session's last price", set: duration(&c.engine.MaxPriceAge, 1)},
			Setting{Name: "price-band", Value: "multiple", Default: strconv.Itoa(market.DefaultBand), Help: "largest jump of a price, up or down, that is believed without asking twice", set: value(&c.priceBand, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }, isBand, "is no multiple above 1")}),
		c.group("Lines of --cluster-file", inCluster),
	)
}

// group returns the settings of a part with its title, and with the file that they are lines
// of. Attached hosts must agree about market data, trading and the lines of the paper account, which
// may be in another file.
func (c *config) group(title, file string, rows ...Setting) []Setting {
	rows = append(rows, c.rooms(title)...)
	for i := range rows {
		rows[i].Group, rows[i].File = title, file
		rows[i].Shared = rows[i].Shared || title == "Market data" || title == "Trading" && rows[i].Name != inPaper || file == inPaper
	}
	return rows
}

// errUsage ends the message of every mistake in how the command line is written.
var errUsage = errors.New("see wick --help")

// fewRounds is [oauth.Options.FewRounds]: zero but in tests.
var fewRounds int

// parseConfig reads the command line and, where a flag is not given, its twin in the
// environment. Help goes to out and ends with flag.ErrHelp.
func parseConfig(args []string, env func(string) string, out io.Writer) (*config, error) {
	c := &config{given: make(map[string]string), values: make(map[string]string), set: make(map[string]bool), asking: permit.Options{Above: -1}, login: oauth.Options{FewRounds: fewRounds}}
	if err := c.parseArgs(chartAlias(args), out); err != nil {
		return nil, err
	}
	// A word may be written as a flag, and be in the environment, where the contract says so.
	for _, name := range []string{"version", "healthcheck", "recover"} {
		if asked, _ := strconv.ParseBool(cmp.Or(c.given["--"+name], env(Setting{Name: name}.Variable()))); asked && c.command == nil {
			c.command = commandOf(name)
		}
	}
	if err := c.apply(env); err != nil {
		return nil, err
	}
	if c.command == nil && c.showRecovery {
		c.command = commandOf("recover")
	}
	return c, c.check(env)
}

// parseArgs splits args into flags and words, which may be mixed. The first word is the
// command.
func (c *config) parseArgs(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("wick", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // the caller prints the one error
	for _, s := range c.settings() {
		put := func(text string) error {
			if before := c.given[s.Spelling()]; s.Repeat && before != "" {
				text = before + "," + text
			}
			c.given[s.Spelling()] = text
			return nil
		}
		switch {
		case s.File != "":
		case s.Value == "":
			fs.BoolFunc(s.Name, s.Help, put)
		default:
			fs.Func(s.Name, s.Help, put)
		}
	}
	for len(args) > 0 {
		if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
			writeHelp(out)
			return err
		} else if err != nil {
			return fmt.Errorf("%w: %w", err, errUsage)
		}
		if args = fs.Args(); len(args) > 0 {
			c.words, args = append(c.words, args[0]), args[1:]
		}
	}
	if len(c.words) == 0 {
		return nil
	}
	if c.command = commandOf(c.words[0]); c.command == nil {
		return fmt.Errorf("unexpected argument %q: %w", limit.Clip(c.words[0]), errUsage)
	}
	c.words = c.words[1:]
	return c.command.count(len(c.words))
}

// apply sets every setting that the command reads, and without a command all of them: from
// the command line, else the environment, else its default. A command reads no others, since
// a halt or a health check in the container of a server has the server's environment, which
// it must not refuse for.
func (c *config) apply(env func(string) string) error {
	for _, s := range c.settings() {
		if !c.command.reads(cmp.Or(s.File, s.Name)) {
			continue
		}
		name, from := s.Spelling(), s.Spelling()
		text, given := c.given[name]
		// A mode on the command line wins over the other one in the environment: the container
		// image sets WICK_SERVE, and must take --mcp.
		if mode := s.Group == "Modes" && c.given["--mcp"]+c.given["--serve"] != ""; !given && !mode && s.File == "" && env(s.Variable()) != "" {
			text, from, given = env(s.Variable()), s.Variable(), true
		}
		if given && text == "" {
			return fmt.Errorf(`%s "" has no value: write one, or leave it out`, from) // as a shell makes of a variable that is not set
		}
		if !given {
			text = s.Default
		}
		c.values[name], c.set[name] = text, given
		if text == "" {
			continue
		}
		if err := s.set(text); err != nil {
			return fmt.Errorf("%s %w", from, err)
		}
	}
	return nil
}

// helpHead is what --help begins with.
const helpHead = `wick: charts, indicators, alerts and paper trading over MCP, behind its own login.

  wick --serve               serve MCP over HTTP on http://localhost:9315/mcp
  wick --serve --trade       the same with orders, positions and alerts
  wick --mcp                 serve MCP over stdio, for a local client
  wick --symbol BTCUSDT --interval 1h --indicators ema_stack,rsi,macd --output chart.png

Every flag has an environment twin: --base-url is WICK_BASE_URL. The flag wins.

Do one thing and exit: wick COMMAND
`

// writeHelp writes every command and every flag by group, and of the files of settings the
// names of their lines.
func writeHelp(w io.Writer) {
	fmt.Fprint(w, helpHead)
	for _, c := range Commands() {
		fmt.Fprintf(w, "  %-37s %s\n", strings.TrimSpace(c.Name+" "+c.Args), c.Help)
	}
	title := ""
	for _, s := range Settings() {
		if s.Group != title {
			title = s.Group
			if fmt.Fprintf(w, "\n%s", title); s.File == "" {
				fmt.Fprintln(w)
			} else {
				fmt.Fprint(w, ", see docs/settings.md:")
			}
		}
		if s.File != "" {
			fmt.Fprintf(w, " %s", s.Name)
			continue
		}
		fmt.Fprintf(w, "  %-37s %s\n", strings.TrimSpace("--"+s.Name+" "+s.Value), s.Meaning())
	}
	fmt.Fprintln(w)
}
