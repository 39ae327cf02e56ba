// Cluster checks that a history which torture -cluster -history has written is
// linearizable, order by order and alert by alert: that there is an order of all
// operations, each at one moment between its call and its answer, in which every
// answer is right. Pauses, partitions and changes of leaders are in the history.
//
// Usage: cluster HISTORY
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// step is one operation as its client saw it.
type step struct {
	Client int    `json:"client"`
	ID     string `json:"id"`
	Op     string `json:"op"`     // place, cancel or read
	Call   int64  `json:"call"`   // nanoseconds
	Return int64  `json:"return"` // 0 if the outcome is not known
	Result string `json:"result"` // done, refused, nothing, unknown; of a read: absent, open, gone
}

// states are what an order or alert can be.
const (
	absent = "absent"
	open   = "open"
	gone   = "gone"
)

// model is one order or alert. To place it again is answered with what there is,
// and so is to cancel it again. What was refused has changed nothing, and a cancel
// is refused only if there is nothing open; when no replica leads, nothing is done
// and nothing is said. An operation
// of which nobody knows the outcome may take effect at any moment after its call,
// the last of all included, which is as good as never.
var model = porcupine.Model{
	Init: func() any { return absent },
	Step: func(state, input, output any) (bool, any) {
		next := state
		switch op := input.(step).Op; {
		case op == "read":
			return output == state, state
		case output == "nothing":
			return true, state
		case output == "refused":
			return op == "place" || state != open, state
		case op == "place" && state == absent:
			next = open
		case op == "cancel" && state == open:
			next = gone
		case op == "cancel" && state == absent:
			return output == "unknown", state // it cannot be done
		}
		return true, next
	},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: cluster HISTORY")
		os.Exit(2)
	}
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// check reads a history and checks each order and alert by itself.
func check(name string) error {
	byID, steps, last, err := read(name)
	if err != nil {
		return err
	}
	unknown := 0
	for id, operations := range byID {
		for i := range operations {
			if operations[i].Output == "unknown" {
				operations[i].Return = last + 1
				unknown++
			}
		}
		if result := porcupine.CheckOperationsTimeout(model, operations, time.Minute); result != porcupine.Ok {
			for _, o := range operations {
				fmt.Fprintf(os.Stderr, "%d..%d %s: %v\n", o.Call, o.Return, o.Input.(step).Op, o.Output)
			}
			return fmt.Errorf("%s is not linearizable (%v)", id, result)
		}
	}
	fmt.Printf("%d operations on %d orders and alerts, %d of them with an unknown outcome, are linearizable\n", steps, len(byID), unknown)
	return nil
}

// read returns the operations of a history by order or alert, how many there are,
// and the last moment in it.
func read(name string) (byID map[string][]porcupine.Operation, steps int, last int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	byID = make(map[string][]porcupine.Operation)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, 0, 0, err
		}
		byID[s.ID] = append(byID[s.ID], porcupine.Operation{ClientId: s.Client, Input: s, Call: s.Call, Output: s.Result, Return: s.Return})
		last = max(last, s.Call, s.Return)
		steps++
	}
	return byID, steps, last, lines.Err()
}
