// Package logdetmetric holds what methods share that learn a metric or a kernel by LogDet
// projections: bounds of distances, the constraints of links, and kernels for all points from that
// of the linked ones.
package logdetmetric

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/draw"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Target says what squared distances of linked points are to be: "p5" is a percentile of those of
// all pairs, "0.5" a value.
type Target struct {
	Upper  string `json:"upper" param:"upper" default:"p5" help:"most squared distance of must-links: p5 is a percentile of all pairs, 0.5 a value"`
	Lower  string `json:"lower" param:"lower" default:"p95" help:"least squared distance of cannot-links, likewise"`
	Margin string `json:"margin" param:"margin" default:"p5" help:"of triplets: how much larger the second squared distance is to be, likewise"`
}

// Check returns a *fault.ParamError for the first bound that is none.
func (t Target) Check() error {
	for _, b := range t.all() {
		if _, _, err := b.parse(); err != nil {
			return err
		}
	}
	return nil
}

type namedBound struct{ name, text string }

func (t Target) all() []namedBound {
	return []namedBound{{"upper", t.Upper}, {"lower", t.Lower}, {"margin", t.Margin}}
}

func (b namedBound) parse() (v float64, percentile bool, err error) {
	digits, percentile := strings.CutPrefix(b.text, "p")
	v, err = strconv.ParseFloat(digits, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) || percentile && v > 100 {
		return 0, false, &fault.ParamError{Param: b.name, Value: b.text, Want: "a finite number > 0, or p and a percentile up to 100, such as p5"}
	}
	return v, percentile, nil
}

// Bounds are those of squared distances.
type Bounds struct {
	Upper float64 `json:"upper"`
	Lower float64 `json:"lower"`
	// Margin is that of triplets, 0 where there are none.
	Margin float64 `json:"margin,omitempty"`
}

// sampled is the number of pairs of points that percentiles are taken of, at most.
const sampled = 200_000

// rounding is the part of the largest squared distance up to which one is as good as 0.
const rounding = 1e-12

// Bounds finds the bounds, of distances in the feature space of k between the points x, and what is
// odd about them; the margin only with triplets. A percentile of 0 is a *fault.DataError.
func (t Target) Bounds(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, triplets bool, seed uint64) (out Bounds, notices []string, err error) {
	var squared []float64 // ascending, once it is needed
	for n, b := range t.all() {
		v, percentile, err := b.parse()
		if err != nil {
			return out, nil, err
		}
		to := []*float64{&out.Upper, &out.Lower, &out.Margin}[n]
		if to == &out.Margin && !triplets {
			continue
		}
		if *to = v; !percentile {
			continue
		}
		if squared == nil {
			if squared, err = k.Squared().Pairs(ctx, eng, x, pairs(x.Len(), seed)); err != nil {
				return out, nil, err
			}
			slices.Sort(squared)
		}
		if *to = at(squared, v/100); !(*to > rounding*at(squared, 1)) {
			return out, nil, fault.Data("", "the percentile %s of the squared distances is 0 to rounding, which is no bound: want %s as a value, or another percentile", b.text, b.name)
		}
	}
	return out, out.Notices(), nil
}

// Notices returns what is odd about the bounds.
func (b Bounds) Notices() []string {
	if b.Upper < b.Lower {
		return nil
	}
	return []string{fmt.Sprintf("the bound of must-links, %.4g, is not below that of cannot-links, %.4g: want upper < lower", b.Upper, b.Lower)}
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
		out[k] = draw.Pair(rng, n)
	}
	return out
}

// at returns the quantile q of ascending values, between neighbors linearly; 0 for none.
func at(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	place := q * float64(len(v)-1)
	i := min(int(place), len(v)-1)
	j := min(i+1, len(v)-1)
	return v[i] + (place-float64(i))*(v[j]-v[i])
}
