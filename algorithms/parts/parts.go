// Package parts (internal: may change) learns a metric from many links: it divides the links,
// fits a method to each part, and takes the mean of the learned kernels.
//
// # Method
//
// A part has an equal share of the must-links and of the cannot-links, drawn at random, the points
// of these links, and a share of the points without links. The cost of the methods grows with the
// square or the cube of the linked points, so parts take much less time than the whole, and they
// are fitted side by side. The learned kernel is
//
//	k(x, y) = 1/P sum_p k_p(x, y)
//
// for P parts. With the coordinates f_p of the parts, y = A (f_1, ..., f_P) / sqrt(P), where A has
// the principal directions of a sample of the points.
//
// Averaging estimators of parts of the data is due to Zhang, Duchi & Wainwright, "Divide and
// conquer kernel ridge regression", JMLR 16, 2015. They show that it loses nothing as long as the
// parts are not too small.
package parts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/batch"
	"github.com/mustlink/mustlink/algorithms/gml"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Method is the name of this method in the catalog and in model files.
const Method = "parts"

// About describes the method.
var About = algorithms.About{
	Name: Method, Title: "Parts",
	Summary:         "lleratio, krca or gml from many links: fitted to parts of them, and averaged",
	Paper:           "Zhang, Duchi & Wainwright, Divide and conquer kernel ridge regression, JMLR 16, 2015",
	UsesCannotLinks: true, Pairwise: true,
}

// Params are the parameters of the method.
type Params struct {
	Base string `json:"base" param:"base" default:"lleratio" choices:"lleratio,krca,gml" help:"method that learns from each part"`
	Size int    `json:"size" param:"size" default:"1800" range:">= 10" help:"number of links in a part, at most"`
	Dims int    `json:"dims" param:"dims" default:"25" range:">= 1" help:"maximum number of columns of the embedding, and of each part's"`
}

// Rules describes the method and the input that it requires.
func (Params) Rules() learner.Rules {
	return learner.Rules{About: About, Needs: learner.AnyLinks, Pairs: true}
}

// kind is a method that can learn from a part.
type kind struct {
	new    func(dims, points int, c algorithms.Common) algorithms.Learner
	decode func(f *model.File) (algorithms.Model, error)
}

// kinds returns the methods by name.
func kinds() map[string]kind {
	return map[string]kind{
		// a small part has fewer directions than dims
		lleratio.Method: {func(_, points int, c algorithms.Common) algorithms.Learner {
			own := lleratio.DefaultParams()
			own.Neighbors = max(1, min(own.Neighbors, points-1))
			return learner.New(own, c)
		}, fitted.Decoder(lleratio.Decode)},
		krca.Method: {func(dims, _ int, c algorithms.Common) algorithms.Learner {
			own := krca.DefaultParams()
			own.Dims = dims
			return learner.New(own, c)
		}, fitted.Decoder(krca.Decode)},
		gml.Method: {func(dims, _ int, c algorithms.Common) algorithms.Learner {
			own := gml.DefaultParams()
			own.Dims = dims
			return learner.New(own, c)
		}, fitted.Decoder(gml.Decode)},
	}
}

// manyRows is the number of linked rows that a base method takes whole. The time of lleratio grows
// with their cube, and its memory with their square.
const manyRows = 20000

// Suits reports whether a method should learn from links in parts: it can be a base, and there are
// more than 20,000 linked rows, but no more than ten links for each row.
func Suits(method string, set *links.Set) bool {
	if _, is := kinds()[method]; !is || set.N() <= manyRows || set.Len() > 10*set.N() {
		return false
	}
	return set.N()-len(unlinked(set)) > manyRows
}

// Learn fits the parts and averages them.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	if _, is := f.X.(*points.Gram); is {
		return nil, fault.Data("",
			"parts divides the points, which the columns of a Gram matrix do not allow: want vectors or "+
				"sequences")
	}
	pieces, err := divide(f.Links, (f.Links.Len()+p.Size-1)/p.Size, f.Seed)
	if err != nil {
		return nil, err
	}
	if len(pieces) > 1 {
		f.Notices = append(f.Notices,
			fmt.Sprintf("%d links: %s learned from each of %d parts of them, and the metric is the mean",
				f.Links.Len(), p.Base, len(pieces)))
	}
	parts, err := p.fit(ctx, f, pieces)
	if err != nil {
		return nil, err
	}
	all := make([]*fitted.Map, len(parts))
	for k, part := range parts {
		all[k] = part.(fitted.Member).Parent()
		all[k].Project() // the mean of parts is made of coordinates
	}
	axes, err := p.axes(ctx, f, all)
	if err != nil {
		return nil, err
	}
	return &Model{fitted.New(fitted.Turned(Method, all, axes), p, f.Status(status(f, parts))), parts}, nil
}

// fit fits the parts side by side: as many at a time as there are workers, or fewer if that exceeds
// the memory limit. The result does not depend on their number.
func (p Params) fit(ctx context.Context, f *learner.Fit, pieces []piece) ([]algorithms.Model, error) {
	for parallel := min(len(pieces), f.Eng.Workers()); ; {
		out, err := p.fitSome(ctx, f, pieces, parallel)
		var memory *fault.MemoryError
		if !errors.As(err, &memory) {
			return out, err
		}
		if parallel == 1 {
			return nil, p.smaller(memory, (f.Links.Len()+len(pieces)-1)/len(pieces))
		}
		parallel = max(1, min(parallel-1, int(f.Eng.MemoryLimit()/memory.Need)))
	}
}

// smaller returns the error of a part of some links that exceeds the memory limit, with the largest
// size for which this request does not: its matrices have a row and a column for each linked point.
func (p Params) smaller(e *fault.MemoryError, links int) error {
	own := *e
	own.What = fmt.Sprintf("a part of %d links: %s", links, e.What)
	own.Hint = "raise the memory limit"
	p.Size = int(float64(links) * math.Sqrt(float64(e.Limit)/float64(e.Need)))
	if fitted.Validate(p) == nil {
		own.Hint = fmt.Sprintf("use size=%d or less, or raise the memory limit", p.Size)
	}
	return &own
}

// fitSome is fit for a given number of parts at a time.
func (p Params) fitSome(ctx context.Context, f *learner.Fit, pieces []piece,
	parallel int) ([]algorithms.Model, error) {
	var out []algorithms.Model
	o := batch.Options{Parallel: parallel, Large: math.MaxInt}
	f.Report(algorithms.Progress{Stage: "parts", Total: len(pieces)})
	results, err := batch.Fit(ctx, f.Eng, func(yield func(batch.Job) bool) {
		for _, piece := range pieces {
			learner := kinds()[p.Base].new(p.Dims, len(piece.rows),
				algorithms.Common{Kernel: f.Kernel, Seed: f.Seed})
			if !yield(batch.Job{Learner: learner, Points: f.X.Select(piece.rows), Links: piece.links}) {
				return
			}
		}
	}, o)
	if err != nil {
		return nil, err
	}
	for r := range results {
		if r.Err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", r.Index, len(pieces), r.Err)
		}
		out = append(out, r.Model)
		f.Report(algorithms.Progress{Stage: "parts", Done: len(out), Total: len(pieces)})
	}
	return out, ctx.Err()
}

// status returns what the parts say together, and passes on the notices of the first one.
func status(f *learner.Fit, parts []algorithms.Model) algorithms.Status {
	all := algorithms.Status{Converged: true}
	for k, m := range parts {
		s := m.Status()
		all.Converged = all.Converged && s.Converged
		all.Iterations += s.Iterations
		if s.Message != "" && all.Message == "" {
			all.Message = fmt.Sprintf("part %d: %s", k, s.Message)
		}
	}
	for _, n := range parts[0].Status().Notices {
		f.Notices = append(f.Notices, "part 0: "+n)
	}
	return all
}

// Model is a fitted metric. It is immutable and safe for concurrent use. A point costs what it
// costs all parts. Distances and Gram are those of the embedding.
type Model struct {
	*fitted.Model[Params]
	parts []algorithms.Model
}

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	return []algorithms.Statistic{
		{Name: "method of the parts", Value: m.Params().Base},
		{Name: "parts", Value: len(m.parts)},
		{Name: "dimensions", Value: m.Dim()},
	}
}

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
