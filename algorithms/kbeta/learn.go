package kbeta

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// decompose computes the leading eigenpairs of the centered kernel matrix of the landmarks.
func (m *metric) decompose(ctx context.Context, eng *engine.Engine, x points.Points) error {
	count := x.Len()
	q := m.params.rank(count)
	need := engine.MatrixBytes(count, count)
	if need < math.MaxInt64/4 {
		need *= 3
	}
	if err := eng.Check(fmt.Sprintf("kbeta on %d landmarks", count), need,
		"use fewer landmarks or raise the memory limit"); err != nil {
		return err
	}
	k, err := m.kernel.GramScratch(ctx, eng, x)
	if err != nil {
		return err
	}
	defer eng.PutMatrix(k)
	if _, isGram := x.(*points.Gram); isGram {
		if m.between, err = squaredDistances(ctx, eng, k); err != nil {
			return err
		}
	}
	if m.means, err = kernel.Center(ctx, eng, k); err != nil {
		return err
	}
	mu, v, err := m.leading(ctx, eng, k, q)
	if err != nil {
		return err
	}
	q = len(mu)
	keep, least := 0, max(mu[0]*max(m.params.RankTol, float64(count)*0x1p-52), m.kernel.Noise(x))
	for keep < q && mu[keep] > least {
		keep++
	}
	if keep == 0 || !(mu[0] > float64(count)*0x1p-52*math.Abs(kernel.Mean(m.means))) {
		return fault.Data("",
			"the %d landmarks all have the same kernel values: want points that differ (another kernel, or "+
				"more landmarks)", count)
	}
	m.mu, m.v = mu[:keep], v.View(0, keep, 0, count)
	return nil
}

// leading returns the q largest eigenpairs of k, or fewer if all others are below the tolerance. It
// computes few first, because kernel matrices of many points often have only few relevant
// eigenvalues.
func (m *metric) leading(ctx context.Context, eng *engine.Engine, k blas.Matrix,
	q int) ([]float64, blas.Matrix, error) {
	const few, share = 32, 12 // from count/share eigenpairs on, a full decomposition is as fast
	for some := few; ; some *= 4 {
		all := some >= q || some > k.Rows/share
		if all {
			some = q
		}
		var (
			work = k
			mu   []float64
			v    blas.Matrix
			err  error
		)
		if !all {
			work = eng.GetMatrix(k.Rows, k.Cols)
			err = eng.Each(ctx, k.Rows, 64, func(i int) { copy(work.Row(i), k.Row(i)[:i+1]) })
		}
		if err == nil {
			mu, v, err = eng.SymEigTop(ctx, work, some)
		}
		if !all {
			eng.PutMatrix(work)
		}
		if err != nil || all || mu[some-1] <= m.params.RankTol*mu[0] {
			return mu, v, err
		}
	}
}

// squaredDistances returns the squared distances of the points of a kernel matrix.
func squaredDistances(ctx context.Context, eng *engine.Engine, k blas.Matrix) (blas.Matrix, error) {
	d := eng.UnclearedMatrix(k.Rows, k.Cols)
	return d, eng.Each(ctx, k.Rows, 64, func(i int) {
		to, self := d.Row(i), k.At(i, i)
		for j, v := range k.Row(i) {
			to[j] = max(0, self+k.At(j, j)-2*v)
		}
	})
}

// tiny bounds the squared difference of coordinates of unit vectors that differ only by rounding.
const tiny = 1e-26

// learn computes D and beta from the links between the landmarks, and returns notices.
func (m *metric) learn(set *links.Set) []string {
	m.links = set
	var notices []string
	m.d = m.spread(set.Must(), m.landmarkOf())
	zero := 0
	for r, v := range m.d {
		if v <= tiny { // two coordinates that differ only by rounding
			m.d[r] = 0
		}
		if v <= max(tiny, 1e-14*slices.Max(m.d)) {
			zero++
		}
	}
	switch {
	case slices.Max(m.d) == 0:
		notices = append(notices,
			"no must-link joins points that differ in the kept directions: all weights are equal")
	case zero > 0:
		notices = append(notices,
			fmt.Sprintf("%d of %d directions have the same values on both points of every must-link: their "+
				"weights are bounded by reg_d alone", zero, len(m.d)))
	}
	repeated := 0
	for r := 1; r < len(m.mu); r++ {
		if m.mu[r-1]-m.mu[r] < 1e-10*m.mu[0] {
			repeated++
		}
	}
	if repeated > 0 {
		notices = append(notices,
			fmt.Sprintf("%d eigenvalues of the kernel matrix equal the one before to 1e-10: the learned "+
				"kernel depends on the basis of their eigenvectors", repeated))
	}
	m.settle()
	return notices
}

// settle computes what depends on D.
func (m *metric) settle() {
	place := m.landmarkOf()
	m.beta = m.weights(m.wanted(m.links, place))
	m.far = m.farthest(m.links.Must(), place)
	m.prepare()
}

// again returns a metric with the same eigenvectors, without D and weights.
func (m *metric) again() *metric {
	return &metric{params: m.params, kernel: m.kernel, support: m.support, mu: m.mu, v: m.v, means: m.means,
		between: m.between, rows: m.rows}
}

// landmarkOf returns the map from rows to landmark numbers.
func (m *metric) landmarkOf() map[int]int {
	place := make(map[int]int, len(m.rows))
	for p, i := range m.rows {
		place[i] = p
	}
	return place
}

// weights returns beta, for e as wanted returns it.
func (m *metric) weights(e []float64) []float64 {
	regular := m.params.RegD * kernel.Mean(m.d)
	if most := slices.Max(m.d); most == 0 {
		regular = 1 // all directions are equal
	} else if slices.Min(m.d) <= max(tiny, 1e-14*most) {
		regular = max(regular, 1e-14*most) // with reg_d = 0
	}
	c, sum := 0.0, 0.0
	for r, mu := range m.mu {
		c += math.Sqrt(mu)
		sum += e[r] * e[r] / (m.d[r] + regular)
	}
	beta := make([]float64, len(m.mu))
	for r := range beta {
		beta[r] = c * e[r] / (m.d[r] + regular) / sum
	}
	return beta
}

// spread returns the mean of (v_r(i) - v_r(j))^2 over the links, by their weights. It stays on one
// core: some operations for each link and direction, where decompose has n^2 for each direction.
func (m *metric) spread(list []links.Link, place map[int]int) []float64 {
	d, total := make([]float64, len(m.mu)), 0.0
	ends := make([][2]int, len(list))
	for k, link := range list {
		total += weight(link)
		ends[k] = [2]int{place[link.I], place[link.J]}
	}
	for r := range d {
		v := m.v.Row(r)
		for k, link := range list {
			x := v[ends[k][0]] - v[ends[k][1]]
			d[r] += weight(link) / total * x * x
		}
	}
	return d
}

func weight(l links.Link) float64 {
	if l.Weight == 0 {
		return 1
	}
	return l.Weight
}

// wanted returns e_r, the contribution of each direction to the constraint.
func (m *metric) wanted(set *links.Set, place map[int]int) []float64 {
	e, t := slices.Repeat([]float64{1}, len(m.mu)), m.params.Cannot
	if t == 0 || len(set.Cannot()) == 0 {
		return e
	}
	apart := m.spread(set.Cannot(), place)
	if all := kernel.Mean(apart); all > 0 {
		for r, v := range apart {
			e[r] = 1 - t + t*math.Sqrt(v/all)
		}
	}
	return e
}

// distantMustLinks is the number of distant must-links that the model stores.
const distantMustLinks = 5

// DistantMustLink is a must-link whose points stay far from each other.
type DistantMustLink struct {
	I int `json:"i"` // rows of the training points
	J int `json:"j"`
	// Ratio is the squared learned distance relative to the mean of all pairs of landmarks.
	Ratio float64 `json:"ratio"`
}

// farthest returns the must-links whose points stay farthest from each other.
func (m *metric) farthest(list []links.Link, place map[int]int) []DistantMustLink {
	// The mean over pairs of different landmarks: eigenvectors are centered and of unit length.
	all := 0.0
	for _, b := range m.beta {
		all += 2 * b * b / float64(len(m.rows)-1)
	}
	far := make([]DistantMustLink, len(list))
	for p, link := range list {
		d, i, j := 0.0, place[link.I], place[link.J]
		for r, b := range m.beta {
			x := b * (m.v.At(r, i) - m.v.At(r, j))
			d += x * x
		}
		far[p] = DistantMustLink{link.I, link.J, d / all}
	}
	slices.SortStableFunc(far, func(a, b DistantMustLink) int { return cmp.Compare(b.Ratio, a.Ratio) })
	return slices.Clone(far[:min(len(far), distantMustLinks)])
}

// metric is the learned metric: the weights of the directions of landmarks. After settle it is
// immutable.
type metric struct {
	params  Params
	kernel  kernel.Kernel
	support points.Points // the landmarks
	mu      []float64     // eigenvalues of their centered kernel matrix, descending
	v       blas.Matrix   // q x m, their eigenvectors
	d, beta []float64     // D_rr and the weights
	means   []float64     // of the rows of the kernel matrix
	between blas.Matrix   // squared distances between the landmarks if they are rows of a Gram matrix
	far     []DistantMustLink
	rows    []int      // of the landmarks among the training points, ascending
	links   *links.Set // that the fit used; nil, like rows, if read from a file without them

	// Derived from the fields above.
	p         blas.Matrix // m x q, coordinates of the landmarks: V diag(beta)
	order     []int       // directions by weight, the largest first
	extension blas.Matrix // m x q, V diag(beta / mu)
	offset    []float64   // image of means under the map

	lock      sync.Mutex
	distances blas.Matrix // between landmarks, if they are few; computed on first use
}

// prepare computes the derived fields. It stays on one core, because it writes n q values, where
// decompose reads n^2 for each of the q directions.
func (m *metric) prepare() {
	count, q := m.support.Len(), len(m.mu)
	m.p, m.extension = blas.NewMatrix(count, q), blas.NewMatrix(count, q)
	m.offset, m.order = make([]float64, q), make([]int, q)
	scale := make([]float64, q)
	for r := range q {
		m.order[r], scale[r] = r, m.beta[r]/m.mu[r]
	}
	for i := range count {
		p, extension := m.p.Row(i), m.extension.Row(i)
		for r := range q {
			v := m.v.At(r, i)
			p[r], extension[r] = m.beta[r]*v, scale[r]*v
			m.offset[r] += scale[r] * v * m.means[i]
		}
	}
	slices.SortStableFunc(m.order, func(a, b int) int { return cmp.Compare(m.beta[b], m.beta[a]) })
}

// model returns the model of the metric.
func (m *metric) model(status algorithms.Status) *Model {
	dim := len(m.beta)
	if m.params.Dims > 0 {
		dim = min(m.params.Dims, dim)
	}
	return &Model{fitted.New(m.into(m.order[:dim]), m.params, status), m, m.everywhere()}
}

// everywhere returns the map into all directions, in their own order.
func (m *metric) everywhere() *fitted.Map {
	return m.into(points.UpTo(len(m.beta)))
}

// into returns the map into the given directions.
func (m *metric) into(directions []int) *fitted.Map {
	return fitted.Extended(Method, fitted.Table{Kernel: m.kernel, Support: m.support, Dim: len(directions)},
		extension{m, directions})
}

// extension is the map into some directions of a metric.
type extension struct {
	*metric
	directions []int
}

// Begin returns the function that writes the coordinates of points. Row i depends on point i alone.
func (e extension) Begin(ctx context.Context, eng *engine.Engine) (fitted.Block, error) {
	return func(x points.Points, to blas.Matrix) error {
		y := eng.GetMatrix(x.Len(), len(e.beta))
		defer eng.PutMatrix(y)
		if err := e.block(ctx, eng, x, y); err != nil {
			return err
		}
		return eng.Each(ctx, y.Rows, 1024, func(i int) {
			from, row := y.Row(i), to.Row(i)
			for c, r := range e.directions {
				row[c] = from[r]
			}
		})
	}, nil
}

// block writes the coordinates of x to y.
func (m *metric) block(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	if m.params.Extension == Nystrom {
		return m.nystrom(ctx, eng, x, y)
	}
	apart, err := m.apart(ctx, eng)
	if err != nil {
		return err
	}
	same, err := m.sameness(ctx, eng, x)
	if err != nil {
		return err
	}
	if err := m.rule(m.kernel, apart).Reconstruct(ctx, eng, x, m.support, m.p, same, y); err != nil {
		return err
	}
	if m.params.Iterations == 1 {
		return nil
	}
	learned := kernel.Rows(m.p)
	for range m.params.Iterations - 1 {
		now := kernel.Rows(y)
		next := eng.GetMatrix(y.Rows, y.Cols)
		err := m.rule(kernel.Linear(), m.learnedApart).Reconstruct(ctx, eng, now, learned, m.p, nil, next)
		if err == nil {
			y.CopyFrom(next)
		}
		eng.PutMatrix(next)
		if err != nil {
			return err
		}
	}
	return nil
}

// rule returns how points are reconstructed from landmarks with the given squared distances, in the
// feature space of k.
func (m *metric) rule(k kernel.Kernel, apart func(a, b int) float64) outofsample.BarycentricRule {
	return outofsample.BarycentricRule{Kernel: k, Neighbors: m.params.Neighbors, Reg: m.params.RegG,
		Apart: apart}
}

// sameness returns, for each point, the squared distance up to which a landmark differs from it
// only by rounding: a few units in the last place of the terms of its expansion.
func (m *metric) sameness(ctx context.Context, eng *engine.Engine, x points.Points) ([]float64, error) {
	self, err := m.kernel.Diagonal(ctx, eng, x)
	for i, v := range self {
		self[i] = 32 * 0x1p-52 * v
	}
	return self, err
}

// apartOrder is the number of landmarks up to which their distances are computed once.
const apartOrder = 2048

// apart returns the function of the squared distances between landmarks.
func (m *metric) apart(ctx context.Context, eng *engine.Engine) (func(a, b int) float64, error) {
	if m.between.Data != nil {
		return m.between.At, nil
	}
	if m.support.Len() > apartOrder {
		return m.kernel.Squared().Values(ctx, eng, m.support)
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.distances.Data == nil {
		d, err := m.kernel.SquaredDistances(ctx, eng, m.support)
		if err != nil {
			return nil, err
		}
		m.distances = d
	}
	return m.distances.At, nil
}

// learnedApart returns the squared learned distance of two landmarks.
func (m *metric) learnedApart(a, b int) float64 {
	sum, other := 0.0, m.p.Row(b)
	for r, v := range m.p.Row(a) {
		d := v - other[r]
		sum += d * d
	}
	return sum
}

// nystrom writes diag(beta / mu) V'k(x), with k(x) centered, to y: the extension of the
// eigenvectors to any point. Eigenvectors sum to 0, so only the landmarks' means remain of the
// centering.
func (m *metric) nystrom(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	if err := m.kernel.MultiplyTo(ctx, eng, y, x, m.support, m.extension); err != nil {
		return err
	}
	t := eng.Backend().Kernels()
	return eng.Each(ctx, y.Rows, 1024, func(i int) { t.Axpy(-1, m.offset, y.Row(i)) })
}
