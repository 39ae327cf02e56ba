package shape_test

import (
	"fmt"

	"wick/indicators/shape"
)

// A line crosses another on the bar on which it is beyond it: a touch is no crossing.
func ExampleCrossings() {
	fast, slow := []float64{1, 2, 3, 3, 1}, []float64{2, 2, 2, 2, 2}
	for _, s := range shape.Crossings(nil, fast, slow, shape.CrossUp, shape.CrossDown) {
		fmt.Println(s.Bar, s.Label)
	}
	// Output:
	// 2 cross_up
	// 4 cross_down
}

// A swing is known only when the bars to its right are there.
func ExamplePeaks() {
	fmt.Println(shape.Peaks([]float64{1, 2, 5, 3, 2, 4}, 2, 2))
	// Output: [2]
}
