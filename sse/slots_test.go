package sse

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A row does what a slice does, through many pieces.
func TestSlots(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var row slots
	var want []uint64
	for step := range uint64(5000) {
		if i := random.IntN(len(want) + 1); i < len(want) && random.IntN(20) < 9 {
			row.shift()
			want = want[1:]
		} else {
			i = max(i, len(want)-random.IntN(40)) // near the end, as a rule
			row.insert(i, slot{to: step})
			want = slices.Insert(want, i, step)
		}
		if row.len != len(want) {
			t.Fatalf("step %d: %d slots, want %d", step, row.len, len(want))
		}
		for i, to := range want {
			if got := row.at(i).to; got != to {
				t.Fatalf("step %d: slot %d is %d, want %d", step, i, got, to)
			}
		}
	}
	if len(want) < 3*pieceLen {
		t.Errorf("only %d slots in the end", len(want))
	}
}
