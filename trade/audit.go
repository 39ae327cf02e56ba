package trade

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Audit writes the journals of a state directory to w, one line per record:
// time, sequence, what happened, and the details as JSON. It only reads, so it
// may run beside the process that owns the directory; a record that process is
// writing at that moment ends the output quietly.
func Audit(name string, w io.Writer) error {
	l, err := newLoader(readOnly{dir(name)}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, n := range l.journals {
		data, err := l.disk.read(journalName(n))
		if err != nil {
			return err
		}
		for at := 0; at < len(data); {
			f, err := decodeFrame(data[at:])
			if err != nil {
				if torn(data, at, err) {
					break
				}
				out.Flush()
				return l.damage(journalName(n), int64(at), 0, err)
			}
			var stamp struct {
				At string `json:"at"`
			}
			json.Unmarshal(f.payload, &stamp) // the line shows the payload anyway
			fmt.Fprintf(out, "%s %d %s %s\n", stamp.At, f.seq, kindNames[f.kind], f.payload)
			at += f.size
		}
	}
	return out.Flush()
}

// readOnly is a directory in which nothing may be removed.
type readOnly struct{ dir }

func (readOnly) remove(string) error { return nil }
