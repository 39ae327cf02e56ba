package kernel_test

import (
	"fmt"

	"wick/indicators/kernel"
)

// A result is aligned with its input: the first two bars of an average of three
// have no value.
func ExampleSMA() {
	fmt.Println(kernel.SMA([]float64{1, 2, 3, 10}, 3))
	// Output: [NaN NaN 2 5]
}

// The sums differ in their last bit, the prices do not.
func ExampleCompare() {
	a, b := 4.99, 5.01
	sum := a + b
	fmt.Println(kernel.Compare(sum/10, 1), kernel.Compare(0.1+0.2, 0.3), kernel.Compare(5.01, 5))
	// Output: 0 0 1
}

// Equal values share the mean of their ranks: 10, 20, 20 rank 1, 2.5, 2.5.
func ExampleRankCorrelation() {
	fmt.Printf("%.2f\n", kernel.RankCorrelation([]float64{10, 20, 20}, 3)[2])
	// Output: 86.60
}
