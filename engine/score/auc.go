package score

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// AUC returns the area under the ROC curve of scores that should be larger for the positive
// objects: the probability that a random positive object has a higher score than a random negative
// one, where a tie counts half (Mann and Whitney's U over its maximum; Hanley & McNeil 1982,
// Radiology 143:29-36). Infinite scores are legal.
//
// Lengths that differ are a *fault.ShapeError; a NaN, no positive object or no negative object is a
// *fault.DataError. Cost: O(n log n).
func AUC(scores []float64, positive []bool) (float64, error) {
	if len(scores) != len(positive) {
		return 0, &fault.ShapeError{What: "number of scores", Got: len(scores), Want: fmt.Sprintf("%d, the number of classes", len(positive))}
	}
	var yes, no []float64
	for i, s := range scores {
		if math.IsNaN(s) {
			return 0, &fault.DataError{Row: i, Err: fmt.Errorf("score is NaN: want a number")}
		}
		if positive[i] {
			yes = append(yes, s)
		} else {
			no = append(no, s)
		}
	}
	if len(yes) == 0 || len(no) == 0 {
		return 0, fault.Data("", "%d objects are positive and %d negative: want at least one of each for the AUC", len(yes), len(no))
	}
	slices.Sort(no)
	return fractionBelow(no, yes), nil
}

// fractionBelow returns the fraction of pairs (a, b) with a < b, where ties count half; a is
// sorted.
func fractionBelow(a, b []float64) float64 {
	slices.Sort(b)
	var twice uint64 // 2 #(a < b) + #(a = b), at most 2 |a| |b| < 2^63
	below, upTo := 0, 0
	for _, x := range b {
		for below < len(a) && a[below] < x {
			below++
		}
		for upTo < len(a) && a[upTo] <= x {
			upTo++
		}
		twice += uint64(below) + uint64(upTo)
	}
	return float64(twice) / 2 / (float64(len(a)) * float64(len(b)))
}
