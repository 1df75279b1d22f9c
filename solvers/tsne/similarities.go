package tsne

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Similarities returns the symmetric similarities of points with sum 1: p_ij = (p_j|i + p_i|j) /
// 2n. p_j|i falls with the squared distance like a Gaussian density. Its width makes the number of
// effective neighbors, the exponential of the entropy, equal to perplexity; neighbors beyond those
// of near count nothing.
//
// A perplexity outside (0, K] is a *fault.ParamError. Cost: O(n K).
func Similarities(near *graph.Neighbors, perplexity float64) (*sparse.Matrix, error) {
	if !(perplexity > 0 && perplexity <= float64(near.K)) {
		return nil, &fault.ParamError{Param: "perplexity", Value: perplexity, Want: fmt.Sprintf("more than 0, and at most %d, the number of neighbors", near.K)}
	}
	type element struct {
		column int32
		value  float64
	}
	rows := make([][]element, near.N)
	weights := make([]float64, near.K)
	for i := range near.N {
		index, squared := near.Of(i)
		gaussian(weights, squared, perplexity)
		for a, j := range index {
			half := weights[a] / (2 * float64(near.N))
			rows[i] = append(rows[i], element{j, half})
			rows[j] = append(rows[j], element{int32(i), half})
		}
	}
	p := &sparse.Matrix{Rows: near.N, Cols: near.N, Start: make([]int, 1, near.N+1)}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b element) int { return cmp.Compare(a.column, b.column) })
		for k, e := range row {
			if k > 0 && row[k-1].column == e.column {
				p.Val[len(p.Val)-1] += e.value
				continue
			}
			p.Col, p.Val = append(p.Col, e.column), append(p.Val, e.value)
		}
		p.Start = append(p.Start, len(p.Col))
	}
	return p, nil
}

// gaussian sets weights with sum 1 and the entropy log(perplexity), by bisection on the logarithm
// of the precision. Distances count relative to their mean. Without spread, or if no width has this
// entropy, the weights are as near to it as bisection comes.
func gaussian(weights, squared []float64, perplexity float64) {
	mean := 0.0
	for _, s := range squared {
		mean += (s - squared[0]) / float64(len(squared))
	}
	if !(mean > 0) || math.IsInf(mean, 0) {
		for a := range weights {
			weights[a] = 1 / float64(len(weights))
		}
		return
	}
	low, high := -20.0, 50.0
	for range 60 {
		middle := (low + high) / 2
		precision := math.Exp(middle)
		sum, moment := 0.0, 0.0
		for a, s := range squared {
			t := precision * (s - squared[0]) / mean
			weights[a] = math.Exp(-t)
			sum += weights[a]
			if weights[a] > 0 {
				moment += weights[a] * t
			}
		}
		for a := range weights {
			weights[a] /= sum
		}
		if math.Log(sum)+moment/sum > math.Log(perplexity) {
			low = middle
		} else {
			high = middle
		}
	}
}
