package neighbors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"

	"pgregory.net/rapid"
)

// bruteForce sorts all rows by (distance, row). The distances are those of dist.
func bruteForce(query []float64, train blas.Matrix, self int,
	dist func(x, y []float64) float64) (index []int32, dist2 []float64) {
	for j := range train.Rows {
		if j != self {
			index = append(index, int32(j))
		}
	}
	slices.SortStableFunc(index, func(a, b int32) int {
		da, db := dist(query, train.Row(int(a))), dist(query, train.Row(int(b)))
		switch {
		case da < db:
			return -1
		case da > db:
			return 1
		}
		return 0
	})
	for _, j := range index {
		dist2 = append(dist2, dist(query, train.Row(int(j))))
	}
	return index, dist2
}

// TestSearchWithTies compares with a full sort on lattices, where all sums are exact, so
// neighbors and distances must be bit-identical.
func TestSearchWithTies(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 200).Draw(t, "n")
		d := rapid.IntRange(0, 9).Draw(t, "d")
		self := rapid.Bool().Draw(t, "excludeSelf")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "data"), 0))
		values := rapid.IntRange(1, 5).Draw(t, "values")
		train := enginetest.Lattice(rng, n, d, values)
		query := train
		k := rapid.IntRange(1, n-1).Draw(t, "k")
		if !self {
			query = enginetest.Lattice(rng, rapid.IntRange(0, 100).Draw(t, "q"), d, values)
			k = rapid.IntRange(1, n).Draw(t, "k of all")
		}
		index, dist2, err := Search(context.Background(), eng, query, train, k, self)
		if err != nil {
			t.Fatal(err)
		}
		for i := range query.Rows {
			me := -1
			if self {
				me = i
			}
			wantIndex, wantDist := bruteForce(query.Row(i), train, me, enginetest.SquaredDistance)
			if !slices.Equal(index[i*k:(i+1)*k], wantIndex[:k]) ||
				!slices.Equal(dist2[i*k:(i+1)*k], wantDist[:k]) {
				t.Fatalf("query %d: got %v %v, want %v %v", i, index[i*k:(i+1)*k], dist2[i*k:(i+1)*k],
					wantIndex[:k], wantDist[:k])
			}
		}
	})
}

// TestSearchSurvivesCancellation uses points far from the origin, near-duplicates at the
// limit of precision and coordinates of very different size, across block edges. The
// reference sorts by the same direct sums; what is tested is that the filter by expanded
// distances never drops a neighbor.
func TestSearchSurvivesCancellation(t *testing.T) {
	eng := enginetest.New(t, 2)
	rng := rand.New(rand.NewPCG(3, 3))
	for _, tt := range []struct {
		n, d   int
		offset float64
	}{{1023, 3, 0}, {1024, 3, 1e6}, {1025, 17, 1e8}, {2100, 2, 1e12}, {300, 40, 0}} {
		train := enginetest.Matrix(rng, tt.n, tt.d, tt.offset)
		for i := range tt.n / 2 { // pairs that differ in the last bits
			copy(train.Row(2*i+1), train.Row(2*i))
			train.Row(2*i + 1)[0] *= 1 + 0x1p-50
		}
		for j := range tt.d / 3 { // one in three columns a thousand times larger
			for i := range tt.n {
				train.Row(i)[3*j] *= 1000
			}
		}
		query := blas.NewMatrix(70, tt.d)
		for i := range query.Rows {
			copy(query.Row(i), train.Row(rng.IntN(tt.n)))
			query.Row(i)[0] += float64(i%3) * 1e-9
		}
		const k = 7
		index, dist2, err := Search(context.Background(), eng, query, train, k, false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range query.Rows {
			wantIndex, wantDist := bruteForce(query.Row(i), train, -1, points.SquaredDistance)
			if !slices.Equal(index[i*k:(i+1)*k], wantIndex[:k]) ||
				!slices.Equal(dist2[i*k:(i+1)*k], wantDist[:k]) {
				t.Fatalf("%+v query %d: got %v %v, want %v %v", tt, i, index[i*k:(i+1)*k], dist2[i*k:(i+1)*k],
					wantIndex[:k], wantDist[:k])
			}
			for r, j := range index[i*k : (i+1)*k] {
				want := enginetest.SquaredDistance(query.Row(i), train.Row(int(j)))
				if got := dist2[i*k+r]; !(math.Abs(got-want) <= 1e-14*want) {
					t.Fatalf("%+v: distance %g, plain sum %g", tt, got, want)
				}
			}
		}
	}
}

// TestSearchFromTheCenterOfASphere: all rows are equally far up to round-off, and the query
// itself is near the common center, so the bound rests on the rows' norms alone.
func TestSearchFromTheCenterOfASphere(t *testing.T) {
	eng := enginetest.New(t, 2)
	rng := rand.New(rand.NewPCG(9, 9))
	const n, d, k = 2000, 7, 9
	train := blas.NewMatrix(n, d)
	radii := enginetest.Matrix(rng, 1, d, 0).Row(0)
	for i := range n {
		for j, p := range rng.Perm(d) { // coordinates permuted, signs drawn
			train.Set(i, j, radii[p]*float64(2*rng.IntN(2)-1))
		}
	}
	query := blas.NewMatrix(1, d)
	index, _, err := Search(context.Background(), eng, query, train, k, false)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := bruteForce(query.Row(0), train, -1, points.SquaredDistance); !slices.Equal(index,
		want[:k]) {
		t.Errorf("got %v, want %v", index, want[:k])
	}
}

func TestDuplicatesGoToTheLowerRow(t *testing.T) {
	eng := enginetest.New(t, 2)
	rng := rand.New(rand.NewPCG(5, 5))
	train := blas.NewMatrix(3000, 5)
	base := enginetest.Matrix(rng, 1, 5, 100)
	for i := range train.Rows {
		copy(train.Row(i), base.Row(0))
	}
	index, dist2, err := Search(context.Background(), eng, base, train, 4, false)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(index, []int32{0, 1, 2, 3}) || !slices.Equal(dist2, []float64{0, 0, 0, 0}) {
		t.Errorf("got %v at %v", index, dist2)
	}
	index, _, err = Search(context.Background(), eng, train, train, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range train.Rows {
		want := []int32{0, 1}
		switch i {
		case 0:
			want = []int32{1, 2}
		case 1:
			want = []int32{0, 2}
		}
		if !slices.Equal(index[2*i:2*i+2], want) {
			t.Fatalf("row %d has neighbors %v, want %v", i, index[2*i:2*i+2], want)
		}
	}
}

// The result is bit-identical for any number of workers and any other queries in the call.
func TestBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	train, query := enginetest.Matrix(rng, 2500, 11, 3), enginetest.Matrix(rng, 300, 11, 3)
	const k = 5
	want, wantDist, err := Search(context.Background(), enginetest.New(t, 1), query, train, k, false)
	if err != nil {
		t.Fatal(err)
	}
	got, gotDist, err := Search(context.Background(), enginetest.New(t, 5), query, train, k, false)
	if err != nil || !slices.Equal(got, want) || !slices.Equal(gotDist, wantDist) {
		t.Errorf("five workers give another answer than one (%v)", err)
	}
	eng := enginetest.New(t, 2)
	for _, i := range []int{0, 63, 64, 299} {
		got, gotDist, err := Search(context.Background(), eng, query.View(i, i+1, 0, 11), train, k, false)
		if err != nil || !slices.Equal(got, want[i*k:(i+1)*k]) ||
			!slices.Equal(gotDist, wantDist[i*k:(i+1)*k]) {
			t.Errorf("query %d alone gets another answer (%v)", i, err)
		}
	}
}

func TestClassify(t *testing.T) {
	eng := enginetest.New(t, 1)
	column := func(v ...float64) blas.Matrix {
		return blas.MatrixOf(len(v), 1, v)
	}
	train, labels := column(0, 1, 2, 10, 11, 12, 4), []string{"a", "a", "a", "b", "b", "b", "c"}
	for _, tt := range []struct {
		name  string
		k     int
		query float64
		want  string
	}{
		{"nearest", 1, 3.9, "c"},
		{"tie of three goes to the nearest voter", 3, 6.4, "c"}, // c at 2.4, b at 3.6, a at 4.4
		{"tie goes to the nearest voter", 2, 3.4, "c"},
		{"majority over the nearest voter", 4, 6.6, "b"}, // c at 2.6, b at 3.4 and 4.4, a at 4.6
		{"all", 7, 100, "b"},
		{"equal distances: the lower row first", 1, 0.5, "a"},
	} {
		got, err := Classify(context.Background(), eng, train, labels, column(tt.query), tt.k)
		if err != nil || len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: got %q (%v), want %q", tt.name, got, err, tt.want)
		}
	}
	// Equally far: row 0 ("a") against row 1 ("b").
	got, err := Classify(context.Background(), eng, column(-1, 1), []string{"a", "b"}, column(0), 2)
	if err != nil || got[0] != "a" {
		t.Errorf("a vote each at the same distance: %q (%v)", got, err)
	}
}

// TestVote compares with counting by hand over random ballots.
func TestVote(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z"}), 1, 9).Draw(t, "labels")
		voters := make([]int32, len(labels))
		count := map[string]int{}
		for i, l := range labels {
			voters[i] = int32(i)
			count[l]++
		}
		got := vote(voters, labels, map[string]int{"stale": 99})
		for l, c := range count {
			if c > count[got] || (c == count[got] && slices.Index(labels, l) < slices.Index(labels, got)) {
				t.Fatalf("%v elects %q, but %q comes first", labels, got, l)
			}
		}
	})
}

func TestBadInput(t *testing.T) {
	eng := enginetest.New(t, 1)
	rng := rand.New(rand.NewPCG(8, 8))
	x, y := enginetest.Matrix(rng, 6, 3, 0), enginetest.Matrix(rng, 4, 3, 0)
	ctx := context.Background()
	var (
		param *fault.ParamError
		shape *fault.ShapeError
		data  *fault.DataError
	)
	for name, tt := range map[string]struct {
		query, train blas.Matrix
		k            int
		self         bool
		want         any
	}{
		"k 0":                 {y, x, 0, false, &param},
		"k > n":               {y, x, 7, false, &param},
		"k = n without self":  {x, x, 6, true, &param},
		"columns":             {enginetest.Matrix(rng, 4, 2, 0), x, 1, false, &shape},
		"self, rows differ":   {y, x, 1, true, &shape},
		"no training rows":    {y, blas.NewMatrix(0, 3), 1, false, &param},
		"NaN in the training": {y, with(x, math.NaN()), 1, false, &data},
		"Inf in the queries":  {with(y, math.Inf(-1)), x, 1, false, &data},
		"overflow":            {y, with(x, 1e200), 6, false, &data},
	} {
		if _, _, err := Search(ctx, eng, tt.query, tt.train, tt.k, tt.self); !errors.As(err, tt.want) ||
			!fault.IsInput(err) {
			t.Errorf("%s: got %v, want a %T", name, err, tt.want)
		}
	}
	// Rows too far away to matter may overflow.
	if index, _, err := Search(ctx, eng, y, with(x, 1e200), 5, false); err != nil ||
		slices.Contains(index, 2) {
		t.Errorf("one row at 1e200: %v, %v", index, err)
	}
	if _, err := Classify(ctx, eng, x, make([]string, 5), y, 1); !errors.As(err, &shape) {
		t.Errorf("five labels for six rows: %v", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := Search(canceled, eng, y, x, 1, false); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	small, err := engine.New(engine.Options{Backend: eng.Backend(), Workers: 1, MemoryLimit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var memory *fault.MemoryError
	if _, _, err := Search(ctx, small, y, x, 1, false); !errors.As(err, &memory) {
		t.Errorf("limit of 1000 bytes: %v", err)
	}
}

// with returns a copy of x whose value at (2, 1) is v.
func with(x blas.Matrix, v float64) blas.Matrix {
	x = x.Clone()
	x.Set(2, 1, v)
	return x
}
