// Package server is the program: it reads flags and the environment, puts the
// other packages together, starts their goroutines and stops them. Each part is
// explained in its own package:
//
//	market      bars and where they come from
//	indicators  the catalogue of indicators
//	chart       pictures and payloads of bars and indicators
//	trade       orders, positions and alerts
//	delivery    who still has to get which notification
//	notify      messages to the owner's phone, chats and mail
//	sse         streams of server-sent events
//	oauth       the authorization server
//	mcp         the protocol, over HTTP and stdio
//	mcp/tools   the tools, where protocol and domain meet
//	metrics     numbers for an operator
//
// # Security considerations
//
// Only this package reads flags, the environment and the passphrase, and only
// it decides what listens where. Connections of strangers are bounded here,
// before any other package sees a byte of them.
package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"

	"wick/market"
	"wick/mcp/tools"
	"wick/trade"
)

// Run does what args and the environment ask for and returns when that is done
// or ctx ends. It is the whole program without the process around it: the
// caller prints the error, which is one line and may quote strangers (see [Complain]),
// and chooses the exit code. A call for help ends with flag.ErrHelp.
func Run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) error {
	asked := make(map[string]bool)
	look := func(name string) string {
		asked[name] = true
		return env(name)
	}
	printed := &notingWriter{Writer: stdout}
	c, err := parseConfig(args, look, printed)
	if err != nil {
		return printed.or(err)
	}
	if done, err := once(ctx, c, stdin, printed, stderr); done {
		return printed.or(err)
	}
	// Whatever needs no market data was done by once. The rest needs the source.
	source, err := market.Open(c.source, look)
	if err != nil {
		return fmt.Errorf("--source: %w", err)
	}
	for _, resolve := range []func(market.Source) error{c.resolveNotified, c.resolveGrid} {
		if err := resolve(source); err != nil {
			return err
		}
	}
	if c.serve || c.mcp {
		outliveReaders()
	}
	logs := newLoggers(stderr, c.logFormat)
	defer logs.flush()
	warnOfUnread(logs.part("wick"), unread(os.Environ(), asked))
	switch {
	case c.notifyTest != "":
		err := testNotify(ctx, c, source, Visible(printed))
		return printed.or(err)
	case c.serve:
		return serve(ctx, c, source, logs)
	case c.mcp:
		return serveStdio(ctx, c, source, logs, stdin, stdout)
	case c.render.output != "":
		return c.render.run(ctx, tools.Deps{Source: source}, stdout, Visible(stderr))
	}
	return fmt.Errorf("nothing to do: choose --serve, --mcp or --trade, or --output FILE to draw one chart; %w", errUsage)
}

// unused says of the variables that are no flag's twin, and that wick asks for only
// sometimes, why one was not asked for.
var unused = func() map[string]string {
	why := map[string]string{
		"WICK_HELP_ALL":   "--help-all is asked for on the command line alone",
		"WICK_PASSPHRASE": "the passphrase is that of --passphrase-file",
		"WICK_ALPACA_URL": "it belongs to --broker alpaca-paper or alpaca",
	}
	for _, name := range market.Variables() {
		why[name] = "it belongs to another --source"
	}
	return why
}()

// warnOfUnread names the variables that are without effect, and says why of those that
// wick knows.
func warnOfUnread(log *slog.Logger, names []string) {
	var strange []string
	for _, name := range names {
		if why := unused[name]; why != "" {
			log.Warn("a variable of the environment is not read", "name", name, "because", why)
		} else {
			strange = append(strange, name)
		}
	}
	if len(strange) > 0 {
		log.Warn("variables of the environment are not read; perhaps a name is misspelled", "names", strings.Join(strange, " "))
	}
}

// unread returns the names of variables that begin as ours do and that nobody asked for:
// a misspelled flag is refused, and its twin must not be without effect in silence. Others
// use such names too, and a platform may set them, so it is no error.
func unread(environ []string, asked map[string]bool) (names []string) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix) && !asked[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// once does a task that ends by itself, if c asks for one, and reports whether it did. c
// asks for one at most, see tasks. First come tasks that need nothing, then those that ask a
// running server, and then those that read state.
func once(ctx context.Context, c *config, stdin io.Reader, stdout, stderr io.Writer) (done bool, err error) {
	shown := Visible(stdout)
	switch {
	case c.version:
		_, err = fmt.Fprintf(stdout, "wick %s %s %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	case c.printConfig != "":
		err = c.writeClient(stdout, stderr)
	case c.permissions:
		err = writePermissions(stdout)
	case c.approve != "":
		err = approveOrder(ctx, c, stdin, shown, stderr)
	case c.healthcheck:
		err = healthcheck(ctx, c)
	case c.newKey != "":
		err = writeKey(c.newKey, stdout)
	case c.clients:
		err = listClients(ctx, c, shown)
	case c.revoke != "":
		err = sayControl(ctx, c, "/revoke?id="+url.QueryEscape(c.revoke), shown)
	case c.halt != "":
		err = sayControl(ctx, c, haltPaths[c.halt], shown)
	case c.accept:
		err = sayControl(ctx, c, "/accept-positions", shown)
	default:
		return onState(ctx, c, shown)
	}
	return true, err
}

// onState is the part of once for tasks on a data directory or on what is in etcd.
func onState(ctx context.Context, c *config, stdout io.Writer) (done bool, err error) {
	switch {
	case c.clustered() && (c.export != "" || c.cluster.importDir != ""):
		err = moveStore(ctx, c, stdout)
	// The others only read.
	case c.audit:
		endAtOnce()
		err = runAudit(c, stdout)
	case c.export != "":
		endAtOnce()
		err = trade.Export(c.dataDir, c.export, c.render.format, stdout)
	case c.recover == recoverShow:
		endAtOnce()
		err = showRecovery(c, stdout)
	default:
		return false, nil
	}
	return true, err
}
