package server

import (
	"errors"
	"fmt"
	"io"
	"os"

	"wick/journal"
	"wick/trade"
)

// errNotFound says that a hash is not in the history.
var errNotFound = errors.New("not in this history: records were removed or changed since it was written down, or it is another store's")

// runAudit does what --audit asks for. It prints what the journal holds and who did what;
// with --head it prints the newest hash, and with --verify what a check of the whole
// history found. It only reads, and may run while a server runs on the same directory.
func runAudit(c *config, out io.Writer) error {
	if !c.head && !c.verify.on {
		return trade.Audit(c.dataDir, out)
	}
	var find journal.Hash // no record has the zero hash
	if c.verify.hash != nil {
		find = *c.verify.hash
	}
	v, err := trade.Verify(c.dataDir, find)
	// Everything that is damaged is listed; the error names the first.
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
		_, err := fmt.Fprintln(out, v.History.Head)
		return err
	}
	return c.verify.report(v, out)
}

// report writes what was found in a history that is sound.
func (f *verifyFlag) report(v trade.Verified, out io.Writer) error {
	// What a recovery left out comes first, because "sound" is about what is there.
	for _, note := range v.History.Notes {
		fmt.Fprintln(out, note)
	}
	if n := v.History.Incomplete; n > 0 {
		fmt.Fprintf(out, "incomplete: %d journals are missing or damaged, as a recovery has noted, the first %s; all that is there is sound\n", n, v.History.FirstIncomplete)
	}
	records := fmt.Sprintf("records %d to %d", v.History.First+1, v.History.Last)
	if v.History.Last == v.History.First {
		records = fmt.Sprintf("no record after %d", v.History.First)
	}
	fmt.Fprintf(out, "sound: %s in %d journal files, each follows the one before it; %d orders in the archive\nhead: record %d, hash %s\n",
		records, v.History.Files, v.Archive.Records, v.History.Last, v.History.Head)
	switch {
	case f.hash == nil:
		return nil
	case v.Found == nil:
		return fmt.Errorf("%s is %w", f.hash, errNotFound)
	}
	_, err := fmt.Fprintf(out, "found: %s stands after record %d in %s; nothing up to there was changed since\n", f.hash, v.Found.Seq, v.Found.File)
	return err
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
	_, err = fmt.Fprintf(out, "%snothing was changed; wick --trade --recover=yes keeps this, gives files that it cannot go on from names that end in .damaged, and goes on to serve\n", r)
	return err
}
