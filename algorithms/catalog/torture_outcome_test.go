package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// patience is what a fit on some dozens of points has: one that takes longer hangs.
const patience = 60 * time.Second

// verdict is what came of an input.
type verdict struct {
	model   algorithms.Model
	refused error    // an error of the input that says what to change
	wrong   []string // what must not be
}

func (o *verdict) blame(format string, args ...any) {
	o.wrong = append(o.wrong, fmt.Sprintf(format, args...))
}

// try fits a method and holds the model to what its contract says.
func try(eng *engine.Engine, method catalog.Method, config catalog.Config, p ordeal) (o verdict) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stage := "fit"
	defer func() {
		if v := recover(); v != nil {
			text, _, _ := strings.Cut(fmt.Sprint(v), "\n")
			o.blame("%s: panic: %s", stage, text)
		}
	}()
	learner, err := method.New(config)
	if err != nil {
		o.blame("learner: %v", err)
		return o
	}
	m, err := learner.Fit(ctx, eng, p.x, p.set)
	if err != nil {
		o.refused = err
		o.check("fit", err)
		return o
	}
	o.model = m
	o.status(m)
	use := &inUse{verdict: &o, ctx: ctx, eng: eng, model: m, x: p.x,
		indefinite: strings.HasPrefix(config.Kernel, "sigmoid")}
	for _, step := range []struct {
		name string
		run  func()
	}{{"embedding", use.embedding}, {"kernel", use.kernel}, {"distances", use.distances},
		{"other points", use.strangers}, {"file", use.file}} {
		stage = step.name
		step.run()
	}
	return o
}

// advice are words of which a message holds one that says what to do.
var advice = []string{"want", "use ", "raise", "give "}

// check accepts only an input error that names what to change.
func (o *verdict) check(stage string, err error) {
	switch {
	case !fault.IsInput(err):
		o.blame("%s: error %v is none of the input", stage, err)
	case !slices.ContainsFunc(advice, func(word string) bool { return strings.Contains(err.Error(), word) }):
		o.blame("%s: error %q does not say what to change", stage, err)
	}
}

// status demands a trace that ends no worse than it begins, finite, and a word on fits that did not
// converge.
func (o *verdict) status(m algorithms.Model) {
	s := m.Status()
	if !s.Converged && s.Message == "" {
		o.blame("a fit that did not converge has nothing to say")
	}
	if m.Dim() < 1 {
		o.blame("%d dimensions", m.Dim())
	}
	if text, err := json.Marshal(figures(m)); err != nil {
		o.blame("figures %s: %v", text, err)
	}
	traced, ok := m.(algorithms.Trace)
	if !ok {
		return
	}
	trace := traced.Trace()
	for k, v := range trace {
		if v-v != 0 && !(m.Method() == "lleratio" && v > 0 && !math.IsNaN(v)) { // a ratio may have no bound
			o.blame("objective %d of %d is %v", k, len(trace), v)
			return
		}
	}
	first, last := trace[0], trace[len(trace)-1]
	if rises := slices.Contains([]string{"lleratio", "mmc", "mlkr", "nca"}, m.Method()); rises {
		first, last = -first, -last
	}
	slack := 1e-9
	if m.Method() == "gml" {
		slack = 5 * 1e-3 // its tolerance, which a round may lose
	}
	if last > first+slack*max(1, math.Abs(first)) {
		o.blame("the objective goes from %g to %g", trace[0], trace[len(trace)-1])
	}
}

func figures(m algorithms.Model) []algorithms.Statistic {
	if d, ok := m.(algorithms.Describer); ok {
		return d.Describe()
	}
	return nil
}

// inUse is a model with the points that it was fitted on.
type inUse struct {
	*verdict
	ctx   context.Context
	eng   *engine.Engine
	model algorithms.Model
	x     points.Points

	y, g blas.Matrix
	// indefinite is true for a kernel that has negative eigenvalues, which methods may cut off.
	indefinite bool
}

// embedding demands finite places, those of equal rows equal, and the same bits in another batch.
func (u *inUse) embedding() {
	n := u.x.Len()
	y, err := u.model.Embed(u.ctx, u.eng, u.x)
	if err != nil {
		u.check("embedding of the training points", err)
		return
	}
	u.y = y
	if y.Rows != n || y.Cols != u.model.Dim() {
		u.blame("%d x %d places: want %d x %d", y.Rows, y.Cols, n, u.model.Dim())
		return
	}
	for i := range n {
		for _, v := range y.Row(i) {
			if v-v != 0 {
				u.blame("place %d is %.3g", i, y.Row(i))
				return
			}
		}
	}
	// sums of OpenBLAS depend on where a row stands, and bits are promised for other builds
	if backends.Default() == "netlib" {
		return
	}
	rows := []int{n - 1, n / 2, 0}
	part, err := u.model.Embed(u.ctx, u.eng, u.x.Select(rows))
	if err != nil {
		u.blame("embedding of three points: %v", err)
		return
	}
	for k, i := range rows {
		if !slices.Equal(part.Row(k), y.Row(i)) {
			u.blame("place %d is %.17g, and %.17g among fewer points", i, y.Row(i), part.Row(k))
			return
		}
	}
	for _, p := range equals(u.x) {
		if !slices.Equal(y.Row(p[0]), y.Row(p[1])) {
			u.blame("equal points %d and %d are at %.17g and %.17g", p[0], p[1], y.Row(p[0]), y.Row(p[1]))
			return
		}
	}
}

// equals returns pairs of equal rows.
func equals(x points.Points) (out [][2]int) {
	dense, ok := x.(*points.Dense)
	if !ok {
		return nil
	}
	for i := range dense.N {
		for j := range i {
			if slices.Equal(dense.Row(i), dense.Row(j)) {
				out = append(out, [2]int{j, i})
			}
		}
	}
	return out
}

// kernel demands a symmetric, positive semidefinite matrix.
func (u *inUse) kernel() {
	g, err := u.model.Gram(u.ctx, u.eng, u.x, nil)
	if err != nil {
		u.check("kernel of the training points", err)
		return
	}
	u.g = g
	n, largest := u.x.Len(), 0.0
	for i := range n {
		largest = max(largest, g.At(i, i))
		for j := range n {
			if v := g.At(i, j); v-v != 0 || v != g.At(j, i) {
				u.blame("kernel values (%d, %d) and (%d, %d) are %v and %v", i, j, j, i, v, g.At(j, i))
				return
			}
		}
	}
	if largest == 0 {
		return
	}
	a, w := g.Clone(), make([]float64, n)
	u.eng.Backend().Kernels().Scale(1/largest, a.Data)
	if err := u.eng.SymEig(u.ctx, a, w, false); err != nil {
		u.blame("eigenvalues of the kernel matrix: %v", err)
	} else if w[0] < -1e-12*float64(n)-u.rounding()/largest && !u.indefinite {
		u.blame("the kernel matrix has the eigenvalue %g, the largest element is 1", w[0])
	}
}

// rounding returns that of learned kernel values which are what subtraction leaves of larger ones:
// those of krca, of kernel values over eps.
func (u *inUse) rounding() float64 {
	m, ok := u.model.(*krca.Model)
	if !ok {
		return 0
	}
	diagonal, err := m.Kernel().Diagonal(u.ctx, u.eng, u.x)
	if err != nil {
		u.blame("diagonal: %v", err)
		return 0
	}
	return 1e-12 * slices.Max(diagonal) / m.Eps()
}

// distances demands those of the kernel and, where it is the whole metric, of the places. Those of
// raw are exact where its places are not.
func (u *inUse) distances() {
	n := u.x.Len()
	var pairs [][2]int
	for i := range n {
		for j := range min(i+1, 12) {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	d, err := u.model.Distances(u.ctx, u.eng, u.x, pairs)
	if err != nil {
		u.check("distances of the training points", err)
		return
	}
	p, is := u.model.(algorithms.Projection)
	whole := !slices.Contains([]string{"kbeta", "raw"}, u.model.Method()) && !(is && p.Projected())
	for k, p := range pairs {
		i, j := p[0], p[1]
		switch {
		case d[k]-d[k] != 0 || d[k] < 0 || i == j && d[k] != 0:
			u.blame("squared distance of %d and %d is %v", i, j, d[k])
			return
		case u.g.Rows == n && !u.indefinite && u.model.Method() != "raw" &&
			!(math.Abs(d[k]-(u.g.At(i, i)+u.g.At(j,
				j)-2*u.g.At(i, j))) <= 1e-9*(u.g.At(i, i)+u.g.At(j, j))+u.rounding()):
			u.blame("squared distance of %d and %d is %g, by the kernel %g + %g - 2 %g", i, j, d[k],
				u.g.At(i, i), u.g.At(j, j), u.g.At(i, j))
			return
		case whole && u.y.Rows == n &&
			!(math.Abs(d[k]-points.SquaredDistance(u.y.Row(i), u.y.Row(j))) <= 1e-9*d[k]):
			u.blame("squared distance of %d and %d is %g, by their places %g", i, j, d[k],
				points.SquaredDistance(u.y.Row(i), u.y.Row(j)))
			return
		}
	}
}

// strangers embeds points that are nothing like those that were learned from: finite places, or an
// error that says why.
func (u *inUse) strangers() {
	dense, ok := u.x.(*points.Dense)
	if !ok {
		return
	}
	for _, v := range []float64{0, 5e-324, -1e-300, 1e12, -1e77, 1e154, 1e300, math.MaxFloat64} {
		other := dense.Select([]int{0, min(1, dense.N-1)}).(*points.Dense)
		other.Row(1)[dense.D-1] = v
		y, err := u.model.Embed(u.ctx, u.eng, other)
		if err != nil {
			u.check(fmt.Sprintf("embedding of a point at %g", v), err)
			continue
		}
		for _, place := range y.Data {
			if place-place != 0 {
				u.blame("place of a point at %g is %.3g", v, y.Row(1))
				break
			}
		}
		g, err := u.model.Gram(u.ctx, u.eng, other, nil)
		if err != nil {
			u.check(fmt.Sprintf("kernel value of a point at %g", v), err)
			continue
		}
		for _, value := range g.Data {
			if value-value != 0 {
				u.blame("kernel values of a point at %g are %v", v, g.Data)
				break
			}
		}
		d, err := u.model.Distances(u.ctx, u.eng, other, [][2]int{{0, 1}})
		if err != nil {
			u.check(fmt.Sprintf("distance of a point at %g", v), err)
		} else if d[0]-d[0] != 0 || d[0] < 0 {
			u.blame("squared distance of a point at %g is %v", v, d[0])
		}
	}
}

// file demands that the model survives being stored, with every bit.
func (u *inUse) file() {
	f, err := catalog.Encode(&catalog.Fitted{Model: u.model})
	if err != nil {
		u.blame("encoding: %v", err)
		return
	}
	back, err := catalog.Decode(f)
	if err != nil {
		u.blame("decoding: %v", err)
		return
	}
	y, err := back.Model.Embed(u.ctx, u.eng, u.x)
	if err != nil {
		u.check("embedding by the stored model", err)
	} else if u.y.Rows > 0 && !slices.Equal(y.Data, u.y.Data) {
		u.blame("the stored model has other places")
	}
}
