package indicators

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"wick/limit"
)

// Nearest returns those of names that are spelled most like name, the nearest
// first, at most the given number. Names that differ in more than about a third
// of their letters are left out, so the result may be empty.
func Nearest(name string, names []string, most int) []string {
	// A stranger's text is cut first: the time is its length times that of all names.
	name = strings.ToLower(limit.Clip(name))
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, n := range names {
		if d := editDistance(name, strings.ToLower(n)); d <= max(1, (len(name)+1)/3) {
			near = append(near, candidate{n, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, c := range near[:min(most, len(near))] {
		out = append(out, c.name)
	}
	return out
}

// didYouMean returns `, did you mean "x", "y" or "z"?` for the names nearest to
// name, or nothing when none is near.
func didYouMean(name string, names []string) string { return orList(Nearest(name, names, 3)) }

// orList writes names as a question, and nothing for none.
func orList(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, strconv.Quote(n))
	}
	switch last := len(quoted) - 1; last {
	case -1:
		return ""
	case 0:
		return ", did you mean " + quoted[0] + "?"
	default:
		return ", did you mean " + strings.Join(quoted[:last], ", ") + " or " + quoted[last] + "?"
	}
}

// editDistance is the number of letters to insert, delete, replace or swap with their
// neighbour (the optimal string alignment distance).
func editDistance(a, b string) int {
	// row[j] is the distance between the part of a read so far and the first j bytes of
	// b; before and older are the rows of one and two bytes less of a.
	older, before, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older, before, row = before, row, older
		row[0] = i + 1
		for j := range len(b) {
			cost := before[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, row[j]+1, before[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
