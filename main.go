// Wick gives language models and people charts, indicators, alerts and paper
// trading over the Model Context Protocol, behind its own OAuth 2.1 login.
//
// The program is in package server; see the README for use.
package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/signal"

	"wick/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), server.Signals()...)
	defer stop()
	err := server.Run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		server.Complain(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}
