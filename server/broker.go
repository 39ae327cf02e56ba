package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"wick/address"
	"wick/broker"
	"wick/broker/alpaca"
	"wick/exact"
	"wick/trade"
)

// The names of --broker.
const (
	brokerPaper       = "paper"        // wick's own book, no broker
	brokerAlpacaPaper = "alpaca-paper" // Alpaca's paper account
	brokerAlpaca      = "alpaca"       // real money
)

// liveNotional is the largest order at a broker unless --max-order-notional says
// otherwise.
const liveNotional = 100 * exact.One

// maxBrokerKeys bounds the file with the keys of a broker, in bytes.
const maxBrokerKeys = 4096

// accountTimeout bounds how long a start waits for the broker to name the account.
const accountTimeout = 15 * time.Second

// brokerFlags declares the flags about a broker elsewhere.
func (c *config) brokerFlags(fs *flag.FlagSet) {
	fs.StringVar(&c.broker, "broker", brokerPaper, "`where` orders go: paper, alpaca-paper, or alpaca with real money; see docs/live.md")
	fs.StringVar(&c.brokerKeyFile, "broker-key-file", "", "`file` with the keys of the broker's account; mode 0600")
	fs.DurationVar(&c.deadMan, "broker-dead-man", 0, "cancel wick's resting orders when the broker's stream is away for this `duration`; default never")
	fs.BoolVar(&c.accept, "accept-positions", false, "take the positions at the broker as they are, so that trading goes on after a difference")
}

// atBroker reports whether orders go to a broker elsewhere.
func (c *config) atBroker() bool { return c.broker != brokerPaper && c.broker != "" }

// brokers are the accounts elsewhere that --broker names.
var brokers = map[string]struct {
	url   string
	paper bool
}{
	brokerAlpacaPaper: {alpaca.PaperURL, true},
	brokerAlpaca:      {alpaca.LiveURL, false},
}

// realMoney reports whether orders are executed with real money.
func (c *config) realMoney() bool { return c.atBroker() && !brokers[c.broker].paper }

// settleBroker checks the flags of a broker, reads its keys and lowers the limits
// that were not set: orders are small, and a person confirms each.
func (c *config) settleBroker(env func(string) string) error {
	if !c.atBroker() {
		if c.brokerKeyFile != "" || c.set["broker-dead-man"] {
			return fmt.Errorf("--broker-key-file and --broker-dead-man belong to --broker alpaca-paper or alpaca")
		}
		return nil
	}
	if err := c.findBroker(env); err != nil {
		return err
	}
	if err := c.checkBroker(); err != nil {
		return err
	}
	// What the operator has set stays, even if it is larger.
	if !c.set["max-order-notional"] {
		c.limits.OrderNotional = liveNotional
	}
	if !c.set["confirm-above"] {
		c.confirmAbove = 0
	}
	var err error
	if c.brokerKeys, err = readBrokerKeys(c.brokerKeyFile); err != nil {
		return fmt.Errorf("--broker-key-file: %w", err)
	}
	return nil
}

// findBroker settles where the broker is reached.
func (c *config) findBroker(env func(string) string) error {
	at, known := brokers[c.broker]
	if c.brokerURL = at.url; !known {
		return fmt.Errorf("--broker %q is none of paper, alpaca-paper, alpaca", c.broker)
	}
	if at := env("WICK_ALPACA_URL"); at != "" { // a broker for tests, which gets the keys
		if u, err := url.Parse(at); err != nil || !address.Loopback(u.Hostname()) {
			return fmt.Errorf("WICK_ALPACA_URL is not an address of this machine, and the keys would be sent to it")
		}
		c.brokerURL = at
	}
	return nil
}

// checkBroker refuses flags that do not go with a broker: it needs --trade, the keys of
// an account, and real prices, and there must be no paper account beside it.
func (c *config) checkBroker() error {
	switch {
	case !c.trade:
		return fmt.Errorf("--broker needs --trade")
	case c.brokerKeyFile == "":
		return fmt.Errorf("--broker %s needs --broker-key-file, a file with the keys of the account", c.broker)
	case c.account.Cash != 0:
		return fmt.Errorf("--cash opens a paper account, and %s has one of its own", c.broker)
	case c.source == "sample":
		return fmt.Errorf("--broker %s with --source sample would trade by invented prices: choose a source of real ones, such as yahoo", c.broker)
	case c.set["broker-dead-man"] && c.deadMan < time.Minute:
		return fmt.Errorf("--broker-dead-man %s is less than a minute: write a duration such as 10m, or leave it out for never", c.deadMan)
	}
	return nil
}

// readBrokerKeys reads the keys of a broker from a file that nobody else may read.
func readBrokerKeys(name string) (alpaca.Keys, error) {
	text, err := readPrivate(name, maxBrokerKeys)
	if err != nil {
		return alpaca.Keys{}, err
	}
	defer clear(text)
	return alpaca.ParseKeys(string(text))
}

// openVenue returns the broker that c asks for, nil for paper. It asks the broker for
// the account, so that a data directory of another account is refused at once. If the
// broker does not know the keys, it returns an error, which ends the start. If the account
// cannot be read for another reason, the start goes on: the book opens halted, and the
// account is read later.
func openVenue(c *config, log *slog.Logger) (*trade.VenueOptions, error) {
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
	o := &trade.VenueOptions{Broker: client, Name: c.broker, DeadMan: c.deadMan}
	account, err := client.Account(ctx)
	// If the keys are refused, waiting does not help; after any other error it may, as after
	// too many requests.
	if no := (*broker.Refused)(nil); errors.As(err, &no) && no.Keys {
		return nil, fmt.Errorf("%s does not let these keys in (%w): the keys of the paper account and of the real one are not the same", c.broker, err)
	}
	if err != nil {
		log.Warn("the broker's account cannot be read yet", "broker", c.broker, "error", err)
	}
	o.Account = account.ID
	return o, nil
}

// masked returns the end of an account's number, for those who are not logged in.
func masked(account string) string {
	const shown = 4
	if len(account) <= shown {
		return account
	}
	return "…" + account[len(account)-shown:]
}
