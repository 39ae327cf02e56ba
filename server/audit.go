package server

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"

	"wick/journal"
	"wick/trade"
)

// verifyFlag is --verify: alone it asks for a check of the whole history, with a
// hash also whether that hash is in it.
type verifyFlag struct {
	on   bool
	hash journal.Hash // zero if none was given
}

// String returns the hash, or nothing; the flag package calls it on a nil pointer.
func (f *verifyFlag) String() string {
	if f == nil || !f.on {
		return ""
	}
	return f.hash.String()
}

// IsBoolFlag lets --verify stand without a value.
func (f *verifyFlag) IsBoolFlag() bool { return true }

// Set takes a hash, and what the flag package takes for a boolean.
func (f *verifyFlag) Set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil {
		f.on = on
		return nil
	}
	f.on = true
	if err := f.hash.UnmarshalText([]byte(text)); err != nil {
		return fmt.Errorf("write --verify, or --verify HASH with a hash that --audit --head printed: %w", err)
	}
	return nil
}

// parseVerified parses args as fs does, but takes the word after --verify for its
// hash: a flag that may stand alone would leave it over, with all that follows.
func parseVerified(fs *flag.FlagSet, args []string, verify *verifyFlag) error {
	if err := fs.Parse(args); err != nil || !verify.on || fs.NArg() == 0 {
		return err
	}
	rest := fs.Args()
	if err := verify.Set(rest[0]); err != nil {
		return err
	}
	return fs.Parse(rest[1:])
}

// errNotFound says that a hash is not in the history.
var errNotFound = errors.New("not in this history: records were removed or changed since it was written down, or it is another store's")

// runAudit does what --audit asks for.
func runAudit(c *config, out io.Writer) error {
	if !c.head && !c.verify.on {
		return trade.Audit(c.dataDir, out)
	}
	v, err := trade.Verify(c.dataDir, c.verify.hash)
	// All that is damaged is listed, and the first of it is the error.
	if more := len(v.History.Damage) - 1; err != nil && more > 0 && c.verify.on {
		for _, found := range v.History.Damage {
			fmt.Fprintln(out, found)
		}
		return fmt.Errorf("%w (and %d more, see above)", err, more)
	}
	if err != nil {
		return err
	}
	if c.head {
		if v.History.Head == (journal.Hash{}) {
			return errors.New("there is no hash yet: an earlier wick wrote this directory, and the next start begins with them")
		}
		_, err := fmt.Fprintln(out, v.History.Head)
		return err
	}
	return c.verify.report(v, out)
}

// report writes what was found in a history that is sound.
func (f *verifyFlag) report(v trade.Verified, out io.Writer) error {
	// What a recovery left out stands first: "sound" is only said of what is there.
	for _, note := range v.History.Notes {
		fmt.Fprintln(out, note)
	}
	if n := len(v.History.Incomplete); n > 0 {
		fmt.Fprintf(out, "incomplete: %d journals are missing or damaged, as a recovery has noted, the first %s; all that is there is sound\n", n, v.History.Incomplete[0])
	}
	fmt.Fprintf(out, "sound: records %d to %d in %d journal files, each follows the one before it; %d orders in the archive\nhead: record %d, hash %s\n",
		v.History.First+1, v.History.Last, v.History.Files, v.Archive.Records, v.History.Last, v.History.Head)
	switch {
	case f.hash == (journal.Hash{}):
		return nil
	case v.Found == nil:
		return fmt.Errorf("%s is %w", f.hash, errNotFound)
	}
	_, err := fmt.Fprintf(out, "found: %s stands after record %d in %s; nothing up to there was changed since\n", f.hash, v.Found.Seq, v.Found.File)
	return err
}
