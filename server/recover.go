package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"wick/trade"
)

// recoverFlag is --recover: alone it asks what a recovery would keep, with yes
// it asks for the recovery.
type recoverFlag string

// The values of the flag: not given, given alone, and with yes.
const (
	recoverNo   recoverFlag = ""
	recoverShow recoverFlag = "true"
	recoverYes  recoverFlag = "yes"
)

// String returns what Set was given.
func (f *recoverFlag) String() string { return string(*f) }

// IsBoolFlag lets --recover stand without a value.
func (f *recoverFlag) IsBoolFlag() bool { return true }

// Set takes yes, and what the flag package takes for a boolean.
func (f *recoverFlag) Set(text string) error {
	if text == string(recoverYes) {
		*f = recoverYes
		return nil
	}
	show, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("write --recover to see what can be kept, or --recover=yes to keep it")
	}
	if *f = recoverNo; show {
		*f = recoverShow
	}
	return nil
}

// showRecovery prints what --recover=yes would keep and give up. No other process
// may have the directory; nothing in it is changed.
func showRecovery(c *config, out io.Writer) error {
	if _, err := os.Stat(c.dataDir); err != nil {
		return fmt.Errorf("nothing can be recovered: %w", err)
	}
	r, err := trade.ShowRecovery(c.dataDir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%snothing was changed; wick --trade --recover=yes keeps this, renames damaged files to end in .damaged, and goes on to serve\n", r)
	return err
}

// recoverTo returns what a recovery is told to, which writes it to the log; nil
// without --recover=yes.
func (c *config) recoverTo(log *slog.Logger) func(trade.Recovery) error {
	if c.recover != recoverYes {
		return nil
	}
	return func(r trade.Recovery) error {
		for line := range strings.Lines(r.String()) {
			log.Warn("recovering: " + strings.TrimSpace(line))
		}
		return nil
	}
}
