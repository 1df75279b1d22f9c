package logdet

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// delay is the number of changes that are applied at once.
const delay = 64

// backlog has pending rank-one changes beta q q' of a matrix, lower triangle. Applying some dozens
// at once runs at the speed of matrix products.
type backlog struct {
	eng    *engine.Engine
	b      blas.Backend
	a      blas.Matrix
	images blas.Matrix // the q, as rows
	beta   []float64
	scaled blas.Matrix // for flush
	part   []float64   // one number per change
}

func newBacklog(eng *engine.Engine, a blas.Matrix) backlog {
	n := a.Rows
	return backlog{eng: eng, b: eng.Backend(), a: a, images: eng.NewMatrix(delay, n), scaled: eng.NewMatrix(delay, n), part: make([]float64, delay)}
}

// set replaces the matrix, and forgets the pending changes.
func (l *backlog) set(a blas.Matrix) {
	l.beta = l.beta[:0]
	l.a.CopyFrom(a)
}

// add appends beta q q', and reports whether the earlier changes were applied.
func (l *backlog) add(beta float64, q []float64) (made bool) {
	if len(l.beta) == delay {
		l.flush()
		made = true
	}
	copy(l.images.Row(len(l.beta)), q)
	l.beta = append(l.beta, beta)
	return made
}

// correct adds to q the effect of the pending changes on the image of a vector, whose products with
// the q are in part.
func (l *backlog) correct(q []float64) {
	count := len(l.beta)
	if count == 0 {
		return
	}
	for c, beta := range l.beta {
		l.part[c] *= beta
	}
	l.b.Gemv(true, 1, l.images.View(0, count, 0, l.images.Cols), l.part[:count], 1, q)
}

// flush applies the changes: first the positive ones, then the negative ones.
func (l *backlog) flush() {
	if len(l.beta) == 0 {
		return
	}
	t := l.b.Kernels()
	for _, sign := range []float64{1, -1} {
		count := 0
		for c, beta := range l.beta {
			if beta*sign > 0 {
				to := l.scaled.Row(count)
				copy(to, l.images.Row(c))
				t.Scale(math.Sqrt(beta*sign), to)
				count++
			}
		}
		l.b.Syrk(true, sign, l.scaled.View(0, count, 0, l.scaled.Cols), 1, l.a)
	}
	l.beta = l.beta[:0]
}
