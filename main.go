// Wick gives language models and people charts, indicators, alerts and paper
// trading over the Model Context Protocol, behind its own OAuth 2.1 login.
//
// The main package is wiring: it reads flags and the environment, puts the
// parts together and starts the house's goroutines. See the README for use and
// the packages below for how each part works:
//
//	market      bars and where they come from
//	indicators  the catalogue of indicators
//	chart       pictures and payloads of bars and indicators
//	trade       orders, positions, alerts and the journal that keeps them
//	sse         delivery of notifications to streams
//	oauth       the authorization server
//	mcp         the protocol, over HTTP and stdio
//	mcp/tools   the fifteen tools, where protocol and domain meet
//	metrics     numbers for an operator
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"wick/market"
	"wick/mcp/tools"
	"wick/trade"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "wick:", err)
		stop()
		os.Exit(1)
	}
}

// run is main without the process around it.
func run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) error {
	c, err := parseConfig(args, env, stdout)
	if err != nil {
		return err
	}
	switch {
	case c.version:
		_, err := fmt.Fprintln(stdout, versionLine())
		return err
	case c.healthcheck:
		return healthcheck(ctx, c)
	case c.audit:
		return trade.Audit(c.dataDir, stdout)
	}
	source, err := market.Open(c.source, env)
	if err != nil {
		return err
	}
	logs := newLoggers(stderr, c.logFormat)
	defer logs.flush()
	switch {
	case c.serve:
		return serve(ctx, c, source, logs)
	case c.mcp:
		return serveStdio(ctx, c, source, logs, stdin, stdout)
	case c.render.output != "":
		return c.render.run(ctx, tools.Deps{Source: source}, stdout)
	}
	return fmt.Errorf("nothing to do: choose --serve, --mcp or --trade, or --output FILE to draw one chart; %w", errUsage)
}
