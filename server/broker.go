//go:build !core

package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"wick/internal/address"
	"wick/internal/exact"
	"wick/trade/book"
	"wick/trade/live"
	"wick/trade/live/alpaca"
)

// The names of --broker.
const (
	brokerPaper       = "paper"        // wick's own book, no broker
	brokerAlpacaPaper = "alpaca-paper" // Alpaca's paper account
	brokerAlpaca      = "alpaca"       // real money
)

// brokerConfig is where orders go.
type brokerConfig struct {
	broker     string // paper, alpaca-paper or alpaca
	brokerKeys alpaca.Keys
	brokerURL  string
	deadMan    time.Duration // how long the broker's stream may be away; zero means for ever
}

// liveNotional is the largest order at a broker unless --max-order-notional says
// otherwise.
const liveNotional = 100 * exact.One

// accountTimeout bounds how long a start waits for the broker to name the account.
const accountTimeout = 15 * time.Second

// brokers are the addresses of the accounts elsewhere that --broker names.
var brokers = map[string]string{brokerAlpacaPaper: alpaca.PaperURL, brokerAlpaca: alpaca.LiveURL}

// atBroker reports whether orders go to a broker elsewhere.
func (c *config) atBroker() bool { return brokers[c.broker] != "" }

// realMoney reports whether orders are executed with real money.
func (c *config) realMoney() bool { return c.broker == brokerAlpaca }

// checkBroker finds what does not go with a broker, which needs --trade, the keys of an
// account, real prices and no paper account beside it. It lowers the limits that were not
// set: orders are small, and a person confirms each.
func (c *config) checkBroker(env func(string) string) error {
	if !c.atBroker() {
		return nil
	}
	c.brokerURL = brokers[c.broker]
	if at := env("WICK_ALPACA_URL"); at != "" { // a broker for tests, which gets the keys
		if u, err := url.Parse(at); err != nil || !address.Loopback(u.Hostname()) {
			return fmt.Errorf("WICK_ALPACA_URL is not an address of this machine, and the keys would be sent to it")
		}
		c.brokerURL = at
	}
	switch {
	case !c.trade:
		return fmt.Errorf("--broker needs --trade")
	case !c.set["--broker-key-file"]:
		return fmt.Errorf("--broker %s needs --broker-key-file, a file with the keys of the account", c.broker)
	case c.engine.Account.Cash != 0:
		return fmt.Errorf("--cash opens a paper account, and %s has one of its own", c.broker)
	case c.source == "sample":
		return fmt.Errorf("--broker %s with --source sample would trade by invented prices: choose a source of real ones, such as yahoo", c.broker)
	case len(c.login.Passphrase) == 0 && c.realMoney():
		return fmt.Errorf("--broker %s moves real money, and without a passphrase every program on this machine could approve orders, also a model that has a shell; "+
			"set --passphrase-file or WICK_PASSPHRASE", c.broker)
	}
	// What the operator has set stays, even if it is larger.
	if name := "--max-order-notional"; !c.set[name] {
		c.engine.Limits.OrderNotional, c.values[name] = liveNotional, liveNotional.String()
	}
	if name := "--confirm-above"; !c.set[name] {
		c.asking.Above, c.values[name] = 0, "0"
	}
	return nil
}

// openVenue returns the broker that c asks for, nil for paper. It asks the broker for
// the account, so that a data directory of another account is refused at once. If the
// broker does not know the keys, it returns an error, which ends the start. If the account
// cannot be read for another reason, the start goes on: the book opens halted, and the
// account is read later.
func openVenue(c *config, log *slog.Logger) (book.Opener, error) {
	if !c.atBroker() {
		return nil, nil
	}
	client, err := alpaca.New(alpaca.Options{URL: c.brokerURL, Keys: c.brokerKeys, Paper: !c.realMoney(), Log: log})
	if err != nil {
		return nil, err
	}
	// Without an answer the account stays empty: the engine then goes by the one that the
	// data directory was opened with before.
	ctx, cancel := context.WithTimeout(context.Background(), accountTimeout)
	defer cancel()
	o := &live.Options{Broker: client, Name: c.broker, DeadMan: c.deadMan}
	account, err := client.Account(ctx)
	// If the keys are refused, waiting does not help; after any other error it may, as after
	// too many requests.
	if no := (*live.Refused)(nil); errors.As(err, &no) && no.Keys {
		return nil, fmt.Errorf("%s does not let these keys in (%w): the keys of the paper account and of the real one are not the same", c.broker, err)
	}
	if err != nil {
		log.Warn("the broker's account cannot be read yet", "broker", c.broker, "error", err)
	}
	o.Account = account.ID
	return o, nil
}
