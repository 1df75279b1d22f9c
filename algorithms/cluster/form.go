package cluster

import (
	"cmp"
	"math"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
)

// form is a metric A with the points' places under it.
type form struct {
	t        *asm.Table
	diagonal []float64   // roots of A's diagonal, or
	factor   blas.Matrix // C of A = scale^2 (C C')^-1
	scale    float64
	logdet   float64
	y        blas.Matrix // places of the points: their distances are those of A
	far      float64     // squared distance of the two points farthest from each other
	pair     [2]int      // which they are
}

// turn returns the places of rows.
func (f *form) turn(eng *engine.Engine, x blas.Matrix) blas.Matrix {
	y := x.Clone()
	if f.diagonal != nil {
		for i := range y.Rows {
			row := y.Row(i)
			for c, v := range f.diagonal {
				row[c] *= v
			}
		}
		return y
	}
	eng.Backend().Trsm(false, true, f.factor, y)
	for i := range y.Rows {
		eng.Backend().Kernels().Scale(f.scale, y.Row(i))
	}
	return y
}

func (f *form) apart(i, j int) float64 { return f.t.SquaredDistance(f.y.Row(i), f.y.Row(j)) }

// place computes the places of the points and, with cannot-links, the farthest pair.
func (r *penalized) place(f *form) *form {
	f.t = r.eng.Backend().Kernels()
	f.y = f.turn(r.eng, r.x)
	for _, k := range r.links {
		if k.Sign == links.Cannot && r.p.Metric != MetricNone {
			f.far, f.pair = farthest(f.t, f.y)
			break
		}
	}
	return f
}

// plain is the metric of the points themselves.
func (r *penalized) plain() *form {
	f := &form{diagonal: make([]float64, r.x.Cols)}
	for c := range f.diagonal {
		f.diagonal[c] = 1
	}
	return r.place(f)
}

// farthest returns the largest squared distance of two rows, and which they are. Rows that are at
// most a and b from the mean are at most a + b apart, so that few pairs are looked at.
func farthest(t *asm.Table, y blas.Matrix) (float64, [2]int) {
	mean := columnMeans(y)
	out, order := make([]float64, y.Rows), make([]int, y.Rows)
	for i := range order {
		order[i], out[i] = i, math.Sqrt(t.SquaredDistance(y.Row(i), mean))
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(out[b], out[a]), cmp.Compare(a, b))
	})
	best, pair := 0.0, [2]int{}
	for a, i := range order {
		for _, j := range order[:a] {
			if reach := out[i] + out[j]; reach*reach*(1+1e-12) < best {
				break
			}
			if d := t.SquaredDistance(y.Row(i), y.Row(j)); d > best {
				best, pair = d, [2]int{i, j}
			}
		}
		if a > 0 && (out[i]+out[order[0]])*(out[i]+out[order[0]])*(1+1e-12) < best {
			break
		}
	}
	return best, pair
}

// learn replaces the metrics by those that minimize the objective for the partition.
func (r *penalized) learn() error {
	if r.p.Metric == MetricNone {
		return nil
	}
	if !r.p.Each {
		f, err := r.form(-1, r.x.Rows)
		if err != nil {
			return err
		}
		r.metrics = []*form{f}
		return nil
	}
	next, count := make([]*form, r.p.K), sizesOf(r.labels, r.p.K)
	for c := range next {
		if count[c] == 0 {
			next[c] = r.metric(c)
			continue
		}
		f, err := r.form(c, count[c])
		if err != nil {
			return err
		}
		next[c] = f
	}
	r.metrics = next
	return nil
}

// scatterRows holds weighted rows, to be added up or taken away.
type scatterRows struct{ plus, minus [][]float64 }

// difference returns root times the difference of two rows.
func difference(a, b []float64, root float64) []float64 {
	out := make([]float64, len(a))
	for k, v := range a {
		out[k] = root * (v - b[k])
	}
	return out
}

// form returns the metric of a cluster of so many points, -1 for all: the points' number times the
// inverse of the scatter around the centers and of broken links.
func (r *penalized) form(cluster, count int) (*form, error) {
	var s scatterRows
	for i, c := range r.labels {
		if cluster < 0 || c == cluster {
			s.plus = append(s.plus, difference(r.x.Row(i), r.centers.Row(c), 1))
		}
	}
	for _, k := range r.links {
		c, d := r.labels[k.I], r.labels[k.J]
		w := k.Weight * r.p.Weight
		switch {
		case k.Sign == links.Must && c != d:
			for _, side := range []int{c, d} { // half of it on each
				if cluster < 0 || side == cluster {
					s.plus = append(s.plus, difference(r.x.Row(k.I), r.x.Row(k.J), math.Sqrt(w/2)))
				}
			}
		case k.Sign == links.Cannot && c == d && (cluster < 0 || c == cluster):
			if m := r.metric(c); m.far > m.apart(k.I, k.J) {
				s.plus = append(s.plus, difference(r.x.Row(m.pair[0]), r.x.Row(m.pair[1]), math.Sqrt(w)))
				s.minus = append(s.minus, difference(r.x.Row(k.I), r.x.Row(k.J), math.Sqrt(w)))
			}
		}
	}
	if r.p.Metric == MetricDiagonal {
		return r.place(s.diagonal(r.x.Cols, float64(count), r.p.EpsRel)), nil
	}
	f, err := s.full(r, float64(count))
	if err != nil {
		return nil, err
	}
	return r.place(f), nil
}

// diagonal returns the metric of the sums of squares.
func (s scatterRows) diagonal(d int, count, epsRel float64) *form {
	sums, trace := make([]float64, d), 0.0
	for sign, rows := range [][][]float64{s.plus, s.minus} {
		for _, row := range rows {
			for c, v := range row {
				sums[c] += float64(1-2*sign) * v * v
			}
		}
	}
	for _, v := range sums {
		trace += max(0, v)
	}
	f := &form{diagonal: make([]float64, d)}
	eps := epsRel * trace / float64(d)
	for c, v := range sums {
		if v = max(0, v) + eps; v == 0 { // all points are in their centers
			v = count
		}
		f.diagonal[c] = math.Sqrt(count / v)
		f.logdet += math.Log(count / v)
	}
	return f
}

// full returns the metric of the scatter matrix.
func (s scatterRows) full(r *penalized, count float64) (*form, error) {
	d := r.x.Cols
	sum := blas.NewMatrix(d, d)
	for sign, rows := range [][][]float64{s.plus, s.minus} {
		if len(rows) == 0 {
			continue
		}
		m := r.eng.NewMatrix(len(rows), d)
		for i, row := range rows {
			copy(m.Row(i), row)
		}
		r.eng.Backend().Syrk(true, float64(1-2*sign), m, 1, sum)
	}
	trace := 0.0
	for c := range d {
		trace += max(0, sum.At(c, c))
	}
	eps := r.p.EpsRel * trace / float64(d)
	if eps == 0 { // all points are in their centers
		eps = count
	}
	shifted := sum.Clone()
	shifted.Shift(eps)
	// broken cannot-links may make it indefinite
	if len(s.minus) > 0 || r.eng.Cholesky(r.ctx, shifted) != nil {
		if err := r.clip(sum, eps); err != nil {
			return nil, err
		}
		shifted = sum
		if err := r.eng.Cholesky(r.ctx, shifted); err != nil {
			return nil, err
		}
	}
	f := &form{factor: shifted, scale: math.Sqrt(count), logdet: float64(d) * math.Log(count)}
	for c := range d {
		f.logdet -= 2 * math.Log(shifted.At(c, c))
	}
	return f, nil
}

// clip replaces the negative eigenvalues of a matrix by 0, and adds eps to all.
func (r *penalized) clip(m blas.Matrix, eps float64) error {
	d := m.Rows
	w, v := make([]float64, d), m.Clone()
	if err := r.eng.SymEig(r.ctx, v, w, true); err != nil {
		return err
	}
	for k, x := range w {
		r.eng.Backend().Kernels().Scale(math.Sqrt(max(0, x)+eps), v.Row(k))
	}
	r.eng.Backend().Gemm(true, false, 1, v, v, 0, m)
	return nil
}
