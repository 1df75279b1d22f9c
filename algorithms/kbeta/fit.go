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
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	// Kernel may contain bandwidth rules, which are resolved on the training points. The zero Spec
	// means DefaultKernel, linear for a Gram matrix, and spectrum:k=3 for sequences.
	Kernel kernel.Spec
	Params Params
	// Seed chooses the landmarks.
	Seed     uint64
	Progress algorithms.ProgressFunc
}

// New returns the learner with these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Kernel: c.Kernel, Params: p, Seed: c.Seed, Progress: c.Progress}
}

// Method returns "kbeta".
func (Learner) Method() string { return Method }

// Among returns the learner for the points of these rows, whose landmarks are those of l among
// them, and not more than there are points. If the rows have none of the landmarks, the error is a
// *fault.DataError.
func (l Learner) Among(rows []int) (algorithms.Learner, error) {
	l.Params.Landmarks = min(l.Params.Landmarks, len(rows))
	given := l.Params.LandmarkRows
	if given == nil {
		return l, nil
	}
	l.Params.LandmarkRows = nil
	for _, i := range given {
		if k, is := slices.BinarySearch(rows, i); is {
			l.Params.LandmarkRows = append(l.Params.LandmarkRows, k)
		}
	}
	if l.Params.LandmarkRows == nil {
		return nil, fault.Data("", "kbeta: none of the %d landmarks is among these %d points: want at least one "+
			"there", len(given), len(rows))
	}
	return l, nil
}

// Fit learns from the must-links of l on the points x, and from cannot-links if Params.Cannot says
// so. The result has the type *[Model].
//
// Cost for m landmarks and q directions: m^2 kernel values, q eigenpairs of order m, and O(q) for
// each link, in addition to the choice of landmarks and of the bandwidth.
//
// Errors are those of [learner.Learner.Fit]. No must-links, as many neighbors as landmarks,
// landmarks that do not exist, and points that all coincide are errors, too.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	f := l.begin(eng, x, set)
	return f.Run(ctx, l.Params, func() (algorithms.Model, error) { return l.learn(ctx, f) })
}

// begin returns a fit whose input is not checked yet.
func (l Learner) begin(eng *engine.Engine, x points.Points, set *links.Set) *learner.Fit {
	common := algorithms.Common{Kernel: l.Kernel, Seed: l.Seed, Progress: l.Progress}
	return learner.Begin(learner.Rules{About: About, Pairs: true}, common, eng, x, set)
}

func (l Learner) learn(ctx context.Context, f *learner.Fit) (*Model, error) {
	if err := checkLinks(f.Links); err != nil {
		return nil, err
	}
	stage := f.Stages(4)
	stage("bandwidth")
	k, err := l.kernel(ctx, f.Eng, f.X)
	if err != nil {
		return nil, err
	}
	stage("landmarks")
	chosen, notices, err := l.landmarks(ctx, f.Eng, landmarks.OfKernel(f.Eng, k, f.X), f.Links)
	if err != nil {
		return nil, err
	}
	m := &metric{params: l.Params, kernel: k, rows: chosen}
	return m.fit(ctx, f, f.X.Select(chosen), notices, stage)
}

// fit learns from the landmarks x and the links, and returns the model with these notices and its
// own.
func (m *metric) fit(ctx context.Context, f *learner.Fit, x points.Points, notices []string, stage func(string)) (*Model, error) {
	if m.params.Neighbors >= x.Len() && m.params.Extension == Reconstruction {
		return nil, &fault.ParamError{Param: "neighbors", Value: m.params.Neighbors, Want: fmt.Sprintf("a number below %d, the number of landmarks", x.Len())}
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
		return fault.Data("", "kbeta learns from must-links: want at least one, got none (%d cannot-links)", cannot)
	}
	return nil
}

func (l Learner) kernel(ctx context.Context, eng *engine.Engine, x points.Points) (kernel.Kernel, error) {
	return input.Kernel(ctx, eng, l.Kernel, x, DefaultKernel)
}

// landmarks returns the rows of the landmarks, ascending, and notices about them.
func (l Learner) landmarks(ctx context.Context, eng *engine.Engine, src landmarks.Source, set *links.Set) ([]int, []string, error) {
	n := src.Len()
	var notices []string
	linked := make([]bool, n)
	for _, link := range set.Must() {
		linked[link.I], linked[link.J] = true, true
	}
	cannot := set.Cannot()
	if l.Params.Cannot == 0 && len(cannot) > 0 {
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
	count := l.Params.Landmarks
	if rows := l.Params.LandmarkRows; rows != nil {
		added := len(given)
		for place, i := range rows {
			switch {
			case i < 0 || i >= n:
				return nil, nil, &fault.DataError{Row: place, Err: fmt.Errorf("landmark %d does not exist: want 0 to %d", i, n-1)}
			case linked[i]:
				added--
			default:
				linked[i] = true
				given = append(given, i)
			}
		}
		if added > 0 {
			notices = append(notices, fmt.Sprintf("%d linked points are landmarks in addition to the given ones", added))
		}
		count = len(given)
	}
	switch {
	case count == 0 || count > n && l.Params.LandmarkRows == nil && l.Params.Landmarks == n:
		count = n
	case count > n:
		return nil, nil, &fault.ParamError{Param: "landmarks", Value: count, Want: fmt.Sprintf("a number from 0 to %d, the number of points", n)}
	case count < len(given):
		notices = append(notices, fmt.Sprintf("landmarks raised from %d to %d, the number of linked points", count, len(given)))
		count = len(given)
	}
	rule := l.Params.Rule
	if rule == "" {
		rule = landmarks.Uniform
	}
	chosen, err := landmarks.Select(ctx, eng, rule, src, count, given, l.Seed)
	if err != nil {
		return nil, nil, err
	}
	chosen = slices.Clone(chosen)
	slices.Sort(chosen)
	return chosen, notices, nil
}

// ignored returns the notice that cannot-links are ignored.
func ignored(count int) string {
	return fmt.Sprintf("kbeta uses must-links only: %d cannot-links ignored (set cannot > 0 to use them)", count)
}

var _ algorithms.RowsLearner = Learner{}

// Rows returns the rows of the landmarks, which include the points of links. Params.Rule must be
// uniform, unless Params.LandmarkRows fixes all landmarks.
func (l Learner) Rows(set *links.Set) ([]int, error) {
	rows, _, err := l.looked(set)
	return rows, err
}

// looked returns the landmarks, chosen without their points, and notices about them.
func (l Learner) looked(set *links.Set) ([]int, []string, error) {
	if err := l.Params.Validate(); err != nil {
		return nil, nil, err
	}
	if err := checkLinks(set); err != nil {
		return nil, nil, err
	}
	if rule := l.Params.Rule; rule != "" && rule != landmarks.Uniform && l.Params.LandmarkRows == nil {
		return nil, nil, &fault.ParamError{Param: "rule", Value: rule, Want: landmarks.Uniform + ", or the rows of the landmarks (the other rules require all points)"}
	}
	return l.landmarks(context.Background(), nil, absent(set.N()), set)
}

// FitRows is [Learner.Fit] on set.N() points of which x has only those of [Learner.Rows], in that
// order.
func (l Learner) FitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fitRows(ctx, eng, x, set)
	return fitted.Result(ctx, Method+": fit", m, err)
}

func (l Learner) fitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	f := l.begin(eng, x, set)
	chosen, notices, err := l.looked(set)
	if err != nil {
		return nil, err
	}
	if err := input.Rows(x, len(chosen), l.Kernel, DefaultKernel); err != nil {
		return nil, err
	}
	k, err := l.kernel(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	m := &metric{params: l.Params, kernel: k, rows: chosen}
	return m.fit(ctx, f, x, notices, f.Stages(2))
}

// absent is a number of points that are not available, for landmark rules that do not read points.
type absent int

var _ landmarks.Source = absent(0)

func (n absent) Len() int { return int(n) }

func (n absent) Diagonal(context.Context) ([]float64, error) { return nil, n.err() }

func (n absent) Columns(context.Context, []int, int, int, blas.Matrix) error { return n.err() }

func (n absent) err() error {
	return fmt.Errorf("kbeta: %d points are not available: want a landmark rule that does not read points", int(n))
}
