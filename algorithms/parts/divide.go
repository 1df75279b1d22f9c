package parts

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
)

// piece is a part of the links with its points.
type piece struct {
	rows  []int // ascending
	links *links.Set
}

// divide deals the links of each kind, and the points without links, to a number of parts.
func divide(set *links.Set, count int, seed uint64) ([]piece, error) {
	rng := rand.New(rand.NewPCG(seed, 0x7061727473))
	must, cannot := slices.Clone(set.Must()), slices.Clone(set.Cannot())
	for _, list := range [][]links.Link{must, cannot} {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	free := unlinked(set)
	rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	out := make([]piece, count)
	for k := range out {
		own := slices.Concat(share(must, k, count), share(cannot, k, count))
		rows := slices.Clone(share(free, k, count))
		for _, l := range own {
			rows = append(rows, l.I, l.J)
		}
		slices.Sort(rows)
		rows = slices.Compact(rows)
		all, err := links.New(set.N(), own)
		if err != nil {
			return nil, err
		}
		if all, err = all.Restrict(rows); err != nil {
			return nil, err
		}
		out[k] = piece{rows, all}
	}
	return out, nil
}

// unlinked returns the rows without links. It makes no list of the pairs of chunklets.
func unlinked(set *links.Set) (rows []int) {
	linked, of, size := make([]bool, set.N()), set.Components(), make([]int, set.N())
	for _, c := range of {
		size[c]++
	}
	for _, l := range set.Cannot() {
		linked[l.I], linked[l.J] = true, true
	}
	for i, is := range linked {
		if !is && size[of[i]] == 1 {
			rows = append(rows, i)
		}
	}
	return rows
}

// share returns part k of a list.
func share[T any](list []T, k, count int) []T {
	return list[len(list)*k/count : len(list)*(k+1)/count]
}

// sample is the number of points from which the directions of the embedding come.
const sample = 4000

// axes returns the principal directions of the coordinates of all parts, one column for each.
func (p Params) axes(ctx context.Context, f *learner.Fit, parts []*fitted.Map) (blas.Matrix, error) {
	some, total := f.X.Select(sampling.Some(f.X.Len(), sample, f.Seed)), 0
	for _, m := range parts {
		total += m.Dim()
	}
	need := engine.MatrixBytes(some.Len(), total) + 2*engine.MatrixBytes(total, total)
	if err := f.Eng.Check(fmt.Sprintf("directions of %d coordinates of %d parts", total, len(parts)), need,
		"use larger parts or fewer dims"); err != nil {
		return blas.Matrix{}, err
	}
	y, first := f.Eng.NewMatrix(some.Len(), total), 0
	for _, m := range parts {
		own, err := m.Embed(ctx, f.Eng, some)
		if err != nil {
			return y, err
		}
		for i := range own.Rows {
			copy(y.Row(i)[first:], own.Row(i))
		}
		first += own.Cols
	}
	linear.Center(y)
	b := f.Eng.Backend()
	covariance := f.Eng.NewMatrix(total, total)
	b.Syrk(true, 1, y, 0, covariance)
	w, v, err := f.Eng.SymEigTop(ctx, covariance, p.Dims)
	if err != nil {
		return y, err
	}
	d := len(w)
	for d > 0 && !(w[d-1] > 1e-12*w[0]) {
		d--
	}
	if d == 0 {
		return y, fault.Data("", "the coordinates of the parts do not vary: want points that differ")
	}
	axes, root := blas.NewMatrix(total, d), 1/math.Sqrt(float64(len(parts)))
	for r := range d {
		for c, x := range v.Row(r) {
			axes.Set(c, r, root*x)
		}
	}
	return axes, ctx.Err()
}

// about is the headers of the parts' own models, in the header.
type about struct {
	Parts []model.Header `json:"parts"`
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	var head about
	files := make([]model.File, len(m.parts))
	for k, part := range m.parts {
		var err error
		if files[k], err = fitted.MemberFile(part); err != nil {
			return err
		}
		head.Parts = append(head.Parts, files[k].Header)
	}
	if err := m.EncodeWith(f, head); err != nil {
		return err
	}
	fitted.StoreMembers(f, Method, files)
	return nil
}

// Decode returns the model that [Model.Encode] stored. An unusable tensor or part of the header is
// a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	out := &Model{}
	var head about
	r, err := fitted.Decode[Params](Method, f, func(method string, f *model.File) (*fitted.Map, error) {
		if len(head.Parts) == 0 {
			return nil, fitted.InHeader(fault.Data("", "it has no parts: want at least one"))
		}
		var all []*fitted.Map
		for k, header := range head.Parts {
			part, err := read(f, k, header)
			if err != nil {
				return nil, fmt.Errorf("part %d: %w", k, err)
			}
			out.parts = append(out.parts, part)
			all = append(all, part.(fitted.Member).Parent())
		}
		return fitted.ReadTurned(method, f, all)
	}, &head)
	out.Model = r
	return out, err
}

// read returns part k of the file.
func read(f *model.File, k int, header model.Header) (algorithms.Model, error) {
	kind, is := kinds()[header.Method]
	if !is {
		return nil, fitted.InHeader(fault.Data("", "method %q: want lleratio, krca or gml", header.Method))
	}
	return kind.decode(fitted.ReadMember(f, Method, k, header))
}
