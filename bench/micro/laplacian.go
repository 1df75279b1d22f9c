package micro

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/operator"
)

// laplacianWorks find the 20 smallest eigenpairs of the normalized Laplacian of a 10-neighbor
// graph of random points in a square, with residuals of at most 1e-6.
func laplacianWorks(o Options, threads int) ([]measure.Work, error) {
	sizes := o.Sizes
	if sizes == nil {
		sizes = []int{4000}
	}
	b, err := backends.Open(backends.Options{Name: "native", SIMD: o.SIMD, Threads: threads})
	if err != nil {
		return nil, err
	}
	eng, err := engine.New(engine.Options{Backend: b, Workers: threads})
	if err != nil {
		return nil, err
	}
	var works []measure.Work
	for _, n := range sizes {
		var adjacency *sparse.Matrix
		run := func() {
			if adjacency == nil { // in the first call, which is not timed
				adjacency = planeGraph(n, min(10, n-1))
			}
			if _, err := operator.LaplacianEigenpairs(context.Background(), eng, adjacency, true, min(20, n),
				operator.EigenOptions{Tolerance: 1e-6}); err != nil {
				panic(err) // the graph is valid, and the solver converges on such graphs
			}
		}
		works = append(works, measure.Work{
			Name: laplacianCase, Size: fmt.Sprintf("n=%d", n), Threads: threads,
			Contenders: []measure.Contender{measure.Func("native", runtime.GC, run)},
		})
	}
	return works, nil
}

// planeGraph joins each of n random points of the unit square with its k nearest others. It finds
// them in the cells of a grid around the point, so that a million points take seconds.
func planeGraph(n, k int) *sparse.Matrix {
	r := rand.New(rand.NewPCG(4, uint64(n)))
	side := max(1, int(math.Sqrt(float64(n)/4))) // four points a cell
	type point struct{ x, y float64 }
	points, cells := make([]point, n), make([][]int32, side*side)
	cell := func(v float64) int { return min(side-1, int(v*float64(side))) }
	for i := range points {
		p := point{r.Float64(), r.Float64()}
		points[i] = p
		c := cell(p.y)*side + cell(p.x)
		cells[c] = append(cells[c], int32(i))
	}
	type candidate struct {
		i       int32
		squared float64
	}
	near := &graph.Neighbors{N: n, K: k}
	for i, p := range points {
		var found []candidate
		for ring := 1; ; ring++ {
			found = found[:0]
			for y := max(0, cell(p.y)-ring); y <= min(side-1, cell(p.y)+ring); y++ {
				for x := max(0, cell(p.x)-ring); x <= min(side-1, cell(p.x)+ring); x++ {
					for _, j := range cells[y*side+x] {
						if q := points[j]; int(j) != i {
							found = append(found, candidate{j, (p.x-q.x)*(p.x-q.x) + (p.y-q.y)*(p.y-q.y)})
						}
					}
				}
			}
			slices.SortFunc(found, func(a, b candidate) int {
				return cmp.Or(cmp.Compare(a.squared, b.squared), cmp.Compare(a.i, b.i))
			})
			// Nothing nearer than the ring's width is missing.
			if reach := float64(ring) / float64(side); ring > side || len(found) >= k &&
				(k == 0 || found[k-1].squared <= reach*reach) {
				break
			}
		}
		for _, c := range found[:k] {
			near.Index, near.Squared = append(near.Index, c.i), append(near.Squared, c.squared)
		}
	}
	return near.Adjacency(graph.Union, graph.Binary)
}
