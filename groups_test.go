package mustlink_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/internal/racetest"
)

// TestModelGroups compares with the groups of a graph of the distances in the coordinates, of all
// pairs and of neighbors.
func TestModelGroups(t *testing.T) {
	ctx := t.Context()
	const n = 150
	table, pairs := problem(t, n)
	held := try(table.SampleLinks(60, 60, 9))
	m := try(try(mustlink.Fit(ctx, table, pairs, mustlink.Method("rca"))).Calibrate(ctx, table, held))
	y := try(m.Embed(ctx, table))
	rows := blas.NewMatrix(n, y.RawMatrix().Cols)
	for i := range n {
		copy(rows.Row(i), y.RawRowView(i))
	}
	squared := func(i, j int) float64 {
		s := 0.0
		for c := range y.RawMatrix().Cols {
			d := y.At(i, c) - y.At(j, c)
			s += d * d
		}
		return s
	}
	keys := mustlink.Distinct{Name: "source", Keys: make([]int, n)}
	for i := range keys.Keys {
		keys.Keys[i] = i/2 - 10 // two rows of a key, some without one
	}
	precise := 0.9 * m.Calibration().Surest().Precision.Low
	for name, c := range map[string]struct {
		options   mustlink.GroupOptions
		threshold float64
	}{
		"threshold":   {mustlink.GroupOptions{Threshold: 0.5, Linkage: "complete"}, 0.5},
		"calibration": {mustlink.GroupOptions{Links: pairs}, try(m.Calibration().Even()).Distance},
		"precision": {mustlink.GroupOptions{Precision: precise, Neighbors: 7, Linkage: "complete"},
			try(m.Calibration().Threshold(precise)).Distance},
		"count":     {mustlink.GroupOptions{Count: 3, Linkage: "average"}, math.Inf(1)},
		"both ends": {mustlink.GroupOptions{Count: 3, Threshold: 0.2, Neighbors: 300}, 0.2},
		"links": {mustlink.GroupOptions{Links: pairs.WithoutCannot(), Neighbors: 4, Threshold: 0.2,
			Linkage: "single"}, 0.2},
		"keys": {mustlink.GroupOptions{Distinct: []mustlink.Distinct{keys}, Threshold: 2, Neighbors: 20}, 2},
		"ward": {mustlink.GroupOptions{Count: 5, Linkage: "ward", Neighbors: 9, Links: pairs}, math.Inf(1)},
	} {
		o := c.options
		near := make([][]bool, n) // whether a row is among the neighbors of another
		for i := range near {
			near[i] = make([]bool, n)
			order := make([]int, 0, n)
			for j := range n {
				if j != i {
					order = append(order, j)
				}
			}
			slices.SortStableFunc(order, func(a, b int) int {
				return int(math.Copysign(1, squared(i, a)-squared(i, b)))
			})
			for at, j := range order {
				near[i][j] = o.Neighbors == 0 || at < o.Neighbors
			}
		}
		g := &sparse.Matrix{Rows: n, Cols: n, Start: []int{0}}
		for i := range n {
			for j := range n {
				if near[i][j] || near[j][i] {
					g.Col, g.Val = append(g.Col, int32(j)), append(g.Val, squared(i, j))
				}
			}
			g.Start = append(g.Start, len(g.Col))
		}
		want := try(cluster.Agglomerative(ctx, try(engine.New(engine.Options{})), g, o.Links,
			cluster.AgglomerativeParams{Linkage: o.Linkage, Threshold: c.threshold, Groups: o.Count,
				Distinct: o.Distinct, Rows: rows,
				Distance: func(i, j int) float64 { return math.Sqrt(squared(i, j)) }}))
		got := try(m.Groups(ctx, table, o))
		if !slices.Equal(got.Labels, want.Labels) || !slices.Equal(got.Sizes, want.Sizes) {
			t.Errorf("%s: %d groups %v, want %d groups %v", name, len(got.Sizes), got.Labels, len(want.Sizes),
				want.Labels)
		}
		if len(got.Sizes) < 2 || len(got.Merges) < 20 || len(o.Distinct) > 0 && len(got.Forbidden) == 0 {
			t.Errorf("%s: %d groups, %d merges, %d forbidden: the problem is too easy", name, len(got.Sizes),
				len(got.Merges), len(got.Forbidden))
		}
	}
}

// Rows that are too many for all pairs are grouped by neighbors: here the points of two lattices
// far from each other, whose nearest points are at distance 1.
func TestGroupsOfManyRows(t *testing.T) {
	ctx := t.Context()
	rows := make([][]float64, 2500)
	for i := range rows {
		rows[i] = []float64{float64(i%2*1000) + float64(i/2%25), float64(i / 50)}
	}
	m := mustlink.Unlearned(try(engine.New(engine.Options{})), nil, nil)
	for threshold, want := range map[float64]int{0.9: 2500, 1: 2, 900: 2} {
		g := try(m.Groups(ctx, try(mustlink.FromRows(rows)), mustlink.GroupOptions{Threshold: threshold,
			Linkage: "single"}))
		if len(g.Sizes) != want {
			t.Errorf("threshold %g: %d groups, want %d", threshold, len(g.Sizes), want)
		}
		for i, k := range g.Labels {
			if want == 2 && k != i%2 {
				t.Fatalf("threshold %g: row %d is in group %d", threshold, i, k)
			}
		}
	}
}

// Neighbors give almost the groups of all pairs, also of more rows than there are neighbors.
func TestGroupsByNeighbors(t *testing.T) {
	ctx := t.Context()
	const n, dim = 900, 5
	m := mustlink.Unlearned(try(engine.New(engine.Options{})), nil, nil)
	for _, size := range racetest.Some([]int{30, 150}, []int{30}) {
		rng := rand.New(rand.NewPCG(70, uint64(size)))
		rows, truth, centers := make([][]float64, n), make([]int, n), make([][]float64, n/size)
		for i := range rows {
			rows[i], truth[i] = make([]float64, dim), i%len(centers)
			if i < len(centers) {
				centers[i] = make([]float64, dim)
				for c := range dim {
					centers[i][c] = 5 * rng.NormFloat64()
				}
			}
			for c := range dim {
				rows[i][c] = centers[truth[i]][c] + rng.NormFloat64()
			}
		}
		table := try(mustlink.FromRows(rows))
		f := map[int]float64{}
		for _, k := range []int{n, 20} {
			o := mustlink.GroupOptions{Threshold: 1.4 * math.Sqrt(2*dim), Neighbors: k}
			g := try(m.Groups(ctx, table, o))
			f[k] = *try(score.Pairwise(truth, g.Labels)).F
		}
		t.Logf("groups of %d: F %.4f of all pairs, %.4f of 20 neighbors", size, f[n], f[20])
		if f[20] < 0.98 || math.Abs(f[20]-f[n]) > 0.01 {
			t.Errorf("groups of %d: F %.4f of all pairs, %.4f of 20 neighbors: want the same above 0.98", size,
				f[n], f[20])
		}
		for name, o := range map[string]mustlink.GroupOptions{
			"approximate": {Threshold: 1.4 * math.Sqrt(2*dim), Neighbors: 20, Recall: 0.9},
			"ward":        {Linkage: "ward", Count: len(centers), Neighbors: 20},
			"density":     {MinSize: 8, Neighbors: 40},
		} {
			g := try(m.Groups(ctx, table, o))
			if got := *try(score.Pairwise(truth, g.Labels)).F; got < 0.9 {
				t.Errorf("groups of %d, %s: F %.4f of %d groups, want 0.9", size, name, got, len(g.Sizes))
			}
		}
	}
}

// TestMisuseOfGroups: mistakes are errors of the input.
func TestMisuseOfGroups(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 60)
	m := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("rca")))
	calibrated := try(m.Calibrate(ctx, table, pairs))
	var empty *mustlink.Model
	other := try(mustlink.NewLinks(9, nil, nil))
	for name, f := range map[string]func() (*mustlink.Groups, error){
		"no model": func() (*mustlink.Groups, error) {
			return empty.Groups(ctx, table, mustlink.GroupOptions{})
		},
		"no table": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, nil, mustlink.GroupOptions{})
		},
		"no threshold": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{})
		},
		"no calibration": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Precision: 0.5})
		},
		"precision": func() (*mustlink.Groups, error) {
			return calibrated.Groups(ctx, table, mustlink.GroupOptions{Precision: 2})
		},
		"two thresholds": func() (*mustlink.Groups, error) {
			return calibrated.Groups(ctx, table, mustlink.GroupOptions{Precision: 0.5, Threshold: 1})
		},
		"threshold": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Threshold: -1})
		},
		"count": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Threshold: 1, Count: 61})
		},
		"neighbors": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Threshold: 1, Neighbors: -1})
		},
		"linkage": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Threshold: 1, Linkage: "median"})
		},
		"links": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Threshold: 1, Links: other})
		},
		"recall": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Threshold: 1, Recall: 1.5})
		},
		"smallest size": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Threshold: 1, MinSize: -1})
		},
		"density with a count": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{MinSize: 3, Count: 2})
		},
		"density with a linkage": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{MinSize: 3, Linkage: "single"})
		},
		"width": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Threshold: 1,
				Distinct: []mustlink.Distinct{{Width: 1, Values: make([]float64, 9)}}})
		},
		"keys": func() (*mustlink.Groups, error) {
			return m.Groups(ctx, table, mustlink.GroupOptions{Threshold: 1,
				Distinct: make([]mustlink.Distinct, 1)})
		},
	} {
		if g, err := f(); g != nil || !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_, err := m.Groups(canceled, table, mustlink.GroupOptions{Threshold: 1})
	if err == nil || fault.IsInput(err) {
		t.Errorf("canceled: error %v", err)
	}
}
