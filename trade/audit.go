package trade

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"wick/journal"
)

// Audit writes the journals of a state directory to w, one line per record:
// time, sequence, what happened, and the details as JSON. It only reads, so it
// may run beside the process that owns the directory; a record that process is
// writing at that moment ends the output quietly.
func Audit(dir string, w io.Writer) error {
	out := bufio.NewWriter(w)
	defer out.Flush()
	err := journal.Walk(dir, func(r journal.Entry) error {
		if r.Kind == 0 {
			return nil
		}
		name := "header"
		if r.Kind != journal.KindHeader {
			name = kind(r.Kind).String()
		}
		var stamp struct {
			At string `json:"at"`
		}
		json.Unmarshal(r.Payload, &stamp) // the line shows the payload anyway
		_, err := fmt.Fprintf(out, "%s %d %s %s\n", stamp.At, r.Seq, name, r.Payload)
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
