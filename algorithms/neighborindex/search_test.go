package neighborindex

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// blobs returns rows around some centers, in d dimensions.
func blobs(rng *rand.Rand, n, d, centers int) blas.Matrix {
	center, x := enginetest.Matrix(rng, centers, d, 0), enginetest.Matrix(rng, n, d, 0)
	for i := range n {
		for j, v := range center.Row(rng.IntN(centers)) {
			x.Row(i)[j] += 5 * v
		}
	}
	return x
}

func build(t interface{ Fatal(...any) }, eng *engine.Engine, rows blas.Matrix, o Options) *Searcher {
	x, err := Build(context.Background(), eng, rows, Source{"model", "data"}, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.Open(context.Background(), eng, rows)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// If all cells are probed, neighbors and distances are those of the exact search bit for bit: with
// ties and equal rows too.
func TestAllCellsAreExact(t *testing.T) {
	propertytest.CheckSome(t, 60, func(t *rapid.T) {
		eng := enginetest.New(t, rapid.IntRange(1, 3).Draw(t, "workers"))
		n, d := rapid.IntRange(3, 900).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "d")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "data"), 0))
		rows, queries := blobs(rng, n, d, 5), blobs(rng, rapid.IntRange(0, 250).Draw(t, "q"), d, 5)
		if rapid.Bool().Draw(t, "lattice") {
			rows, queries = enginetest.Lattice(rng, n, d, 3), enginetest.Lattice(rng, queries.Rows, d, 3)
			rows.Set(0, 0, 7) // not all are equal
		}
		k := rapid.IntRange(1, n).Draw(t, "k")
		s := build(t, eng, rows,
			Options{Neighbors: min(k, n-1), Cells: rapid.IntRange(1, n).Draw(t, "cells"), Seed: 1})
		index, dist2, err := s.Search(context.Background(), queries, k, s.Cells())
		if err != nil {
			t.Fatal(err)
		}
		wantIndex, want, err := neighbors.Search(context.Background(), eng, queries, rows, k, false)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(index, wantIndex) || !slices.Equal(dist2, want) {
			t.Fatalf("%d neighbors of %d rows among %d in %d cells differ from the exact ones", k,
				queries.Rows, n, s.Cells())
		}
	})
}

// With few probes, the neighbors of each query are those of an exact search among the rows of the
// nearest cells.
func TestProbedCellsAreExact(t *testing.T) {
	ctx, eng, rng := context.Background(), enginetest.New(t, 2), rand.New(rand.NewPCG(2, 2))
	const n, d, k = 3000, 5, 4
	rows, queries := blobs(rng, n, d, 9), blobs(rng, 300, d, 9)
	s := build(t, eng, rows, Options{Neighbors: k, Cells: 40, Seed: 3})
	for _, probes := range []int{1, 2, 7} {
		index, dist2, err := s.Search(ctx, queries, k, probes)
		if err != nil {
			t.Fatal(err)
		}
		wantSearch(t, s, queries, k, probes, index, dist2)
	}
}

// wantSearch compares with exact searches among the rows of the nearest cells: so many, or as many
// as have k rows.
func wantSearch(t *testing.T, s *Searcher, queries blas.Matrix, k, probes int, index []int32,
	dist2 []float64) {
	t.Helper()
	for i := range queries.Rows {
		order := make([]int, s.Cells())
		for c := range order {
			order[c] = c
		}
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Compare(enginetest.SquaredDistance(queries.Row(i), s.centers.Row(a)),
				enginetest.SquaredDistance(queries.Row(i), s.centers.Row(b)))
		})
		var among []int32
		for rank, c := range order {
			if rank >= probes && len(among) >= k {
				break
			}
			among = append(among, s.order[s.first[c]:s.first[c+1]]...)
		}
		slices.Sort(among)
		part := blas.NewMatrix(len(among), queries.Cols)
		for r, j := range among {
			copy(part.Row(r), s.rows.Row(int(j)))
		}
		at, want, err := neighbors.Search(t.Context(), s.eng, queries.View(i, i+1, 0, queries.Cols), part, k,
			false)
		if err != nil {
			t.Fatal(err)
		}
		for r := range at {
			if index[i*k+r] != among[at[r]] || dist2[i*k+r] != want[r] {
				t.Fatalf("%d probes, query %d: neighbor %d is row %d, want %d", probes, i, r, index[i*k+r],
					among[at[r]])
			}
		}
	}
}

// Index and result are bit-identical for any number of workers, and whatever queries come along.
func TestSameBitsForAnyWorkers(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(4, 4))
	const d, k, probes = 6, 5, 3
	rows, queries := blobs(rng, 5000, d, 30), blobs(rng, 700, d, 30)
	s := build(t, enginetest.New(t, 1), rows, Options{Neighbors: k, Seed: 5})
	index, dist2, err := s.Search(ctx, queries, k, probes)
	if err != nil {
		t.Fatal(err)
	}
	other := build(t, enginetest.New(t, 3), rows, Options{Neighbors: k, Seed: 5})
	if !slices.Equal(s.centers.Data, other.centers.Data) || !slices.Equal(s.cells, other.cells) ||
		!slices.Equal(s.chosen.hits, other.chosen.hits) ||
		!slices.Equal(s.chosen.squares, other.chosen.squares) ||
		!slices.Equal(s.held.hits, other.held.hits) {
		t.Fatal("the index depends on the number of workers")
	}
	for lo := 0; lo < queries.Rows; lo += 70 {
		part, squared, err := other.Search(ctx, queries.View(lo, lo+70, 0, d), k, probes)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(part, index[lo*k:(lo+70)*k]) || !slices.Equal(squared, dist2[lo*k:(lo+70)*k]) {
			t.Fatal("the result depends on workers, or on other queries")
		}
	}
}

// A search has k neighbors of every query, however few rows the nearest cell has.
func TestCellsWithFewRows(t *testing.T) {
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(6, 6))
	rows := blobs(rng, 60, 2, 3)
	s := build(t, eng, rows, Options{Neighbors: 9, Cells: 40})
	for _, k := range []int{3, 30, 60} {
		index, dist2, err := s.Search(t.Context(), rows, k, 1)
		if err != nil {
			t.Fatal(err)
		}
		wantSearch(t, s, rows, k, 1, index, dist2)
	}
}

// Among finds the wanted share of the nearest other rows, at their distances, and never the row.
func TestAmong(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(70, 30))
	const n, k = 3000, 7
	x := blas.NewMatrix(n, 4)
	for i := range n {
		for c := range x.Cols {
			x.Set(i, c, float64(rng.IntN(12))) // some rows are equal
		}
	}
	index, squared, err := Among(t.Context(), eng, x, k, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	_, exact, err := neighbors.Search(t.Context(), eng, x, x, k, true)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := range n {
		for r := range k {
			at, j := i*k+r, int(index[i*k+r])
			if j == i || squared[at] != enginetest.SquaredDistance(x.Row(i), x.Row(j)) {
				t.Fatalf("row %d has neighbor %d at %v", i, j, squared[at])
			}
			if squared[at] <= exact[i*k+k-1] {
				found++
			}
		}
	}
	if recall := float64(found) / (n * k); recall < 0.88 || recall == 1 {
		t.Errorf("recall %v, want about 0.9", recall)
	}
	for _, recall := range []float64{0, math.NaN()} {
		if _, _, err := Among(t.Context(), eng, x, k, recall); !fault.IsInput(err) {
			t.Errorf("recall %v: error %v", recall, err)
		}
	}
}
