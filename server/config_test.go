//go:build !core

package server

import (
	"bytes"
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

	"wick/internal/exact"
	"wick/market"
)

func TestDefaults(t *testing.T) {
	c := parse(t, env("HOME", "/home/x"), "--serve")
	if err := c.publish(9315); err != nil {
		t.Fatal(err)
	}
	if c.listen != "127.0.0.1" || c.port != 9315 || c.baseURL != "http://localhost:9315" || c.source != "sample" || c.trade ||
		!slices.Equal(c.engine.Symbols, []string{"BTCUSDT"}) || !slices.Equal(c.engine.Intervals, []market.Interval{"4h", "1h"}) ||
		c.dataDir != "/home/x/.wick" || c.logFormat != "text" || c.engine.FeeRate.String() != "0.001" || c.engine.Slippage.String() != "0.0005" ||
		c.engine.Limits.OrderNotional.String() != "100000" {
		t.Errorf("defaults: %+v", c)
	}
}

// TestEnvironment: every flag has a twin, and the flag wins.
func TestEnvironment(t *testing.T) {
	c := parse(t, env("WICK_SERVE", "true", "WICK_PORT", "1", "WICK_BASE_URL", "https://Wick.example.com/", "WICK_TRUSTED_PROXY", "10.0.0.0/8,127.0.0.1",
		"WICK_PASSPHRASE", "open sesame, open", "HOME", "/"), "--port", "2")
	if !c.serve || c.port != 2 || c.baseURL != "https://wick.example.com" || len(c.login.TrustedProxies) != 2 || string(c.login.Passphrase) != "open sesame, open" {
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
		"--mcp --serve":               "exclude",
		"--nonsense":                  "nonsense",
		"extra":                       `"extra"`,
		"halt":                        "wick halt on|cancel|off",
		"clients all":                 "write wick clients",
		"--port 70000":                "0 to 65535",
		"--port http":                 `--port "http" is no whole number`,
		"--serve=perhaps":             `--serve "perhaps" is neither true nor false`,
		"--broker-dead-man 10":        `--broker-dead-man "10" is no duration of at least 1m0s`,
		"--log-format xml":            "text, json",
		"--metrics 9316":              "127.0.0.1:9316",
		"--metrics :9316":             "127.0.0.1:9316",
		"--metrics 0.0.0.0:9316":      "127.0.0.1:9316",
		"--metrics 192.0.2.1:9316":    "127.0.0.1:9316",
		"--symbols ../etc":            "--symbols",
		"--intervals 15M":             "15m",
		"--trade --max-daily-loss 5":  "--cash",
		"--paper-file " + empty + "x": "no such file",
		"--paper-file " + passphraseFile(t, "levrage 2", 0o600): "leverage",
		"--base-url http://example.com":                         "https",
		"--base-url https://example.com/a":                      "--base-url must be a bare origin",
		"--base-url https://a:hunter2@b.com":                    "bare origin",
		"--base-url https://b.com?key=hunter2":                  "bare origin",
		"--base-url https://a:hunter2@b.com:x":                  "https://wick.example.com",
		"--base-url nonsense":                                   "https://wick.example.com",
		"--trusted-proxy everyone":                              "CIDR",
		"--allow-origin example.com":                            "https://app.example.com",
		"--allow-origin https://a:hunter2@b.com":                "https://app.example.com",
		"--allow-origin https://b.com#a":                        "https://app.example.com",
		"--passphrase-file /no/such/file":                       "no such file",
		"--passphrase-file " + empty:                            "12 to 1000 characters",
	} {
		_, err := parseConfig(strings.Fields(args), env("HOME", "/"), &bytes.Buffer{})
		flag, _, _ := strings.Cut(args, " ")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), flag+" "+flag) {
			t.Errorf("%s: %v, want one line with %q", args, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a secret: %v", args, err)
		}
	}
}

// TestCommandReadsItsOwn: a command refuses for no variable that it does not read. A health
// check or a halt in the container of a server has its environment: it would call a healthy
// server dead, or not halt it. What it does read it refuses as before.
func TestCommandReadsItsOwn(t *testing.T) {
	for command, want := range map[string]string{ // by each, the variables in which it refuses nonsense
		"version": "", "healthcheck": "WICK_PORT", "key file": "", "clients": "", "revoke all": "", "halt on": "", "accept-positions": "", "approve x": "",
		"audit": "", "export orders": "WICK_CLUSTER_FILE", "recover": "WICK_CLUSTER_FILE", "chart output=-": "WICK_SOURCE WICK_LOG_FORMAT", "--recover": "WICK_CLUSTER_FILE",
		"config cursor": "WICK_MCP WICK_PORT WICK_BASE_URL", "permissions": "",
	} {
		args, refused := strings.Fields(command), []string(nil)
		for _, s := range Settings() {
			if _, err := parseConfig(args, env("HOME", "/", s.Variable(), "x!/"), &bytes.Buffer{}); err != nil && s.File == "" && s.Name != "listen" {
				refused = append(refused, s.Variable())
			}
		}
		if got := strings.Join(refused, " "); got != want {
			t.Errorf("%s refuses nonsense in %q, want %q", command, got, want)
		}
		c, err := parseConfig(args, env("HOME", "/", "WICK_MAX_DAILY_LOSS", "5", "WICK_NOTIFY_FILE", "/no/such/file", "WICK_BROKER", "alpaca", "WICK_PASSPHRASE", "short", "WICK_KEY_FILE", "/no/such/file",
			"WICK_SERVE", "true", "WICK_MCP", "true", "WICK_DATA_DIR", "/state", "WICK_RECOVER", "yes"), &bytes.Buffer{})
		if err != nil || c.serve {
			t.Errorf("%s in the environment of a server: %v", command, err)
		} else if command == "halt on" && c.dataDir != "/state" {
			t.Errorf("%s is about %s", command, c.dataDir)
		}
	}
	if c := parse(t, env("HOME", "/", "WICK_LISTEN", "::1", "WICK_PORT", "9"), "--healthcheck"); c.listen != "::1" || c.port != 9 || c.command.Name != "healthcheck" {
		t.Errorf("--healthcheck asks %s, port %d", c.listen, c.port)
	}
	// Flags may stand before a command, among its words and after them.
	for _, args := range []string{"--data-dir /a export orders csv", "export --data-dir /a orders csv", "export orders csv --data-dir /a"} {
		if c := parse(t, env("HOME", "/"), strings.Fields(args)...); c.dataDir != "/a" || !slices.Equal(c.words, []string{"orders", "csv"}) {
			t.Errorf("%s: %s %q", args, c.dataDir, c.words)
		}
	}
}

// TestGridSpelling: a grid takes a symbol in any spelling of the source, once.
func TestGridSpelling(t *testing.T) {
	for text, want := range map[string]string{
		"btc-usdt=0.01/0/5,*=1/0/0":         "map[*:1 BTCUSDT:0.01]",
		"BTC/USDT=0.01/0/5":                 "map[BTCUSDT:0.01]",
		"BTCUSDT=0.01/0/5,BTC-USDT=0.1/0/5": "names BTCUSDT twice",
		"KRAKEN:XBTUSD=0.01/0/5":            "bad symbol",
	} {
		source, err := market.Open("binance", env())
		if err != nil {
			t.Fatal(err)
		}
		c := parse(t, env("HOME", "/"), "--trade", "--source", "binance", "--paper-file", paperLines(t, "grid "+text))
		err = c.resolveGrid(source)
		ticks := make(map[string]exact.Decimal)
		for symbol, g := range c.grid {
			ticks[symbol] = g.Tick
		}
		if got := fmt.Sprint(ticks, err); !strings.Contains(got, want) {
			t.Errorf("grid %s: %s, want %s", text, got, want)
		}
	}
}

// TestEmptyFlags: a flag of the command line with nothing after it, as a shell makes of a
// variable that is not set, is refused by its name: it would act as if it were left out,
// --listen would open the server to the network, and at a broker an empty sum would lift the
// person's yes. In the environment an empty twin counts as not set.
func TestEmptyFlags(t *testing.T) {
	for _, s := range Settings() {
		if s.File != "" || s.Value == "" {
			continue
		}
		_, err := parseConfig([]string{"--trade", "--" + s.Name + "="}, env("HOME", "/"), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "--"+s.Name+` "" has no value`) {
			t.Errorf("--%s=: %v, want one line that names the flag", s.Name, err)
		}
		if _, err := parseConfig([]string{"--trade"}, env("HOME", "/", s.Variable(), ""), &bytes.Buffer{}); err != nil {
			t.Errorf("%s empty in the environment: %v", s.Variable(), err)
		}
	}
}

// TestSettings: there are few flags, each with a name, a group and a meaning of its own, and
// what the contract names is there.
func TestSettings(t *testing.T) {
	flags, seen := 0, make(map[string]bool)
	for _, s := range Settings() {
		if s.File == "" {
			flags++
		}
		if seen[s.Spelling()] || s.Group == "" || s.Help == "" {
			t.Errorf("%s is there twice, or lacks its group or meaning", s.Spelling())
		}
		seen[s.Spelling()] = true
	}
	if flags > 40 {
		t.Errorf("%d flags", flags)
	}
	for name := range strings.FieldsSeq("mcp serve trade listen port base-url source symbols intervals data-dir passphrase-file allow-origin trusted-proxy max-order-notional fee-rate slippage recover log-format version healthcheck key-file approve-in-client attach-trade") {
		if !seen["--"+name] {
			t.Errorf("there is no --%s", name)
		}
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

// help returns what a call for help prints.
func help(t *testing.T, arg string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := parseConfig([]string{arg}, env(), &out); !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("%s: %v", arg, err)
	}
	return out.String()
}

// TestHelp: --help explains every flag and every command once, in one line, and names the
// lines of files.
func TestHelp(t *testing.T) {
	text := help(t, "--help")
	for _, s := range Settings() {
		if n := strings.Count(text, "\n  --"+s.Name+" "); s.File == "" && n != 1 {
			t.Errorf("--help explains --%s %d times", s.Name, n)
		}
		if s.File != "" && !regexp.MustCompile(`(?m)^Lines of --`+s.File+`.* `+s.Name+`( |$)`).MatchString(text) {
			t.Errorf("--help does not name %s", s.Spelling())
		}
	}
	for _, c := range Commands() {
		if n := strings.Count(text, "\n  "+strings.TrimSpace(c.Name+" "+c.Args)+" "); n != 1 {
			t.Errorf("--help explains wick %s %d times", c.Name, n)
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 230 {
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
