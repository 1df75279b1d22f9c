package kbeta

import (
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

// Learner fits the method from the must-links, and from cannot-links if Params.Cannot says so. The
// zero value does not work: Params come from [DefaultParams]. The result has the type *[Model].
//
// The zero Kernel means DefaultKernel, linear for a Gram matrix, and spectrum:k=3 for sequences.
// The seed chooses the landmarks.
//
// Cost for m landmarks and q directions: m^2 kernel values, q eigenpairs of order m, and O(q) for
// each link, in addition to the choice of landmarks and of the bandwidth.
//
// Errors are those of [learner.Learner.Fit]. No must-links, as many neighbors as landmarks,
// landmarks that do not exist, and points that all coincide are errors, too.
type Learner = learner.Learner[Params]

// Rules describes the method and the input that it requires.
func (Params) Rules() learner.Rules { return learner.Rules{About: About, Pairs: true} }

// Among returns the parameters for the points of these rows, whose landmarks are those of p among
// them, and not more than there are points. If the rows have none of the landmarks, the error is a
// *fault.DataError.
func (p Params) Among(rows []int) (Params, error) {
	p.Landmarks = min(p.Landmarks, len(rows))
	given := p.LandmarkRows
	if given == nil {
		return p, nil
	}
	p.LandmarkRows = nil
	for _, i := range given {
		if k, is := slices.BinarySearch(rows, i); is {
			p.LandmarkRows = append(p.LandmarkRows, k)
		}
	}
	if p.LandmarkRows == nil {
		return p, fault.Data("",
			"kbeta: none of the %d landmarks is among these %d points: want at least one "+
				"there", len(given), len(rows))
	}
	return p, nil
}

// Learn chooses the landmarks and learns from them and the links.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	return p.learn(ctx, f)
}

func (p Params) learn(ctx context.Context, f *learner.Fit) (*Model, error) {
	if err := checkLinks(f.Links); err != nil {
		return nil, err
	}
	stage := f.Stages(4)
	stage("bandwidth")
	k, err := input.Kernel(ctx, f.Eng, f.Kernel, f.X, DefaultKernel)
	if err != nil {
		return nil, err
	}
	stage("landmarks")
	chosen, notices, err := p.landmarks(ctx, f, landmarks.OfKernel(f.Eng, k, f.X))
	if err != nil {
		return nil, err
	}
	m := &metric{params: p, kernel: k, rows: chosen}
	return m.fit(ctx, f, f.X.Select(chosen), notices, stage)
}

// fit learns from the landmarks x and the links, and returns the model with these notices and its
// own.
func (m *metric) fit(ctx context.Context, f *learner.Fit, x points.Points, notices []string,
	stage func(string)) (*Model, error) {
	if m.params.Neighbors >= x.Len() && m.params.Extension == Reconstruction {
		return nil, fault.Param("neighbors", m.params.Neighbors,
			"a number below %d, the number of landmarks", x.Len())
	}
	stage("eigenvectors")
	m.support = fitted.StripPoints(x)
	if err := m.decompose(ctx, f.Eng, x); err != nil {
		return nil, err
	}
	stage("weights")
	f.Notices = append(notices, m.learn(f.Links)...)
	stage("done")
	return m.model(f.Direct()), ctx.Err()
}

func checkLinks(set *links.Set) error {
	if must, cannot := set.Count(); must == 0 {
		return fault.Data("", "kbeta learns from must-links: want at least one, got none (%d cannot-links)",
			cannot)
	}
	return nil
}

// landmarks returns the rows of the landmarks, ascending, and notices about them.
func (p Params) landmarks(ctx context.Context, f *learner.Fit,
	src landmarks.Source) ([]int, []string, error) {
	n := src.Len()
	var notices []string
	linked := make([]bool, n)
	for _, link := range f.Links.Must() {
		linked[link.I], linked[link.J] = true, true
	}
	cannot := f.Links.Cannot()
	if p.Cannot == 0 && len(cannot) > 0 {
		notices = append(notices, ignored(len(cannot)))
	} else {
		for _, link := range cannot {
			linked[link.I], linked[link.J] = true, true
		}
	}
	var given []int
	for i, is := range linked {
		if is {
			given = append(given, i)
		}
	}
	count := p.Landmarks
	if rows := p.LandmarkRows; rows != nil {
		added := len(given)
		for place, i := range rows {
			switch {
			case i < 0 || i >= n:
				return nil, nil, fault.Row(place, "landmark %d does not exist: want 0 to %d", i, n-1)
			case linked[i]:
				added--
			default:
				linked[i] = true
				given = append(given, i)
			}
		}
		if added > 0 {
			notices = append(notices,
				fmt.Sprintf("%d linked points are landmarks in addition to the given ones", added))
		}
		count = len(given)
	}
	switch {
	case count == 0 || count > n && p.LandmarkRows == nil && p.Landmarks == n:
		count = n
	case count > n:
		return nil, nil, fault.Param("landmarks", count, "a number from 0 to %d, the number of points", n)
	case count < len(given):
		notices = append(notices,
			fmt.Sprintf("landmarks raised from %d to %d, the number of linked points", count, len(given)))
		count = len(given)
	}
	rule := p.Rule
	if rule == "" {
		rule = landmarks.Uniform
	}
	chosen, err := landmarks.Select(ctx, f.Eng, rule, src, count, given, f.Seed)
	if err != nil {
		return nil, nil, err
	}
	chosen = slices.Clone(chosen)
	slices.Sort(chosen)
	return chosen, notices, nil
}

// ignored returns the notice that cannot-links are ignored.
func ignored(count int) string {
	return fmt.Sprintf("kbeta uses must-links only: %s ignored (set cannot > 0 to use them)",
		fault.Count(count, "cannot-link"))
}

// RowsOf returns the rows of the landmarks, which include the points of links. p.Rule must be
// uniform, unless p.LandmarkRows fixes all landmarks.
func (p Params) RowsOf(set *links.Set, seed uint64) ([]int, error) {
	rows, _, err := p.looked(&learner.Fit{Links: set, Common: algorithms.Common{Seed: seed}})
	return rows, err
}

// looked returns the landmarks, chosen without their points, and notices about them.
func (p Params) looked(f *learner.Fit) ([]int, []string, error) {
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	if err := checkLinks(f.Links); err != nil {
		return nil, nil, err
	}
	if rule := p.Rule; rule != "" && rule != landmarks.Uniform && p.LandmarkRows == nil {
		return nil, nil, &fault.ParamError{Param: "rule", Value: rule, Want: landmarks.Uniform +
			", or the rows of the landmarks (the other rules require all points)"}
	}
	return p.landmarks(context.Background(), f, absent(f.Links.N()))
}

// LearnRows is Learn on f.Links.N() points of which f.X has only those of [Params.RowsOf], in that
// order.
func (p Params) LearnRows(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	chosen, notices, err := p.looked(f)
	if err != nil {
		return nil, err
	}
	if err := input.Rows(f.X, len(chosen), f.Kernel, DefaultKernel); err != nil {
		return nil, err
	}
	k, err := input.Kernel(ctx, f.Eng, f.Kernel, f.X, DefaultKernel)
	if err != nil {
		return nil, err
	}
	m := &metric{params: p, kernel: k, rows: chosen}
	return m.fit(ctx, f, f.X, notices, f.Stages(2))
}

// absent is a number of points that are not available, for landmark rules that do not read points.
type absent int

var _ landmarks.Source = absent(0)

func (n absent) Len() int { return int(n) }

func (n absent) Diagonal(context.Context) ([]float64, error) { return nil, n.err() }

func (n absent) Columns(context.Context, []int, int, int, blas.Matrix) error { return n.err() }

func (n absent) err() error {
	return fmt.Errorf("kbeta: %d points are not available: want a landmark rule that does not read points",
		int(n))
}

// Path fits the metrics of all reg_d on the same landmarks: eigenvectors and D do not depend on
// reg_d, only the weights beta do. It is immutable and safe for concurrent use.
type Path struct{ model *Model } // with the reg_d of the learner

var _ algorithms.Path = (*Path)(nil)

// PathValue returns reg_d.
func (p Params) PathValue() (name string, value float64) { return "reg_d", p.RegD }

// PathProjected returns false: coordinates have the distances of the path.
func (Params) PathProjected() bool { return false }

// LearnPath learns what fits of all reg_d share. It ignores reg_d of p. Errors and cost are those
// of Fit. The result has the type *[Path].
func (p Params) LearnPath(ctx context.Context, f *learner.Fit) (algorithms.Path, error) {
	p.RegD = DefaultParams().RegD
	var m *Model
	err := f.Check(ctx, p)
	if err == nil {
		m, err = p.learn(ctx, f)
	}
	if err != nil {
		return nil, input.Failed(ctx, Method+": path", err)
	}
	return &Path{m}, nil
}

// Model returns the model for one reg_d, bit-identical to a fit.
func (p *Path) Model(regD float64) (*Model, error) {
	m := p.model.again()
	m.params.RegD = regD
	if err := m.params.Validate(); err != nil {
		return nil, err
	}
	m.links, m.d = p.model.links, p.model.d
	m.settle()
	return m.model(p.model.Status()), nil
}

// Distances returns, for each value of reg_d, what Model.Distances returns after a fit, up to
// rounding. Coordinates are computed once for all values, except where iterations search for
// neighbors in the learned space, which differs. A value that [Params.Validate] refuses is a
// *fault.ParamError; other errors are those of [Model.Distances].
func (p *Path) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int,
	regD []float64) ([][]float64, error) {
	out, unit := make([][]float64, len(regD)), unweighted{metric: p.model.again()}
	for at, v := range regD {
		m, err := p.Model(v)
		if err != nil {
			return nil, err
		}
		embed := func(x points.Points) (blas.Matrix, error) { return m.all.Embed(ctx, eng, x) }
		if p.model.params.Extension == Nystrom || p.model.params.Iterations == 1 {
			embed = func(x points.Points) (blas.Matrix, error) { return unit.times(ctx, eng, x, m.beta) }
		}
		if out[at], err = m.all.DistancesBy(eng, x, pairs, embed); err != nil {
			return nil, input.Failed(ctx, Method+": path", err)
		}
	}
	return out, ctx.Err()
}

// unweighted is the coordinates of some points with all weights 1, computed on first use.
type unweighted struct {
	metric      *metric
	coordinates blas.Matrix
}

// times returns the coordinates of the points with other weights. The points must be the same in
// every call.
func (u *unweighted) times(ctx context.Context, eng *engine.Engine, x points.Points,
	beta []float64) (blas.Matrix, error) {
	if u.coordinates.Data == nil {
		u.metric.beta = slices.Repeat([]float64{1}, len(beta))
		u.metric.prepare()
		var err error
		if u.coordinates, err = u.metric.everywhere().Embed(ctx, eng, x); err != nil {
			return blas.Matrix{}, err
		}
	}
	out := u.coordinates.Clone()
	for i := range out.Rows {
		for r, v := range out.Row(i) {
			out.Set(i, r, beta[r]*v)
		}
	}
	return out, nil
}
