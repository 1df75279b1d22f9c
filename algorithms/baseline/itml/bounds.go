package itml

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// sampled is the number of pairs of points that percentiles are taken of, at most.
const sampled = 200_000

// bounds sets the bounds of squared distances in the feature space of k.
func (f *fit) bounds(ctx context.Context, k kernel.Kernel, x points.Points) error {
	var squared []float64 // ascending, once it is needed
	for _, b := range []struct {
		name, text string
		to         *float64
	}{{"upper", f.Params.Upper, &f.upper}, {"lower", f.Params.Lower, &f.lower}} {
		v, percentile, err := bound(b.name, b.text)
		if err != nil {
			return err
		}
		if *b.to = v; !percentile {
			continue
		}
		if squared == nil {
			if squared, err = k.Squared().Pairs(ctx, f.eng, x, pairs(x.Len(), f.Seed)); err != nil {
				return err
			}
			slices.Sort(squared)
		}
		if *b.to = at(squared, v/100); !(*b.to > 0) {
			return fault.Data("", "the percentile %s of the squared distances is 0, which is no bound: want %s as a value, or another percentile", b.text, b.name)
		}
	}
	if f.upper >= f.lower {
		f.notices = append(f.notices, fmt.Sprintf("the bound of must-links, %.4g, is not below that of cannot-links, %.4g: want upper < lower", f.upper, f.lower))
	}
	return nil
}

// pairs returns all pairs of n points, or many of them drawn at random.
func pairs(n int, seed uint64) [][2]int {
	if all := n * (n - 1) / 2; n < 1000 && all <= sampled {
		out := make([][2]int, 0, all)
		for i := range n {
			for j := range i {
				out = append(out, [2]int{i, j})
			}
		}
		return out
	}
	rng := rand.New(rand.NewPCG(seed, 0x69746d6c))
	out := make([][2]int, sampled)
	for k := range out {
		i, j := rng.IntN(n), rng.IntN(n-1)
		if j >= i {
			j++
		}
		out[k] = [2]int{i, j}
	}
	return out
}

// at returns the quantile q of ascending values, between neighbours linearly; 0 for none.
func at(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	place := q * float64(len(v)-1)
	i := min(int(place), len(v)-1)
	j := min(i+1, len(v)-1)
	return v[i] + (place-float64(i))*(v[j]-v[i])
}
