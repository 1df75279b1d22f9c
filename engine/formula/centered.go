package formula

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// mostFeatures bounds the identity matrix of features that a centered [Residual] begins with.
const mostFeatures = 8192

// Centered returns a map whose kernel is linear around a center as maps that subtract the center
// first, and other maps, and those of Gram matrices, as they are. An Expansion becomes a Linear. A
// Residual of more than 8192 features is a *fault.ParamError. Cost: |Support| d Dim flops for d
// features.
func Centered(m Map) (Map, error) {
	switch m := m.(type) {
	case *Expansion:
		if mean := centerOf(m.Kernel, m.Support); mean != nil {
			return m.linear(mean), nil
		}
	case *Residual:
		mean := centerOf(m.Kernel, m.Support)
		if mean == nil {
			return m, nil
		}
		d := len(mean)
		if d > mostFeatures {
			return nil, &fault.ParamError{Param: "features of the model", Value: d,
				Want: "at most 8192 for this kernel far from the origin: center the columns, or fit with form=cholesky"}
		}
		moved, less := &points.Dense{N: m.Support.Len(), D: d}, *m
		for l := range moved.N {
			moved.Data = append(moved.Data, difference(m.Support, l, mean)...)
		}
		less.Kernel, less.Support = m.Kernel.At(nil), moved
		return &Chain{First: &Linear{W: identity(d), Mean: mean}, Then: &less}, nil
	}
	return m, nil
}

// centerOf returns the center of a kernel of vectors, nil for the origin.
func centerOf(k kernel.Kernel, support points.Points) []float64 {
	if _, isGram := support.(*points.Gram); isGram || k.Origin() == nil {
		return nil
	}
	return k.Origin().Vector(support.Dim())
}

// linear returns V'(L - mean)(x - mean) - Center.
func (m *Expansion) linear(mean []float64) Map {
	w := blas.NewMatrix(m.V.Cols, len(mean))
	for l := range m.V.Rows {
		x := difference(m.Support, l, mean)
		for c, v := range m.V.Row(l) {
			row := w.Row(c)
			for j, y := range x {
				row[j] += v * y
			}
		}
	}
	if m.Center == nil {
		return &Linear{W: w, Mean: mean}
	}
	return &Chain{First: &Linear{W: w, Mean: mean}, Then: &Linear{W: identity(w.Rows), Mean: m.Center}}
}

// difference returns point l less the mean.
func difference(x points.Points, l int, mean []float64) []float64 {
	out := make([]float64, len(mean))
	for j, v := range Vector(x, l) {
		out[j] = v - mean[j]
	}
	return out
}

func identity(n int) blas.Matrix {
	out := blas.NewMatrix(n, n)
	for i := range n {
		out.Set(i, i, 1)
	}
	return out
}
