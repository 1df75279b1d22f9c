// Package clustertest has points, links and kernels for tests of clusterings.
package clustertest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
)

// Blobs returns n points around k centers on a lattice of spacing 2, s.d. sd.
func Blobs(seed uint64, n, d, k int, sd float64) blas.Matrix {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := blas.NewMatrix(n, d)
	for i := range n {
		c := i % k
		for j := range d {
			x.Set(i, j, 2*float64((c>>(j%8))&1)+float64(c)/float64(k)+sd*rng.NormFloat64())
		}
	}
	return x
}

// AllLabelings calls f with every assignment of n points to k clusters.
func AllLabelings(n, k int, f func([]int)) {
	labels := make([]int, n)
	for {
		f(labels)
		i := 0
		for ; i < n; i++ {
			if labels[i]++; labels[i] < k {
				break
			}
			labels[i] = 0
		}
		if i == n {
			return
		}
	}
}

// Satisfies reports whether labels keep all links.
func Satisfies(labels []int, ls []links.Link) bool {
	for _, l := range ls {
		if (labels[l.I] == labels[l.J]) != (l.Sign == links.Must) {
			return false
		}
	}
	return true
}

// Links makes a set of links between n rows, which must be possible.
func Links(t testing.TB, n int, ls []links.Link) *links.Set {
	t.Helper()
	s, err := links.New(n, ls)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Gram returns the inner products of the rows.
func Gram(x blas.Matrix) blas.Matrix {
	k := blas.NewMatrix(x.Rows, x.Rows)
	for i := range x.Rows {
		for j := range x.Rows {
			for c, v := range x.Row(i) {
				k.Data[i*k.Stride+j] += v * x.At(j, c)
			}
		}
	}
	return k
}

// RBF returns the Gaussian kernel exp(-gamma d^2) of the rows.
func RBF(x blas.Matrix, gamma float64) blas.Matrix {
	k := blas.NewMatrix(x.Rows, x.Rows)
	for i := range x.Rows {
		for j := range x.Rows {
			k.Set(i, j, math.Exp(-gamma*enginetest.SquaredDistance(x.Row(i), x.Row(j))))
		}
	}
	return k
}
