package server

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wick/exact"
	"wick/market"
)

// env returns a lookup in pairs of name and value.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func parse(t *testing.T, environment func(string) string, args ...string) *config {
	t.Helper()
	c, err := parseConfig(args, environment, &bytes.Buffer{})
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := parse(t, env("HOME", "/home/x"), "--serve")
	if err := c.publish(9315); err != nil {
		t.Fatal(err)
	}
	if c.listen != "127.0.0.1" || c.port != 9315 || c.baseURL != "http://localhost:9315" || c.source != "sample" || c.trade ||
		!slices.Equal(c.symbols, []string{"BTCUSDT"}) || !slices.Equal(c.intervals, []market.Interval{"4h", "1h"}) ||
		c.dataDir != "/home/x/.wick" || c.logFormat != "text" || c.feeRate.String() != "0.001" || c.slippage.String() != "0.0005" ||
		c.limits.OrderNotional.String() != "100000" {
		t.Errorf("defaults: %+v", c)
	}
}

// TestEnvironment: every flag has a twin, and the flag wins.
func TestEnvironment(t *testing.T) {
	c := parse(t, env("WICK_SERVE", "true", "WICK_PORT", "1", "WICK_BASE_URL", "https://Wick.example.com/", "WICK_TRUSTED_PROXY", "10.0.0.0/8,127.0.0.1",
		"WICK_PASSPHRASE", "open sesame, open", "HOME", "/"), "--port", "2")
	if !c.serve || c.port != 2 || c.baseURL != "https://wick.example.com" || len(c.proxies) != 2 || string(c.passphrase) != "open sesame, open" {
		t.Errorf("got %+v", c)
	}
	if c := parse(t, env("WICK_SERVE", "true", "HOME", "/"), "--mcp"); !c.mcp || c.serve {
		t.Error("WICK_SERVE, as the container image sets it, and --mcp: not over stdio")
	}
	if c := parse(t, env("WICK_MCP", "true", "HOME", "/"), "--serve"); c.mcp || !c.serve {
		t.Error("WICK_MCP and --serve: not over HTTP")
	}
	if _, err := parseConfig(nil, env("WICK_PORT", "many"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "WICK_PORT") {
		t.Errorf("a bad twin: %v", err)
	}
}

// TestModes: --trade alone serves; --mcp and --trade combine; --mcp and --serve
// do not.
func TestModes(t *testing.T) {
	for args, want := range map[string][3]bool{ // mcp, serve, trade
		"--trade":         {false, true, true},
		"--serve --trade": {false, true, true},
		"--mcp --trade":   {true, false, true},
		"--mcp":           {true, false, false},
		"--serve":         {false, true, false},
		"":                {},
	} {
		c := parse(t, env("HOME", "/"), strings.Fields(args)...)
		if got := [3]bool{c.mcp, c.serve, c.trade}; got != want {
			t.Errorf("%q: mcp, serve, trade = %v, want %v", args, got, want)
		}
	}
}

// TestBadFlags: one clear line that names the flag and what would be right.
func TestBadFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--mcp --serve":                          "exclude",
		"--nonsense":                             "nonsense",
		"extra":                                  `"extra"`,
		"--port 70000":                           "0 to 65535",
		"--log-format xml":                       "text nor json",
		"--metrics 9316":                         "127.0.0.1:9316",
		"--metrics :9316":                        "127.0.0.1:9316",
		"--metrics 0.0.0.0:9316":                 "127.0.0.1:9316",
		"--metrics 192.0.2.1:9316":               "127.0.0.1:9316",
		"--mcp --metrics [::1]:9316":             "--serve",
		"--symbols ../etc":                       "--symbols",
		"--intervals 15M":                        "15m",
		"--fee-rate -1":                          "--fee-rate",
		"--slippage 1e-9":                        "--slippage",
		"--max-order-notional lots":              "--max-order-notional",
		"--leverage 2":                           "--cash",
		"--grid BTCUSDT=0.01":                    "0.01/0.00001/5",
		"--grid *=0.01/x/5":                      `"x"`,
		"--grid ../x=1/1/1":                      "--grid",
		"--short":                                "--cash",
		"--base-url http://example.com":          "https",
		"--base-url https://example.com/a":       "bare origin",
		"--base-url https://a:hunter2@b.com":     "bare origin",
		"--base-url https://b.com?key=hunter2":   "bare origin",
		"--base-url https://a:hunter2@b.com:x":   "https://wick.example.com",
		"--base-url nonsense":                    "https://wick.example.com",
		"--trusted-proxy everyone":               "CIDR",
		"--allow-origin example.com":             "https://app.example.com",
		"--allow-origin https://a:hunter2@b.com": "https://app.example.com",
		"--allow-origin https://b.com#a":         "https://app.example.com",
		"--passphrase-file /no/such/file":        "no such file",
		"--passphrase-file " + empty:             "12 to 1000 characters",
		"--currency xx":                          "USD",
		"--currency usd":                         "USD",
		"--currency USDt":                        "USD",
		"--currency US":                          "USD",
		"--currency " + strings.Repeat("A", 500): "USD",
	} {
		_, err := parseConfig(strings.Fields(args), env("HOME", "/"), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", args, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a secret: %v", args, err)
		}
	}
}

// TestValuesOfTheWrongKind: a value that is no number, no duration or neither true nor false is
// refused with what to write, by the name under which it was given, and with the help that
// explains the flag.
func TestValuesOfTheWrongKind(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"max-price-age", "5", `"5" is no duration: write a number and its unit, such as 5s`},
		{"max-price-age", "1.5", `"1.5" is no duration: write a number and its unit, such as 1.5s`},
		{"max-price-age", "soon", `"soon" is no duration: write a number and its unit, such as 60s`},
		{"broker-dead-man", "10", `"10" is no duration: write a number and its unit, such as 10s`},
		{"max-open-orders", "many", `"many" is no whole number`},
		{"price-band", "wide", `"wide" is no number`},
		{"short", "perhaps", `"perhaps" is neither true nor false`},
		{"port", "http", `"http" is no whole number`},
	} {
		help := ": see wick --help-all"
		if c.flag == "port" {
			help = ": see wick --help"
		}
		_, err := parseConfig([]string{"--trade", "--" + c.flag + "=" + c.value}, env("HOME", "/"), &bytes.Buffer{})
		if want := "--" + c.flag + " " + c.want + help; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		_, err = parseConfig([]string{"--trade"}, env("HOME", "/", envName(c.flag), c.value), &bytes.Buffer{})
		if want := envName(c.flag) + " " + c.want + help; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := parseConfig([]string{"--serve"}, env("HOME", "/", "WICK_HELP_ALL", "x"), &bytes.Buffer{}); err != nil {
		t.Errorf("WICK_HELP_ALL, which is no twin: %v", err)
	}
}

// TestOneTask: two flags that each do one thing are refused together by both names, whatever
// their order: one would be left undone with exit 0. Each flag of their group is among them, or
// belongs to one of them.
func TestOneTask(t *testing.T) {
	tasks := map[string]string{
		"version": "", "print-config": "=cursor", "healthcheck": "", "new-key": "=file", "clients": "", "revoke": "=all", "halt": "=on",
		"permissions": "", "approve": "=x", "accept-positions": "", "audit": "", "import": "=dir", "export": "=orders", "recover": "", "notify-test": "", "output": "=-",
	}
	for one, value := range tasks {
		// As a word it is the same.
		flag, refused := parseConfig([]string{"--" + one + value}, env("HOME", "/"), &bytes.Buffer{})
		word, err := parseConfig(strings.Split(one+value, "="), env("HOME", "/"), &bytes.Buffer{})
		if fmt.Sprint(err) != fmt.Sprint(refused) || err == nil && !slices.Equal(word.tasks(), flag.tasks()) {
			t.Errorf("wick %s: %v, and with dashes: %v", one, err, refused)
		}
		for other, otherValue := range tasks {
			if one == other {
				continue
			}
			args := []string{"--" + one + value, "--" + other + otherValue}
			_, err := parseConfig(args, env("HOME", "/"), &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), "--"+one+" ") || !strings.Contains(err.Error(), "--"+other+" ") || !strings.Contains(err.Error(), "exclude each other") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want one line that names both", args, err)
			}
		}
	}
	for _, group := range Flags() {
		for _, f := range group.Flags {
			if _, ok := tasks[f.Name]; !ok && group.Title == "Do one thing and exit" && !slices.Contains([]string{"head", "verify", "help-all"}, f.Name) {
				t.Errorf("--%s does one thing and is not tried", f.Name)
			}
		}
	}
	// --head would print the newest hash and exit 0, whatever --verify was to check.
	for _, args := range []string{"--audit --head --verify", "--audit --verify --head", "--audit --head --verify " + strings.Repeat("0", 64), "--audit --verify " + strings.Repeat("0", 64) + " --head"} {
		if _, err := parseConfig(strings.Fields(args), env("HOME", "/"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "--head and --verify exclude each other") {
			t.Errorf("%s: %v", args, err)
		}
	}
	// A service may have this one in its environment for good, and is asked for its health all the same.
	parse(t, env("HOME", "/", "WICK_TRADE", "true", "WICK_RECOVER", "yes"), "--healthcheck")
}

// TestFlagsWithoutEffect: a flag of the command line that has no use in the mode that is
// started is refused by its name: it would be without effect in silence. In the environment it
// may stand for every mode, and beside a task for the server that the task is meant for.
func TestFlagsWithoutEffect(t *testing.T) {
	starts := []string{"--serve", "--mcp", "--serve --trade", "--mcp --trade"}
	for _, group := range Flags() {
		for _, f := range group.Flags {
			for _, start := range starts {
				want := group.Title == chartGroup || group.Title == lookGroup || group.Title == tradingGroup && !strings.Contains(start, "--trade")
				switch {
				case f.Name == "halt" || f.Name == "approve" || f.Name == "permissions": // tasks
					want = false
				case f.Name == "exit-when-broken": // the journal is that of --trade
					want = !strings.Contains(start, "--trade")
				}
				value := cmp.Or(strings.ReplaceAll(f.DefValue, "false", "true"), "1")
				_, err := parseConfig(append(strings.Fields(start), "--"+f.Name+"="+value), env("HOME", "/"), &bytes.Buffer{})
				if got := err != nil && strings.HasPrefix(err.Error(), "--"+f.Name+" would be without effect: "); got != want {
					t.Errorf("%s --%s=%s: %v, want it refused: %t", start, f.Name, value, err, want)
				}
				_, err = parseConfig(strings.Fields(start), env("HOME", "/", envName(f.Name), value), &bytes.Buffer{})
				if err != nil && strings.Contains(err.Error(), "without effect") && f.Name != "output" {
					t.Errorf("%s with %s=%s: %v", start, envName(f.Name), value, err)
				}
			}
		}
	}
	for _, task := range []string{"--clients", "--halt=on", "--version", "--audit", "--healthcheck", "--print-config=cursor"} {
		parse(t, env("HOME", "/"), "--serve", "--trade", "--cash", "1000", task)
		parse(t, env("HOME", "/"), "--serve", "--cash", "1000", task)
	}
	for args, want := range map[string]string{
		// No server takes the flags of a chart, so no task has a use for them either, but for the format of an export.
		"--export=orders --format=csv --symbol=NOPE": "--symbol would be without effect: it is of the chart of --output, and --export draws none",
		"--export=orders --format=csv --bars=5":      "--bars would be",
		"--audit --symbol=A":                         "--symbol would be",
		"--halt=on --symbol=BTCUSDT":                 "--symbol would be",
		"--clients --format=csv":                     "--format would be",
		"--print-config=cursor --width=800":          "--width would be",
		// A chart is drawn by no server.
		"--output=- --metrics=127.0.0.1:9316": "--metrics would be without effect: it is of a server, and --output draws one chart and ends",
		"--output=- --exit-when-broken":       "--exit-when-broken would be",
		"--output=- --cash=1000":              "--cash would be",
		"--output=- --data-dir=/tmp":          "--data-dir would be",
		"--output=- --port=80":                "--port would be",
		// Flags that belong to another one.
		"--trade --currency=EUR":                           "--currency would be without effect: it belongs to --cash",
		"--trade --stablecoins-as-usd=false":               "--stablecoins-as-usd would be",
		"--trade --cluster-store=spare":                    "--cluster-store would be without effect: it belongs to --cluster",
		"--export=orders --format=csv --cluster-store=one": "--cluster-store would be",
		"--serve --exit-when-broken":                       "--exit-when-broken would be without effect: it belongs to --trade",
	} {
		if _, err := parseConfig(strings.Fields(args), env("HOME", "/"), &bytes.Buffer{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	for _, args := range []string{
		"--trade --cash=1000 --currency=EUR --stablecoins-as-usd=false", "--trade --currency=USD --stablecoins-as-usd", "--trade --exit-when-broken",
		"--output=- --source=sample --log-format=json", "--halt=on --currency=EUR --cluster-store=spare --exit-when-broken",
	} {
		parse(t, env("HOME", "/"), strings.Fields(args)...)
	}
	parse(t, env("HOME", "/", "WICK_CASH", "1000"), "--trade", "--currency=EUR")
	// What a client would start over stdio is judged as if it were started.
	for _, args := range []string{"--cash=1000 --print-config=claude-desktop", "--mcp --symbol=BTCUSDT --print-config=cursor"} {
		if _, err := parseConfig(strings.Fields(args), env("HOME", "/"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "would be without effect") {
			t.Errorf("%s: %v", args, err)
		}
	}
	parse(t, env("HOME", "/"), "--trade", "--cash=1000", "--print-config=claude-desktop")
	parse(t, env("HOME", "/"), "--output", "-", "--trade=false", "--volume=false")
	parse(t, env("HOME", "/"), "--serve", "--trade=false", "--short=false")
	// The image has its mode in the environment, and draws a chart all the same.
	if c := parse(t, env("HOME", "/", "WICK_SERVE", "true", "WICK_TRADE", "true"), "--output", "-"); c.serve || c.trade {
		t.Error("a mode of the environment wins over --output")
	}
}

// TestTaskReadsItsOwn: a task refuses for no variable that it does not read. A health check or
// a halt in the container of a server has its environment, but not its --trade: it would call a
// healthy server dead, or not halt it. What it does read it refuses as before.
func TestTaskReadsItsOwn(t *testing.T) {
	for task, want := range map[string]string{ // by each, the variables in which it refuses nonsense
		"--version": "", "--healthcheck": "WICK_PORT", "--new-key=file": "", "--clients": "", "--revoke=all": "", "--halt=on": "", "--accept-positions": "",
		"--audit": "WICK_HEAD WICK_VERIFY", "--export=orders --format=csv": "WICK_CLUSTER WICK_CLUSTER_FILE", "--recover": "WICK_CLUSTER",
		"--output=-": "WICK_SOURCE WICK_LOG_FORMAT WICK_HEIGHT WICK_PIXEL_RATIO WICK_VOLUME WICK_WIDTH",
	} {
		args, refused := strings.Fields(task), []string(nil)
		for _, group := range Flags() {
			for _, f := range group.Flags {
				if _, err := parseConfig(args, env("HOME", "/", envName(f.Name), "x!"), &bytes.Buffer{}); err != nil {
					refused = append(refused, envName(f.Name))
				}
			}
		}
		if got := strings.Join(refused, " "); got != want {
			t.Errorf("%s refuses nonsense in %q, want %q", task, got, want)
		}
		variables := env("HOME", "/", "WICK_LEVERAGE", "2", "WICK_MAX_DAILY_LOSS", "5", "WICK_SHORT", "true", "WICK_NOTIFY_FILE", "/no/such/file", "WICK_BROKER_KEY_FILE", "/no/such/file",
			"WICK_CLUSTER_LISTEN", "10.0.0.1:9317", "WICK_PASSPHRASE", "short", "WICK_KEY_FILE", "/no/such/file", "WICK_SERVE", "true", "WICK_MCP", "true", "WICK_OUTPUT", "chart.png", "WICK_DATA_DIR", "/state")
		c, err := parseConfig(args, variables, &bytes.Buffer{})
		if err != nil || c.serve {
			t.Errorf("%s in the environment of a server: %v", task, err)
		} else if strings.HasPrefix(task, "--halt") && c.dataDir != "/state" {
			t.Errorf("%s is about %s", task, c.dataDir)
		}
	}
	if c := parse(t, env("HOME", "/", "WICK_LISTEN", "::1", "WICK_PORT", "9"), "--healthcheck"); c.listen != "::1" || c.port != 9 {
		t.Errorf("--healthcheck asks %s, port %d", c.listen, c.port)
	}
}

// TestGridSpelling: --grid takes a symbol in any spelling of the source, once.
func TestGridSpelling(t *testing.T) {
	for text, want := range map[string]string{
		"btc-usdt=0.01/0/5,*=1/0/0":         "map[*:1 BTCUSDT:0.01]",
		"BTC/USDT=0.01/0/5":                 "map[BTCUSDT:0.01]",
		"BTCUSDT=0.01/0/5,BTC-USDT=0.1/0/5": "--grid names BTCUSDT twice",
		"KRAKEN:XBTUSD=0.01/0/5":            "--grid: bad symbol",
	} {
		source, err := market.Open("binance", env())
		if err != nil {
			t.Fatal(err)
		}
		c := parse(t, env("HOME", "/"), "--trade", "--source", "binance", "--grid", text)
		err = c.resolveGrid(source)
		ticks := make(map[string]exact.Decimal)
		for symbol, g := range c.grid {
			ticks[symbol] = g.Tick
		}
		if got := fmt.Sprint(ticks, err); !strings.Contains(got, want) {
			t.Errorf("--grid %s: %s, want %s", text, got, want)
		}
	}
}

// TestEmptyFlags: a flag of the command line with nothing after it, as a shell makes of a
// variable that is not set, is refused by its name: it would act as if it were left out, and
// --listen would open the server to the network. In the environment an empty twin counts as not set.
func TestEmptyFlags(t *testing.T) {
	c := &config{}
	fs, _ := c.flags()
	tried := 0
	fs.VisitAll(func(f *flag.Flag) {
		if alone(f) && f.Name != "notify-test" {
			return
		}
		tried++
		args := []string{"--serve", "--" + f.Name + "="}
		if slices.Contains(c.render.all, f) {
			args[0] = "--output=chart.png"
		}
		_, err := parseConfig(args, env("HOME", "/"), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "-"+f.Name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line that names the flag", args, err)
		}
		if _, err := parseConfig(args[:1], env("HOME", "/", envName(f.Name), ""), &bytes.Buffer{}); err != nil {
			t.Errorf("%s empty in the environment: %v", f.Name, err)
		}
	})
	if tried < 55 {
		t.Errorf("%d flags were tried", tried)
	}
	if _, err := parseConfig([]string{"--notify-test", ""}, env("HOME", "/"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), `""`) {
		t.Errorf("--notify-test with an empty word: %v", err)
	}
	for _, currency := range []string{"USD", "USDT", "FDUSD", "GBp", "ZAc"} { // pence and cents, as Yahoo writes them
		parse(t, env("HOME", "/"), "--trade", "--cash", "1", "--currency", currency)
	}
}

// TestPublicNeedsPassphrase: without a passphrase nothing but loopback is served.
// With it any address is, behind https.
func TestPublicNeedsPassphrase(t *testing.T) {
	for args, refused := range map[string]bool{
		"--serve":              false,
		"--serve --listen ::1": false,
		"--serve --base-url http://127.0.0.1:9315":                       false,
		"--serve --listen 127.0.0.2 --base-url http://127.0.0.2:9315":    false,
		"--serve --listen 0.0.0.0":                                       true,
		"--serve --listen 192.0.2.1 --base-url https://wick.example.com": true,
		"--serve --base-url https://wick.example.com":                    true,
		"--serve --listen localhost":                                     false,
		"--serve --trusted-proxy 127.0.0.1":                              true,
	} {
		c := parse(t, env("HOME", "/"), strings.Fields(args)...)
		if err := c.publish(9315); (err != nil) != refused || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s without a passphrase: %v", args, err)
		}
		c = parse(t, env("HOME", "/", "WICK_PASSPHRASE", "correct horse battery"), strings.Fields(args)...)
		if err := c.publish(9315); (err != nil) != (args == "--serve --listen 0.0.0.0") { // over plain http
			t.Errorf("%s with a passphrase: %v", args, err)
		}
	}
}

// TestBaseURLAnswered: a base URL with an address of this machine and the server's port is
// refused if the server does not listen there.
func TestBaseURLAnswered(t *testing.T) {
	for args, refused := range map[string]bool{
		"--serve --base-url http://[::1]:9315":                        true,
		"--serve --base-url http://127.0.0.2:9315":                    true,
		"--serve --base-url http://[::1]:8080":                        false, // perhaps a tunnel
		"--serve --listen ::1 --base-url http://[::1]:9315":           false,
		"--serve --listen 127.0.0.2 --base-url http://127.0.0.2:9315": false,
		"--serve --base-url http://localhost:9315":                    false,
	} {
		c := parse(t, env("HOME", "/"), strings.Fields(args)...)
		if err := c.publish(9315); (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "--listen") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestListenElsewhere: an address that localhost does not lead to needs a base
// URL, with or without a passphrase, and the line says so. The one that it names works.
func TestListenElsewhere(t *testing.T) {
	for _, listen := range []string{"127.0.0.2", "127.1.2.3", "192.0.2.1", "2001:db8::1", "::ffff:127.0.0.2", "fe80::1%lo", "wick.example.com"} {
		args := []string{"--serve", "--listen", listen}
		variables := env("HOME", "/", "WICK_PASSPHRASE", "correct horse battery")
		c := parse(t, variables, args...)
		err := c.publish(9315)
		if err == nil || !strings.Contains(err.Error(), "--base-url") || strings.Contains(err.Error(), "\n") {
			t.Errorf("--listen %s: %v, want one line with --base-url", listen, err)
			continue
		}
		_, advice, _ := strings.Cut(err.Error(), "such as ")
		advice, _, _ = strings.Cut(advice, " ")
		if err := parse(t, variables, append(args, "--base-url", advice)...).publish(9315); err != nil {
			t.Errorf("--listen %s with the base URL %q that it advises: %v", listen, advice, err)
		}
	}
	if c := parse(t, env("HOME", "/"), "--serve", "--listen", "::ffff:127.0.0.1"); c.publish(9315) != nil || c.baseURL != "http://localhost:9315" {
		t.Errorf("127.0.0.1 as an IPv6 address: %+v", c)
	}
}

// TestHowToLogIn: the start-up line says what a client will meet, and never the
// passphrase itself.
func TestHowToLogIn(t *testing.T) {
	for passphrase, want := range map[string]string{"": "at once, for clients on this machine", "correct horse battery": "with the passphrase"} {
		if got := parse(t, env("HOME", "/", "WICK_PASSPHRASE", passphrase), "--serve").howToLogIn(); got != want {
			t.Errorf("with the passphrase %q: %q, want %q", passphrase, got, want)
		}
	}
}

// help returns what a call for help prints.
func help(t *testing.T, arg string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := parseConfig([]string{arg}, env(), &out); !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("%s: %v", arg, err)
	}
	return out.String()
}

// TestHelp: --help names every flag once and has fewer than 60 lines;
// --help-all explains every flag once, in one line.
func TestHelp(t *testing.T) {
	short, all := help(t, "--help"), help(t, "--help-all")
	fs, _ := (&config{}).flags()
	fs.VisitAll(func(f *flag.Flag) {
		named := regexp.MustCompile(`(?m)^ .* --` + f.Name + `( |$)`)
		if n := len(named.FindAllString(short, -1)); n < 1 {
			t.Errorf("--help does not name --%s", f.Name)
		}
		if n := strings.Count(all, "\n  --"+f.Name+" "); n != 1 {
			t.Errorf("--help-all explains --%s %d times", f.Name, n)
		}
	})
	if n := strings.Count(short, "\n"); n >= 60 {
		t.Errorf("--help has %d lines, want fewer than 60", n)
	}
	for line := range strings.Lines(short + all) {
		if len(line) > 150 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
}

// TestLogLines: a line per record with the part's prefix; what a stranger sends
// cannot begin a line of its own.
func TestLogLines(t *testing.T) {
	var out bytes.Buffer
	logs := newLoggers(&out, "text")
	logs.part("OAuth").Info("client registered", "name", "evil\n[OAuth] forged")
	logs.flush()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "[OAuth] ") {
		t.Errorf("log: %q", out.String())
	}
	out.Reset()
	logs = newLoggers(&out, "json")
	logs.part("MCP").Log(t.Context(), slog.LevelInfo, "request")
	logs.flush()
	if !strings.HasPrefix(out.String(), "{") || !strings.Contains(out.String(), `"part":"MCP"`) {
		t.Errorf("JSON log: %q", out.String())
	}
}
