package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/internal/drawstest"
)

// mutual returns the mutual reachability distances of all pairs, by definition.
func mutual(distance [][]float64, count int) [][]float64 {
	core := make([]float64, len(distance))
	for i, row := range distance {
		sorted := slices.Sorted(slices.Values(row)) // with the 0 of the row itself
		if core[i] = math.Inf(1); len(sorted) >= count {
			core[i] = sorted[count-1]
		}
	}
	out := make([][]float64, len(distance))
	for i := range out {
		out[i] = make([]float64, len(distance))
		for j := range out {
			out[i][j] = max(core[i], core[j], distance[i][j])
		}
	}
	return out
}

// parted returns the connected components of rows by pairs nearer than a height.
func parted(rows []int, height [][]float64, below float64) (parts [][]int) {
	left := slices.Clone(rows)
	for len(left) > 0 {
		part := left[:1:1]
		left = left[1:]
		for k := 0; k < len(part); k++ {
			left = slices.DeleteFunc(left, func(j int) bool {
				near := height[part[k]][j] < below
				if near {
					part = append(part, j)
				}
				return near
			})
		}
		parts = append(parts, part)
	}
	return parts
}

// hdbscan returns the groups of rows that are one group from density birth on, and their stability:
// the tree is cut from the top, height by height, as Campello et al. say.
func hdbscan(rows []int, height [][]float64, size int, birth float64) (groups [][]int, stability float64) {
	own, now := 0.0, rows
	for {
		top := 0.0 // of the heights at which now is connected
		for _, h := range tree(now, height) {
			top = max(top, h)
		}
		if len(now) < 2 || math.IsInf(1/top, 0) {
			break
		}
		var big [][]int
		gone := len(now)
		for _, part := range parted(now, height, top) {
			if len(part) >= size {
				big = append(big, part)
				gone -= len(part)
			}
		}
		own += float64(gone) * (1/top - birth)
		if len(big) == 0 {
			break
		}
		if len(big) > 1 {
			within := 0.0
			for _, part := range big {
				own += float64(len(part)) * (1/top - birth)
				more, s := hdbscan(part, height, size, 1/top)
				groups, within = append(groups, more...), within+s
			}
			if within > own {
				return groups, within
			}
			break
		}
		now = big[0]
	}
	return [][]int{rows}, own
}

// tree returns the heights of a minimum spanning tree of rows.
func tree(rows []int, height [][]float64) (list []float64) {
	in := rows[:min(1, len(rows)):1]
	for len(in) < len(rows) {
		best, next := math.Inf(1), -1
		for _, j := range rows {
			for _, i := range in {
				if !slices.Contains(in, j) && (next < 0 || height[i][j] < best) {
					best, next = height[i][j], j
				}
			}
		}
		in, list = append(in, next), append(list, best)
	}
	return list
}

// clumps draws rows around some centers, of different densities.
func clumps(rng *rand.Rand, n int) [][]float64 {
	centers := make([][3]float64, 1+rng.IntN(4))
	for k := range centers {
		centers[k] = [3]float64{6 * rng.Float64(), 6 * rng.Float64(), 0.1 + rng.Float64()}
	}
	at, distance := make([][2]float64, n), make([][]float64, n)
	for i := range at {
		c := centers[rng.IntN(len(centers))]
		at[i] = [2]float64{c[0] + c[2]*rng.NormFloat64(), c[1] + c[2]*rng.NormFloat64()}
	}
	for i := range distance {
		distance[i] = make([]float64, n)
		for j := range distance[i] {
			distance[i][j] = math.Hypot(at[i][0]-at[j][0], at[i][1]-at[j][1])
		}
	}
	return distance
}

// Without links the groups are those of HDBSCAN, whose tree a dense reference cuts from the top.
func TestDensityIsHDBSCAN(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 20))
	total, noise := 0, 0
	problems := drawstest.Count(200, 2000)
	for range problems {
		n := 2 + rng.IntN(50)
		distance := clumps(rng, n)
		p := DensityParams{MinSize: 2 + rng.IntN(6), CoreSize: rng.IntN(5)}
		core := p.CoreSize
		if core == 0 {
			core = p.MinSize
		}
		height := mutual(distance, core)
		var want [][]int
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		if n >= p.MinSize && core <= n { // the groups in all rows, which are none
			for now := all; len(now) > 0; {
				top := slices.Max(append(tree(now, height), 0))
				var big [][]int
				for _, part := range parted(now, height, top) {
					if len(part) >= p.MinSize && top > 0 {
						big = append(big, part)
					}
				}
				if now = nil; len(big) == 1 {
					now = big[0]
				} else {
					for _, part := range big {
						groups, _ := hdbscan(part, height, p.MinSize, 1/top)
						want = append(want, groups...)
					}
				}
			}
		}
		of := make([]int, n)
		for i := range of {
			of[i] = Noise
		}
		for k, rows := range want {
			for _, i := range rows {
				of[i] = k
			}
		}
		g := squares(n, func(i, j int) float64 { return distance[i][j] })
		got, err := Density(context.Background(), eng, g, nil, p)
		if err != nil {
			t.Fatal(err)
		}
		if !samePartition(got.Labels, of) || len(got.Sizes) != len(want) {
			t.Fatalf("%d rows, %+v:\ngot  %v\nwant %v", n, p, got.Labels, of)
		}
		total += len(want)
		for _, k := range of {
			if k == Noise {
				noise++
			}
		}
	}
	t.Logf("%d groups, %d rows of noise", total, noise)
	if total < problems || noise < 3*problems {
		t.Errorf("%d groups, %d rows of noise: the problems are too easy", total, noise)
	}
}

// samePartition reports whether two labelings have the same groups and the same noise.
func samePartition(a, b []int) bool {
	to, back := map[int]int{Noise: Noise}, map[int]int{Noise: Noise}
	for i, k := range a {
		if v, ok := to[k]; ok && v != b[i] {
			return false
		}
		if v, ok := back[b[i]]; ok && v != k {
			return false
		}
		to[k], back[b[i]] = b[i], k
	}
	return true
}

// Links and columns are kept, and merges are those of the single linkage at the mutual reachability
// distances.
func TestDensityKeepsAllLinks(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 21))
	refused, forbidden, groups := 0, 0, 0
	problems := drawstest.Count(300, 3000)
	for range problems {
		n := 2 + rng.IntN(60)
		distance := clumps(rng, n)
		l, distinct := problem(t, rng, n, rng.IntN(n), []float64{0, 0, 0.02}[rng.IntN(3)])
		p := DensityParams{MinSize: 2 + rng.IntN(5), CoreSize: rng.IntN(4), Distinct: distinct,
			Threshold: []float64{0, 1}[rng.IntN(2)]}
		g := squares(n, func(i, j int) float64 { return distance[i][j] })
		got, err := Density(context.Background(), eng, g, l, p)
		if err != nil {
			checkContradiction(t, err, l, distinct)
			refused++
			continue
		}
		alone := slices.Clone(got.Labels) // noise is no group
		for i, k := range alone {
			if k == Noise {
				alone[i] = n + i
			}
		}
		if contradicts(alone, l, distinct) || !satisfies(got.Labels, l.Must()) {
			t.Fatalf("labels %v violate links %v %v", got.Labels, l.Must(), l.Cannot())
		}
		sizes := make([]int, len(got.Sizes))
		for _, k := range got.Labels {
			if k != Noise {
				sizes[k]++
			}
		}
		if !slices.Equal(sizes, got.Sizes) || len(sizes) > 0 && slices.Min(sizes) < p.MinSize {
			t.Fatalf("sizes %v, want %v of %d at least", got.Sizes, sizes, p.MinSize)
		}
		checkReasons(t, got, l, distinct)
		core, limit := p.CoreSize, math.Inf(1)
		if core == 0 {
			core = p.MinSize
		}
		if p.Threshold > 0 {
			limit = p.Threshold
		}
		height := mutual(distance, core)
		want, err := Agglomerative(context.Background(), eng, squares(n, func(i, j int) float64 {
			if math.IsInf(height[i][j], 1) {
				return -1
			}
			return height[i][j]
		}), l, AgglomerativeParams{Linkage: SingleLinkage, Threshold: limit, Distinct: distinct})
		if err != nil || len(want.Merges) != len(got.Merges) {
			t.Fatalf("%d merges, want %d, error %v", len(got.Merges), len(want.Merges), err)
		}
		for m, one := range want.Merges {
			if math.Abs(one.Height-got.Merges[m].Height) > 1e-12 {
				t.Fatalf("merge %+v, want %+v", got.Merges[m], one)
			}
		}
		forbidden, groups = forbidden+len(got.Forbidden), groups+len(got.Sizes)
	}
	t.Logf("%d problems refused, %d merges forbidden, %d groups", refused, forbidden, groups)
	if 50*refused < problems || forbidden < 3*problems || groups < problems {
		t.Errorf("%d problems refused, %d merges forbidden, %d groups: the problems are too easy", refused,
			forbidden, groups)
	}
}

// One cannot-link between must-linked rows divides a dense group in two, and a threshold takes
// groups that all rows are.
func TestDensityDividedByLinks(t *testing.T) {
	eng := enginetest.New(t, 1)
	line := squares(12, func(i, j int) float64 { return float64(j - i) })
	halves := []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}
	for name, c := range map[string]struct {
		links []links.Link
		p     DensityParams
		want  []int
	}{
		"all rows are no group": {nil, DensityParams{MinSize: 3}, slices.Repeat([]int{Noise}, 12)},
		"a threshold":           {nil, DensityParams{MinSize: 3, Threshold: 2}, make([]int, 12)},
		"a cannot-link": {[]links.Link{links.NewLink(0, 2, links.Must), links.NewLink(0, 11, links.Cannot),
			links.NewLink(3, 5, links.Must), links.NewLink(2, 3, links.Must), links.NewLink(6, 8, links.Must),
			links.NewLink(8, 11, links.Must)}, DensityParams{MinSize: 3}, halves},
	} {
		got, err := Density(context.Background(), eng, line, enginetest.Links(t, 12, c.links), c.p)
		if err != nil || !samePartition(got.Labels, c.want) {
			t.Errorf("%s: groups %v, want %v, error %v", name, got.Labels, c.want, err)
		}
	}
}

func TestDensityErrors(t *testing.T) {
	eng := enginetest.New(t, 1)
	g := squares(4, func(i, j int) float64 { return float64(i + j) })
	for name, c := range map[string]struct {
		graph *sparse.Matrix
		p     DensityParams
		want  error
	}{
		"smallest size": {g, DensityParams{MinSize: 1}, &fault.ParamError{}},
		"core size":     {g, DensityParams{MinSize: 2, CoreSize: -1}, &fault.ParamError{}},
		"threshold":     {g, DensityParams{MinSize: 2, Threshold: math.NaN()}, &fault.ParamError{}},
		"no graph":      {nil, DensityParams{MinSize: 2}, &fault.ParamError{}},
		"no distances": {&sparse.Matrix{Rows: 1, Cols: 1, Start: []int{0, 1}, Col: []int32{0}},
			DensityParams{MinSize: 2}, &fault.ShapeError{}},
	} {
		r, err := Density(context.Background(), eng, c.graph, nil, c.p)
		if r != nil || reflect.TypeOf(err) != reflect.TypeOf(c.want) {
			t.Errorf("%s: %v, error %v", name, r, err)
		}
	}
	if _, err := Density(enginetest.StopAt(2), eng, g, nil, DensityParams{MinSize: 2}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	small, err := Density(context.Background(), eng, squares(3, func(int, int) float64 { return 0 }), nil,
		DensityParams{MinSize: 2})
	if err != nil || len(small.Labels) != 3 {
		t.Errorf("equal rows: %v, error %v", small, err)
	}
}
