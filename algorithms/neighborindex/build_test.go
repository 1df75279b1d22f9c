package neighborindex

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// nearestOthers sorts all other rows by their distance from row i.
func nearestOthers(rows blas.Matrix, i, k int) []int32 {
	var order []int32
	distance := make([]float64, rows.Rows)
	for j := range rows.Rows {
		if j != i {
			order = append(order, int32(j))
		}
		distance[j] = enginetest.SquaredDistance(rows.Row(i), rows.Row(j))
	}
	slices.SortFunc(order, func(a, b int32) int {
		if distance[a] < distance[b] {
			return -1
		}
		return 1
	})
	return order[:k]
}

// The recall of an index is the share of neighbors, found by sorting all distances, that a search
// for the rows of its sample finds. The chosen probes reach the recall on their own sample, and
// fewer would not.
func TestRecallIsThatOfTheSearch(t *testing.T) {
	const n, d, k, seed = 600, 4, 5, 7
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(8, 8))
	rows := blobs(rng, n, d, 4)
	s := build(t, eng, rows, Options{Neighbors: k, Cells: 14, Seed: seed})
	some := sampling.Some(n, 2*sampleRows, seed+1)
	truth := map[int][]int32{}
	for _, i := range some {
		truth[i] = nearestOthers(rows, i, k)
	}
	recalls := func(first, probes int) (each []float64) {
		b := builder{eng: eng, rows: rows}
		numbers := everyOther(some, first)
		index, _, err := s.Search(t.Context(), b.taken(numbers), k+1, probes)
		if err != nil {
			t.Fatal(err)
		}
		for q, i := range numbers {
			hits := 0
			for _, j := range index[q*(k+1) : (q+1)*(k+1)] {
				if slices.Contains(truth[i], j) {
					hits++
				}
			}
			each = append(each, float64(hits)/k)
		}
		return each
	}
	for c := range s.Cells() {
		if s.size(int32(c)) <= k {
			t.Fatal("cells have too few rows for the test")
		}
	}
	for _, probes := range []int{1, 2, 4, 9} {
		each := recalls(1, probes)
		if want, of := stat.Mean(each, nil), len(each); math.Abs(s.Recall(probes).Value-want) > 1e-12 ||
			s.Recall(probes).Rows != of {
			t.Errorf("recall of %d probes is %v, want %v of %d rows", probes, s.Recall(probes), want, of)
		}
	}
	for _, wanted := range []float64{0.5, 0.9, 0.97} {
		probes, err := s.Probes(wanted)
		if err != nil {
			t.Fatal(err)
		}
		safe := func(probes int) float64 {
			each := recalls(0, probes)
			v, sd := stat.MeanStdDev(each, nil)
			return v - sd/math.Sqrt(float64(len(each)))
		}
		if safe(probes) < wanted || probes > 1 && safe(probes-1) >= wanted {
			t.Errorf("%d probes for recall %v: they have %v, one less %v", probes, wanted, safe(probes),
				safe(probes-1))
		}
	}
	if p, err := s.Probes(1); p != s.Cells() || err != nil {
		t.Errorf("%d of %d cells for recall 1: %v", p, s.Cells(), err)
	}
}

// Each row is in the cell with the nearest center, and no cell is empty, however many rows are
// equal.
func TestCells(t *testing.T) {
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(9, 9))
	rows := enginetest.Lattice(rng, 500, 2, 3) // nine different rows
	s := build(t, eng, rows, Options{Neighbors: 3, Cells: 60})
	if s.Cells() > 9 {
		t.Errorf("%d cells of nine different rows", s.Cells())
	}
	for c := range s.Cells() {
		if s.size(int32(c)) == 0 {
			t.Errorf("cell %d is empty", c)
		}
	}
	for i, own := range s.cells {
		for c := range s.Cells() {
			if enginetest.SquaredDistance(rows.Row(i),
				s.centers.Row(c)) < enginetest.SquaredDistance(rows.Row(i), s.centers.Row(int(own))) {
				t.Fatalf("row %d is in cell %d, but %d is nearer", i, own, c)
			}
		}
	}
}

// What cannot be built or searched is an error of input.
func TestErrors(t *testing.T) {
	ctx, eng, rng := t.Context(), enginetest.New(t, 2), rand.New(rand.NewPCG(3, 3))
	rows := blobs(rng, 100, 3, 2)
	with := func(v float64) blas.Matrix {
		out := rows.Clone()
		out.Set(41, 2, v)
		return out
	}
	one := Options{Neighbors: 1}
	for what, c := range map[string]struct {
		rows blas.Matrix
		o    Options
	}{
		"no columns":    {blas.NewMatrix(10, 0), one},
		"no rows":       {blas.NewMatrix(0, 2), one},
		"one row":       {blas.NewMatrix(1, 2), one},
		"no neighbors":  {rows, Options{}},
		"all neighbors": {rows, Options{Neighbors: 100}},
		"many cells":    {rows, Options{Neighbors: 1, Cells: 101}},
		"few cells":     {rows, Options{Neighbors: 1, Cells: -1}},
		"NaN":           {with(math.NaN()), one},
		"infinite":      {with(math.Inf(-1)), one},
		"too large":     {with(1e200), one},
	} {
		if _, err := Build(ctx, eng, c.rows, Source{}, c.o); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of input", what, err)
		}
	}
	s := build(t, eng, rows, Options{Neighbors: 4})
	for _, r := range []float64{0, -1, 1.01, math.NaN()} {
		if _, err := s.Probes(r); !fault.IsInput(err) {
			t.Errorf("recall %v: error %v, want one of input", r, err)
		}
	}
	for what, other := range map[string]blas.Matrix{"fewer rows": rows.View(0, 99, 0, 3),
		"fewer columns": rows.View(0, 100, 0, 2), "NaN": with(math.NaN()), "too large": with(1e200)} {
		if _, err := s.Open(ctx, eng, other); !fault.IsInput(err) {
			t.Errorf("opening with %s: error %v, want one of input", what, err)
		}
	}
	for what, c := range map[string]struct {
		queries   blas.Matrix
		k, probes int
	}{
		"columns": {rows.View(0, 9, 0, 2), 1, 1}, "no neighbors": {rows, 0, 1},
		"too many neighbors": {rows, 101, 1},
		"no probes":          {rows, 1, 0}, "too many probes": {rows, 1, s.Cells() + 1},
		"NaN": {with(math.NaN()), 1, 1}, "too large": {with(1e200), 1, 1},
	} {
		if _, _, err := s.Search(ctx, c.queries, c.k, c.probes); !fault.IsInput(err) {
			t.Errorf("searching with %s: error %v, want one of input", what, err)
		}
	}
	_, _, err := s.Search(ctx, with(math.NaN()), 1, 1)
	if de, ok := errors.AsType[*fault.DataError](err); !ok || de.Row != 41 || de.Column != "2" {
		t.Errorf("error %v, want one of row 41, column 2", err)
	}
}

// Every step is refused if it would exceed the memory limit, and ends with the context.
func TestLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	rows := blobs(rng, 2500, 8, 5)
	free := build(t, enginetest.New(t, 2), rows, Options{Neighbors: 4})
	isFault := func(what string, err error) {
		if !isMemory(err) {
			t.Errorf("%s: error %v, want one of memory", what, err)
		}
	}
	tight := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: 100_000})
	_, err := Build(t.Context(), tight, rows, Source{}, Options{Neighbors: 4})
	isFault("building", err)
	_, err = free.Open(t.Context(), tight, rows)
	isFault("opening", err)
	// An index that cannot be opened is not built: rows and their copy exceed the limit.
	twice := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: 2 * engine.MatrixBytes(2500, 8)})
	_, err = Build(t.Context(), twice, rows, Source{}, Options{Neighbors: 4,
		Progress: func(algorithms.Progress) { t.Error("work began on an index that does not fit") }})
	isFault("building what does not fit", err)
	_, _, err = (&Searcher{Index: free.Index, eng: tight, rows: rows, order: free.order,
		first: free.first}).Search(t.Context(), rows, 4, 3)
	isFault("searching", err)

	for looks := 1; ; looks *= 2 {
		ctx := enginetest.StopAt(looks)
		_, err := Build(ctx, free.eng, rows, Source{}, Options{Neighbors: 4})
		if !ctx.Stopped() {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("canceled at look %d: error %v", looks, err)
		}
	}
	for looks := 1; ; looks *= 2 {
		ctx := enginetest.StopAt(looks)
		_, _, err := free.Search(ctx, rows, 4, 9)
		if !ctx.Stopped() {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("search canceled at look %d: error %v", looks, err)
		}
	}
}

// Progress counts the steps.
func TestProgress(t *testing.T) {
	var steps []int
	rows := blobs(rand.New(rand.NewPCG(3, 3)), 60, 2, 2)
	build(t, enginetest.New(t, 1), rows, Options{Neighbors: 4, Progress: func(p algorithms.Progress) {
		steps = append(steps, p.Done)
	}})
	if !slices.Equal(steps, []int{0, 1, 2}) {
		t.Errorf("steps %v", steps)
	}
}
