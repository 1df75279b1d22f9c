package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/score"
)

// feedback is retrieval by a kernel that kernel RCA learns for each query from the labels of its
// nearest neighbors.
type feedback struct {
	gram   blas.Matrix // the Gram matrix of all objects, before learning
	class  []int
	epsRel float64 // eps relative to the mean diagonal of the kernel
	// withQuery puts the query, whose class is then known, into the chunklet of its class.
	withQuery bool
	// unlabeled ranks only the objects without labels.
	unlabeled bool
}

// nearest returns the objects other than q, the nearest first by the kernel before learning.
// Objects with equal distances are in the order of their numbers.
func (f *feedback) nearest(q int) []int {
	d := f.distances(q)
	order := make([]int, 0, len(d)-1)
	for j := range d {
		if j != q {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case d[a] < d[b]:
			return -1
		case d[a] > d[b]:
			return 1
		}
		return 0
	})
	return order
}

// distances returns the squared distances of all objects from q by the kernel before learning.
func (f *feedback) distances(q int) []float64 {
	d := make([]float64, f.gram.Rows)
	for j, v := range f.gram.Row(q) {
		d[j] = f.gram.At(q, q) + f.gram.At(j, j) - 2*v
	}
	return d
}

// auc returns the area under the ROC curve of the ranking by distances d from q. The objects of its
// class are the positives; labeled lists the objects with labels. The result ok is false if there
// is no positive or no negative to rank.
func (f *feedback) auc(q int, d []float64, labeled []int) (area float64, ok bool, err error) {
	skip := make([]bool, len(d))
	skip[q] = true
	if f.unlabeled {
		for _, j := range labeled {
			skip[j] = true
		}
	}
	var scores []float64
	var positive []bool
	found := [2]bool{}
	for j, v := range d {
		if skip[j] {
			continue
		}
		same := f.class[j] == f.class[q]
		scores, positive = append(scores, -v), append(positive, same)
		if same {
			found[1] = true
		} else {
			found[0] = true
		}
	}
	if !found[0] || !found[1] {
		return 0, false, nil
	}
	area, err = score.AUC(scores, positive)
	return area, true, err
}

// chunklets groups objects by class and returns the groups of at least two, in the order of their
// first members.
func (f *feedback) chunklets(objects []int) [][]int {
	var groups [][]int
	place := map[int]int{}
	for _, j := range objects {
		at, ok := place[f.class[j]]
		if !ok {
			at = len(groups)
			place[f.class[j]] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], j)
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) < 2 })
}

// learned returns the squared distances of all objects from q, times eps, in the kernel that kernel
// RCA learns from the labels of the given objects. If no two of them are of one class, that is the
// kernel before learning.
//
// It is equation (1b): with F the Helmert basis of the chunklets, R = s I + F'KF = L L' and X =
// L^-1 F'K, eps kt = K - X'X. Only the row of q is needed, which costs O(n r^2) for r columns of F;
// the krca package would compute an embedding for every query.
func (f *feedback) learned(ctx context.Context, eng *engine.Engine, q int, labeled []int) ([]float64, error) {
	objects := labeled
	if f.withQuery {
		objects = append([]int{q}, labeled...)
	}
	d := f.distances(q)
	groups := f.chunklets(objects)
	if len(groups) == 0 {
		return d, nil
	}
	x, r, points := f.contrasts(eng, groups)
	defer eng.PutMatrix(x)
	s := float64(points) * f.epsRel * f.meanDiagonal()
	for i := range r.Rows {
		r.Set(i, i, r.At(i, i)+s)
	}
	if err := eng.Cholesky(ctx, r); err != nil {
		return nil, fmt.Errorf("query %d: %w", q, err)
	}
	eng.Backend().Trsm(true, false, r, x)
	for i := range x.Rows {
		row := x.Row(i)
		at := row[q]
		for j, v := range row {
			d[j] -= (v - at) * (v - at)
		}
	}
	for j := range d {
		d[j] = max(0, d[j])
	}
	return d, nil
}

func (f *feedback) meanDiagonal() float64 {
	sum := 0.0
	for i := range f.gram.Rows {
		sum += f.gram.At(i, i)
	}
	return sum / float64(f.gram.Rows)
}

// contrasts returns F'K (r x n, in scratch memory of the engine), F'KF (r x r) and the number of
// points in the chunklets.
func (f *feedback) contrasts(eng *engine.Engine, groups [][]int) (fk, fkf blas.Matrix, points int) {
	r := 0
	for _, g := range groups {
		r += len(g) - 1
		points += len(g)
	}
	fk = eng.GetMatrix(r, f.gram.Cols)
	t := 0
	for _, g := range groups {
		sum := slices.Clone(f.gram.Row(g[0])) // the sum of the rows of the kernel so far
		for j := 1; j < len(g); j++ {
			next, scale := f.gram.Row(g[j]), 1/math.Sqrt(float64(j*(j+1)))
			out := fk.Row(t)
			for c, v := range next {
				out[c] = (sum[c] - float64(j)*v) * scale
				sum[c] += v
			}
			t++
		}
	}
	fkf = blas.NewMatrix(r, r)
	for a := range r {
		helmert(groups, fk.Row(a), func(t int, v float64) {
			if t <= a {
				fkf.Set(a, t, v)
			}
		})
	}
	return fk, fkf, points
}

// helmert calls f with every element of row F.
func helmert(groups [][]int, row []float64, f func(t int, v float64)) {
	t := 0
	for _, g := range groups {
		sum := row[g[0]]
		for j := 1; j < len(g); j++ {
			v := row[g[j]]
			f(t, (sum-float64(j)*v)/math.Sqrt(float64(j*(j+1))))
			sum += v
			t++
		}
	}
}
