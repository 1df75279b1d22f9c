package compare

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// centeredUnit returns rows of unit length: the training rows and others minus the mean of the
// training rows, scaled. Rows equal to the mean stay 0.
func centeredUnit(training *points.Dense, x ...*points.Dense) []*points.Dense {
	mean := make([]float64, training.D)
	for i := range training.N {
		for j, v := range training.Row(i) {
			mean[j] += v / float64(training.N)
		}
	}
	out := make([]*points.Dense, len(x))
	for k, p := range x {
		out[k] = &points.Dense{N: p.N, D: p.D, Data: slices.Clone(p.Data)}
		for i := range p.N {
			row := out[k].Row(i)
			for j := range row {
				row[j] -= mean[j]
			}
			unit(row)
		}
	}
	return out
}

// unit scales a row to unit length, unless it is 0, and returns its length.
func unit(row []float64) float64 {
	square := 0.0
	for _, v := range row {
		square += v * v
	}
	length := math.Sqrt(square)
	for j := range row {
		if length > 0 {
			row[j] /= length
		}
	}
	return length
}

// adapter is the linear adapter that is trained on embeddings today: z = u(W y) for rows y of unit
// length, where W begins at the identity. It minimizes InfoNCE (van den Oord, Li & Vinyals,
// Representation learning with contrastive predictive coding, 2018): in a batch of must-links
// (a, b), the mean of -log softmax over j of z(a_i)'z(b_j) / temperature at j = i. Steps are those
// of Adam (Kingma & Ba, 2015). A fifth of the links is held out; the map with the least loss on it
// is kept.
type adapter struct {
	Temperature, Rate       float64
	Batch, Epochs, Patience int
}

func defaultAdapter() adapter {
	return adapter{Temperature: .05, Rate: 1e-3, Batch: 64, Epochs: 60, Patience: 5}
}

// learn returns W.
func (a adapter) learn(ctx context.Context, b blas.Backend, y *points.Dense, must []links.Link,
	seed uint64) (blas.Matrix, error) {
	w, best := identity(y.D), identity(y.D)
	r := rand.New(rand.NewPCG(seed, 0x61646170746572))
	order := r.Perm(len(must))
	held, rest := order[:len(must)/5], order[len(must)/5:]
	loss := func() float64 {
		sum := 0.0
		for batch := range slices.Chunk(held, a.Batch) {
			sum += float64(len(batch)) * a.loss(b, y, must, batch, w, blas.Matrix{})
		}
		return sum
	}
	gradient, mean, square := blas.NewMatrix(y.D, y.D), make([]float64, y.D*y.D), make([]float64, y.D*y.D)
	least, since, step := loss(), 0, 0.
	for epoch := 0; epoch < a.Epochs && since < a.Patience; epoch++ {
		r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		for batch := range slices.Chunk(rest, a.Batch) {
			if err := ctx.Err(); err != nil {
				return best, err
			}
			a.loss(b, y, must, batch, w, gradient)
			step++
			first, second := 1-math.Pow(.9, step), 1-math.Pow(.999, step)
			for k, g := range gradient.Data {
				mean[k], square[k] = .9*mean[k]+.1*g, .999*square[k]+.001*g*g
				w.Data[k] -= a.Rate * mean[k] / first / (math.Sqrt(square[k]/second) + 1e-8)
			}
		}
		if v := loss(); v < least {
			least, since = v, 0
			best.CopyFrom(w)
		} else {
			since++
		}
	}
	return best, nil
}

// loss returns the loss of a batch, and writes its gradient if that is not empty.
func (a adapter) loss(b blas.Backend, y *points.Dense, must []links.Link, batch []int,
	w, gradient blas.Matrix) float64 {
	n := len(batch)
	var rows, z, back [2]blas.Matrix
	var lengths [2][]float64
	for side := range rows {
		rows[side], z[side] = blas.NewMatrix(n, y.D), blas.NewMatrix(n, y.D)
		back[side] = blas.NewMatrix(n, y.D)
		for k, at := range batch {
			copy(rows[side].Row(k), y.Row([2]int{must[at].I, must[at].J}[side]))
		}
		b.Gemm(false, true, 1, rows[side], w, 0, z[side])
		for k := range n {
			lengths[side] = append(lengths[side], unit(z[side].Row(k)))
		}
	}
	s, total := blas.NewMatrix(n, n), 0.0
	b.Gemm(false, true, 1/a.Temperature, z[0], z[1], 0, s)
	for i := range n {
		row, sum := s.Row(i), 0.0
		top, right := slices.Max(row), row[i]
		for j, v := range row {
			row[j] = math.Exp(v - top)
			sum += row[j]
		}
		total += (math.Log(sum) + top - right) / float64(n)
		for j := range row { // from here the derivative of the loss in z(a_i)'z(b_j)
			row[j] /= sum
			if j == i {
				row[j]--
			}
			row[j] /= a.Temperature * float64(n)
		}
	}
	if gradient.Rows == 0 {
		return total
	}
	for side := range rows {
		b.Gemm(side == 1, false, 1, s, z[1-side], 0, back[side])
		for k := range n {
			g, u, inside := back[side].Row(k), z[side].Row(k), 0.0
			for j, v := range u {
				inside += v * g[j]
			}
			for j, v := range u {
				g[j] = (g[j] - inside*v) / max(lengths[side][k], math.SmallestNonzeroFloat32)
			}
		}
		b.Gemm(true, false, 1, back[side], rows[side], float64(side), gradient)
	}
	return total
}

func identity(n int) blas.Matrix {
	m := blas.NewMatrix(n, n)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

// mapped returns W y for all rows, which are scaled to unit length if scaled is true.
func mapped(eng *engine.Engine, y *points.Dense, w blas.Matrix, scaled bool) blas.Matrix {
	out := blas.NewMatrix(y.N, w.Rows)
	eng.Backend().Gemm(false, true, 1, blas.MatrixOf(y.N, y.D, y.Data), w, 0, out)
	for i := range y.N {
		if scaled {
			unit(out.Row(i))
		}
	}
	return out
}

// componentsLDA returns the map of linear discriminant analysis whose classes are the components of
// the must-links: at most as many directions as components less one. The within-class covariance is
// shrunk to a multiple of the identity by the weight of Ledoit and Wolf, A well-conditioned
// estimator for large-dimensional covariance matrices, Journal of Multivariate Analysis 88, 2004.
func componentsLDA(ctx context.Context, eng *engine.Engine, y *points.Dense,
	set *links.Set) (blas.Matrix, error) {
	b, d := eng.Backend(), y.D
	chunklets := set.Chunklets()
	var within, means []float64
	overall, n := make([]float64, d), 0.0
	for _, rows := range chunklets {
		mean := make([]float64, d)
		for _, i := range rows {
			for j, v := range y.Row(i) {
				mean[j] += v / float64(len(rows))
			}
		}
		for _, i := range rows {
			for j, v := range y.Row(i) {
				within = append(within, v-mean[j])
			}
		}
		for j, v := range mean {
			overall[j] += v * float64(len(rows))
		}
		n += float64(len(rows))
		means = append(means, mean...)
	}
	for c, rows := range chunklets {
		for j := range d {
			means[c*d+j] = (means[c*d+j] - overall[j]/n) * math.Sqrt(float64(len(rows))/n)
		}
	}
	x := blas.MatrixOf(int(n), d, within)
	cov := blas.NewMatrix(d, d)
	b.Gemm(true, false, 1/n, x, x, 0, cov)
	shrink(cov, x)
	values := make([]float64, d)
	if err := eng.SymEig(ctx, cov, values, true); err != nil {
		return cov, err
	}
	for i := range d { // row i of the whitening is the eigenvector i, scaled
		for j := range d {
			cov.Set(i, j, cov.At(i, j)/math.Sqrt(max(values[i], 1e-12)))
		}
	}
	image, between := blas.NewMatrix(len(chunklets), d), blas.NewMatrix(d, d)
	b.Gemm(false, true, 1, blas.MatrixOf(len(chunklets), d, means), cov, 0, image)
	b.Gemm(true, false, 1, image, image, 0, between)
	if err := eng.SymEig(ctx, between, values, true); err != nil {
		return between, err
	}
	kept := min(d, max(len(chunklets)-1, 1))
	w := blas.NewMatrix(kept, d)
	b.Gemm(false, false, 1, between.View(d-kept, d, 0, d), cov, 0, w)
	return w, nil
}

// shrink replaces the covariance of centered rows by (1-a) cov + a tr(cov)/d I, with the a of
// Ledoit and Wolf.
func shrink(cov, x blas.Matrix) {
	d, n := float64(cov.Rows), float64(x.Rows)
	trace, squares, fourth := 0.0, 0.0, 0.0
	for i := range cov.Rows {
		trace += cov.At(i, i)
		for _, v := range cov.Row(i) {
			squares += v * v
		}
	}
	for i := range x.Rows {
		length := 0.0
		for _, v := range x.Row(i) {
			length += v * v
		}
		fourth += length * length / n
	}
	a := 1.0
	if spread := squares - trace*trace/d; spread > 0 {
		a = min(1, max(0, (fourth-squares)/n/spread))
	}
	for i := range cov.Rows {
		for j := range cov.Cols {
			cov.Set(i, j, (1-a)*cov.At(i, j))
		}
		cov.Set(i, i, cov.At(i, i)+a*trace/d)
	}
}
