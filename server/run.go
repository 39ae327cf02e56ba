// Package server is the program: it reads flags and the environment, puts the
// other packages together, starts their goroutines and stops them. Each part is
// explained in its own package:
//
//	market      bars and where they come from
//	indicators  the catalogue of indicators
//	chart       pictures and payloads of bars and indicators
//	trade       orders, positions and alerts
//	notify      messages to the owner's phone, chats and mail
//	sse         who still has to get which notification, and the streams
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
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"wick/market"
)

// Run does what args and the environment ask for and returns when that is done
// or ctx ends. It is the whole program without the process around it: the
// caller prints the error, which is one line and may quote strangers (see [Complain]),
// and chooses the exit code. A call for help ends with flag.ErrHelp.
func Run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) error {
	printed := &notingWriter{Writer: stdout}
	c, err := parseConfig(args, env, printed)
	if err != nil {
		return printed.or(err)
	}
	if c.command != nil {
		return printed.or(c.command.run(ctx, &task{c, env, stdin, printed, stderr, Visible(printed)}))
	}
	if !c.serve && !c.mcp {
		return fmt.Errorf("nothing to do: choose --serve, --mcp or --trade, or a command such as wick chart; %w", errUsage)
	}
	source, err := openSource(c, env)
	if err != nil {
		return err
	}
	// A server goes on when the reader of its log has gone; writes to the log then fail. A
	// command, such as wick audit in a pipe to head, ends quietly instead.
	signal.Ignore(syscall.SIGPIPE)
	logs := newLoggers(stderr, c.logFormat)
	defer logs.flush()
	if names := unknown(os.Environ()); len(names) > 0 {
		logs.part("wick").Warn("variables of the environment are not read; perhaps a name is misspelled", "names", strings.Join(names, " "))
	}
	if c.serve {
		return serve(ctx, c, source, logs)
	}
	return serveStdio(ctx, c, source, logs, stdin, stdout)
}

// openSource opens the source of bars, and puts the symbols that settings name into its
// spelling.
func openSource(c *config, env func(string) string) (source market.Source, err error) {
	if dir, ok := strings.CutPrefix(c.source, "csv:"); ok && c.realMoney() {
		var files *market.Venue
		if files, err = market.NewCSV(dir, privatePrices); err == nil {
			source = market.Cached(files)
		}
	} else {
		source, err = market.Open(c.source, env)
	}
	if err != nil {
		return nil, fmt.Errorf("--source: %w", err)
	}
	if err := c.resolveNotified(source); err != nil {
		return nil, err
	}
	return source, c.resolveGrid(source)
}

// unknown returns the names of variables that begin with WICK_ and are no setting. A misspelled
// flag is refused, so a misspelled variable must at least be logged. It is no error, because other
// programs and platforms may set such names.
func unknown(environ []string) (names []string) {
	known := append(market.Variables(), "WICK_PASSPHRASE", "WICK_ALPACA_URL")
	for _, s := range Settings() {
		if s.File == "" {
			known = append(known, s.Variable())
		}
	}
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix) && !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Signals returns the signals that end the program: SIGINT, SIGTERM, and SIGHUP, which
// closing a terminal sends, unless the program was started to ignore that, as by nohup.
func Signals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// endAtOnce lets a signal end the process at once from now on, as it ends a program that
// asks for none. It is for tasks that leave nothing half done: they may wait for a disk, or
// for whoever reads what they write, and the end of a context does not end that.
func endAtOnce() { signal.Reset(Signals()...) }
