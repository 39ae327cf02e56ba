package indicators

import "math"

// longDeviation does the work of centred for a long window over x, which has
// no NaN. The distances below the mean add up to the same as those above, so it
// needs the number and the sum of the values below, and from bar to bar the
// mean passes over few of them. To know which, it cuts x into blocks of n and
// sorts each once: a window is the end of one block, from which values go, and
// the start of the next, to which values come. On prices that takes the same
// time whatever the window; values made for it, about half of them all but equal
// to a mean that moves, could cost n steps per bar, as the plain sum does.
func longDeviation(x, distance, deviation []float64, n int) {
	const far = 1e5 // deviations away: next to such a value the others are rounding
	share := 1 / float64(n)
	w := deviationWindow{left: newBlock(n), right: newBlock(n), tails: make([]float64, n)}
	sorter := newBucketSort(n)
	w.right.load(x[:n], sorter)
	for start := 0; start+n <= len(x); start += n {
		w.left, w.right = w.right, w.left
		w.right.load(x[start+n:min(start+2*n, len(x))], sorter)
		w.left.fill()
		w.measure(0, w.left.median())
		for k := range min(n, 1+len(w.right.x)) { // the whole right block is the next left one
			i := start + n - 1 + k
			gone := w.slide(k)
			mean, below := w.sums(k, share)
			if math.Abs(mean) > far*below || math.Abs(gone-mean) > far*below {
				w.measure(k, x[i])
				mean, below = w.sums(k, share)
			}
			distance[i], deviation[i] = x[i]-w.ref-mean, below
		}
	}
}

// deviationWindow is a window of two blocks. All its sums are of values less a
// reference among them, which is chosen anew with every block.
type deviationWindow struct {
	left, right *block
	ref         float64
	tails       []float64 // tails[k]: sum of the left block from its value k on
	head        float64   // sum of what the right block has in the window
}

// measure begins the sums anew around ref, for the window that begins with
// value k of the left block.
func (w *deviationWindow) measure(k int, ref float64) {
	w.ref, w.head = ref, 0
	w.left.measure(ref)
	w.right.measure(ref)
	var sum float64
	for j := len(w.tails) - 1; j >= k; j-- {
		sum += w.left.x[j] - ref
		w.tails[j] = sum
	}
	for _, v := range w.right.x[:k] {
		w.head += v - ref
	}
}

// slide lets the window begin with value k of the left block and returns the
// value that went, less the reference.
func (w *deviationWindow) slide(k int) (gone float64) {
	if k == 0 {
		return 0
	}
	w.left.set(k-1, 0)
	w.right.set(k-1, 1)
	w.head += w.right.x[k-1] - w.ref
	return w.left.x[k-1] - w.ref
}

// sums returns the mean of the window that begins with value k of the left
// block, less the reference, and the mean distance from it.
func (w *deviationWindow) sums(k int, share float64) (mean, deviation float64) {
	mean = (w.tails[k] + w.head) * share
	w.left.settle(mean)
	w.right.settle(mean)
	count, sum := w.left.count+w.right.count, w.left.sum+w.right.sum
	below := float64(count*mean) - sum
	if below < 0 { // by rounding
		below = 0
	}
	return mean, 2 * below * share
}

// block is a stretch of values, some of which are in the window, with the
// number and the sum of those in it that lie below the mean. Being in the
// window is a factor of 0 or 1: no branch could foresee it.
type block struct {
	x      []float64
	order  []int32   // the values by size, smallest first
	place  []int32   // of each value in that order
	value  []float64 // in that order: the values less the reference
	held   []float64 // in that order: 1 in the window, 0 not
	passed int       // how many in that order are below the mean, held or not
	count  float64   // of the held ones among them
	sum    float64   // of the same
}

func newBlock(n int) *block {
	return &block{order: make([]int32, n), place: make([]int32, n), value: make([]float64, n), held: make([]float64, n)}
}

// load makes b the block of the values x, at most as many as it was made for,
// with none in the window.
func (b *block) load(x []float64, sorter *bucketSort) {
	n := len(x)
	b.x, b.order, b.place, b.value, b.held = x, b.order[:n], b.place[:n], b.value[:n], b.held[:n]
	clear(b.held)
	sorter.sort(x, b.order)
	for p, i := range b.order {
		b.place[i] = int32(p)
	}
}

// fill puts all values into the window.
func (b *block) fill() {
	for p := range b.held {
		b.held[p] = 1
	}
}

// median returns the value in the middle: a good reference, since a few wild
// values do not move it.
func (b *block) median() float64 { return b.x[b.order[len(b.order)/2]] }

// measure sets the reference and puts the border below all values.
func (b *block) measure(ref float64) {
	for p, i := range b.order {
		b.value[p] = b.x[i] - ref
	}
	b.passed, b.count, b.sum = 0, 0, 0
}

// set puts value i into the window, held 1, or takes it out, held 0.
func (b *block) set(i int, held float64) {
	p := int(b.place[i])
	var below int
	if p < b.passed {
		below = 1
	}
	change := (held - b.held[p]) * float64(below)
	b.held[p] = held
	b.count += change
	b.sum += float64(change * b.value[p])
}

// settle moves the border between the values below the mean and the others.
func (b *block) settle(mean float64) {
	p, count, sum, held := b.passed, b.count, b.sum, b.held[:len(b.value)]
	for p < len(b.value) && b.value[p] < mean {
		count += held[p]
		sum += float64(held[p] * b.value[p])
		p++
	}
	for p > 0 && b.value[p-1] >= mean {
		p--
		count -= held[p]
		sum -= float64(held[p] * b.value[p])
	}
	b.passed, b.count, b.sum = p, count, sum
}
