package eigen

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

func zzdata(kind string, n int) blas.Matrix {
	r := rand.New(rand.NewPCG(1, 2))
	d := 16
	if kind == "plane" {
		d = 2
	}
	x := blas.NewMatrix(n, d)
	c := blas.NewMatrix(10, 16)
	for i := range c.Data {
		c.Data[i] = 3 * r.NormFloat64()
	}
	for i := range n {
		cl := r.IntN(10)
		for j := range d {
			switch kind {
			case "plane":
				x.Row(i)[j] = r.Float64()
			case "blobs":
				x.Row(i)[j] = r.NormFloat64() + c.Row(cl)[j]
			default:
				x.Row(i)[j] = r.NormFloat64()
			}
		}
	}
	return x
}

func TestZZ(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("ZN"))
	eng, _ := engine.New(engine.Options{})
	ctx := context.Background()
	for _, kind := range []string{"normal", "blobs", "plane"} {
		t0 := time.Now()
		x := zzdata(kind, n)
		pp, _ := points.NewDense(n, x.Cols, x.Data)
		g, err := graph.Nearest(ctx, eng, kernel.Linear(), pp, 10)
		if err != nil {
			t.Fatal(err)
		}
		adj := g.Adjacency(graph.Union, graph.Binary)
		lap, _ := graph.Laplacian(adj, true)
		_, parts := graph.Components(adj)
		t.Log(kind, "graph", time.Since(t0), lap.Count()/n, parts)
		if parts == 1 {
			_ = parts
		}
		for _, rs := range []int{0} {
			for _, fr := range []float64{1e3} {
				for _, tol := range []float64{1e-6} {
					roughSize, filterRange = rs, fr
					var ts []time.Duration
					var res *Result
					for range 50 {
						t0 = time.Now()
						res, err = Laplacian(ctx, eng, adj, true, 20, Options{Tolerance: tol, Products: 40000})
						if res == nil {
							res = err.(*NoConvergenceError).Best
						}
						ts = append(ts, time.Since(t0))
						if n > 50000 {
							break
						}
					}
					slices.Sort(ts)
					t.Log(kind, rs, fr, tol, ts[len(ts)/2], res.Products, res.Values[19], slices.Max(res.Residuals), err)
				}
			}
		}
	}
}
