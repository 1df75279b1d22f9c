package stored

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
)

// Suffixes of the tensors of links.
const (
	tensorLinks   = ".links"       // [links, 2], rows of the points
	tensorWeights = ".weights"     // [links], negative for cannot-links
	tensorBounds  = ".link_bounds" // [links], 0 for a link without a bound; no tensor if no link has one
)

// SetLinks stores the links of a model's fit, in tensors whose names begin with name.
func SetLinks(f *model.File, name string, set *links.Set) {
	all := slices.Concat(set.Must(), set.Cannot())
	rows, weights, bounds := make([]int64, 0, 2*len(all)), make([]float64, len(all)), make([]float64, len(all))
	bounded := false
	for k, l := range all {
		rows = append(rows, int64(l.I), int64(l.J))
		weights[k] = l.Weight * float64(l.Sign)
		if !math.IsNaN(l.Bound) {
			bounds[k], bounded = l.Bound, true
		}
	}
	f.SetInt64s(name+tensorLinks, rows, len(all), 2)
	f.SetFloat64s(name+tensorWeights, weights)
	if bounded {
		f.SetFloat64s(name+tensorBounds, bounds)
	}
}

// HasLinks reports whether links are stored under a name.
func HasLinks(f *model.File, name string) bool { return f.Has(name + tensorLinks) }

// Links returns the links between n points that [SetLinks] stored. Unusable tensors are a
// *fault.DataError.
func Links(f *model.File, name string, n int) (*links.Set, error) {
	rows, err := f.Int64s(name+tensorLinks, -1, 2)
	if err != nil {
		return nil, err
	}
	weights, err := Finite(f, name+tensorWeights, len(rows)/2)
	if err != nil {
		return nil, err
	}
	bounds := make([]float64, len(weights))
	if f.Has(name + tensorBounds) {
		if bounds, err = Finite(f, name+tensorBounds, len(weights)); err != nil {
			return nil, err
		}
	}
	list := make([]links.Link, len(weights))
	for k, w := range weights {
		if w == 0 {
			return nil, fault.Data("", "tensor %s: element %d is 0: want a weight other than 0", name+tensorWeights, k)
		}
		sign := links.Must
		if w < 0 {
			sign = links.Cannot
		}
		list[k] = links.Link{I: int(rows[2*k]), J: int(rows[2*k+1]), Sign: sign, Weight: math.Abs(w), Bound: bounds[k]}
	}
	set, err := links.New(n, list)
	if err != nil {
		return nil, fault.Data("", "tensor %s: %w", name+tensorLinks, err)
	}
	return set, nil
}
