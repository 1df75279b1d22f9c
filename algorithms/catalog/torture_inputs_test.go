package catalog_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// ordeal is an input of a fit.
type ordeal struct {
	name string
	x    points.Points
	set  *links.Set
	// large is true for one that methods for few points are spared.
	large bool
}

// blobs returns points of two classes.
func blobs(n, d int, seed uint64) (*points.Dense, []string) {
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 2)
		for j := range d {
			x.Data[i*d+j] = rng.NormFloat64()
		}
		x.Data[i*d] += float64(4 * (i % 2))
	}
	return x, labels
}

// linked returns a set of the given must-links and cannot-links.
func linked(t testing.TB, n int, must, cannot [][2]int) *links.Set {
	t.Helper()
	var list []links.Link
	for _, p := range must {
		list = append(list, links.NewLink(p[0], p[1], links.Must))
	}
	for _, p := range cannot {
		list = append(list, links.NewLink(p[0], p[1], links.Cannot))
	}
	set, err := links.New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// changed returns the usual points and links after a change of the points.
func changed(t testing.TB, name string, change func(x *points.Dense)) ordeal {
	t.Helper()
	x, labels := blobs(20, 4, 7)
	change(x)
	return ordeal{name: name, x: x, set: enginetest.Drawn(t, labels, 10, 10, 1)}
}

// each applies f to every value, of which it knows the row and the column.
func each(f func(i, j int, v float64) float64) func(*points.Dense) {
	return func(x *points.Dense) {
		for k, v := range x.Data {
			x.Data[k] = f(k/x.D, k%x.D, v)
		}
	}
}

// named returns the inputs that each break some implementation of some method.
func named(t testing.TB) []ordeal {
	out := scales(t)
	out = append(out, shapes(t)...)
	out = append(out, small(t)...)
	out = append(out, targets(t)...)
	return append(out, kinds(t)...)
}

// scales returns data of all sizes, as a whole and by column.
func scales(t testing.TB) (out []ordeal) {
	for _, s := range []float64{5e-324, 1e-310, 1e-300, 1e-200, 1e-162, 1e-100, 1e-30, 1e30, 1e75, 1e100,
		1e150, 1e160, 1e200, 1e300, 4e307} {
		out = append(out, changed(t, fmt.Sprintf("all times %g", s), each(func(_, _ int, v float64) float64 {
			if s == 5e-324 {
				return math.Round(v) * s
			}
			return v * s
		})))
		out = append(out, changed(t, fmt.Sprintf("one column times %g", s),
			each(func(_, j int, v float64) float64 {
				if j == 1 {
					return v * s
				}
				return v
			})))
	}
	for _, c := range []float64{1e4, 1e8, 1e12, 1e15, 1e17, 1e100, 1e308} {
		out = append(out, changed(t, fmt.Sprintf("moved by %g", c), each(func(_, _ int, v float64) float64 {
			return v + c
		})))
	}
	for _, c := range []float64{1e6, 1e12, 1e100, 1e154, 1e308, -1e308} {
		out = append(out, changed(t, fmt.Sprintf("one point at %g", c), func(x *points.Dense) {
			x.Row(3)[2] = c
		}))
	}
	out = append(out, changed(t, "columns of all sizes", each(func(_, j int, v float64) float64 {
		return v * math.Pow(10, float64(4*j-8))
	})))
	return append(out, changed(t, "ends of the range", each(func(i, _ int, v float64) float64 {
		return math.Copysign(math.MaxFloat64, float64(i%2)-0.5)
	})))
}

// shapes returns data that lie oddly.
func shapes(t testing.TB) []ordeal {
	ulp := func(v float64, k int) float64 {
		for range k {
			v = math.Nextafter(v, 100)
		}
		return v
	}
	out := []ordeal{
		changed(t, "plain", func(*points.Dense) {}),
		changed(t, "one place", func(x *points.Dense) { clear(x.Data) }),
		changed(t, "one place far from 0", each(func(_, _ int, _ float64) float64 { return 1e9 / 7. })),
		changed(t, "two places", each(func(i, _ int, _ float64) float64 { return float64(i % 2) })),
		changed(t, "pairs of equal points", func(x *points.Dense) {
			for i := 0; i < x.N; i += 2 {
				copy(x.Row(i+1), x.Row(i))
			}
		}),
		changed(t, "equal classes", func(x *points.Dense) {
			for i := 2; i < x.N; i++ {
				copy(x.Row(i), x.Row(i%2))
			}
		}),
		changed(t, "nearly equal points", func(x *points.Dense) {
			for i := 0; i < x.N; i += 2 {
				copy(x.Row(i+1), x.Row(i))
				x.Row(i + 1)[i%4] = ulp(x.Row(i)[i%4], 1)
			}
		}),
		changed(t, "one place but for the last bits", each(func(i, j int, _ float64) float64 {
			return ulp(1, (i*7+j*3)%4)
		})),
		changed(t, "constant columns", each(func(_, j int, v float64) float64 {
			if j > 1 {
				return 7
			}
			return v
		})),
		changed(t, "collinear columns", func(x *points.Dense) {
			for i := range x.N {
				r := x.Row(i)
				r[2], r[3] = r[0]-2*r[1], r[0]/3
			}
		}),
		changed(t, "points on a line", each(func(i, j int, _ float64) float64 {
			return float64(i) * float64(j+1)
		})),
		changed(t, "condition of 1e16", func(x *points.Dense) {
			for i := range x.N {
				r := x.Row(i)
				r[1], r[2], r[3] = r[0]+1e-8*r[1], r[0]-1e-8*r[2], r[0]+1e-4*r[3]
			}
		}),
		changed(t, "lattice", each(func(i, j int, _ float64) float64 { return float64(i >> j & 1) })),
	}
	simplex, labels := &points.Dense{N: 20, D: 20, Data: make([]float64, 400)}, make([]string, 20)
	for i := range 20 {
		simplex.Row(i)[i], labels[i] = 1, fmt.Sprint(i%2)
	}
	out = append(out, ordeal{name: "regular simplex", x: simplex,
		set: enginetest.Drawn(t, labels, 10, 10, 1)})
	equal, labels := blobs(20, 4, 9)
	for i := range 20 { // four blobs of the same five points
		for j := range 4 {
			equal.Row(i)[j] = equal.Row(i % 5)[j]
		}
		equal.Row(i)[i/5] += 10
		labels[i] = fmt.Sprint(i / 5 % 2)
	}
	out = append(out, ordeal{name: "equal blobs", x: equal, set: enginetest.Drawn(t, labels, 10, 10, 1)})
	flat, labels := blobs(20, 1, 3)
	out = append(out, ordeal{name: "one feature", x: flat, set: enginetest.Drawn(t, labels, 10, 10, 1)})
	wide, labels := blobs(40, 10000, 4)
	return append(out, ordeal{name: "10,000 features", x: wide, set: enginetest.Drawn(t, labels, 30, 30, 1)})
}

// small returns data of very few points.
func small(t testing.TB) (out []ordeal) {
	for n := 1; n <= 4; n++ {
		x, _ := blobs(n, 3, uint64(n))
		out = append(out, ordeal{name: fmt.Sprintf("%d points without links", n), x: x,
			set: linked(t, n, nil, nil)})
		if n > 1 {
			out = append(out, ordeal{name: fmt.Sprintf("%d points, a must-link", n), x: x,
				set: linked(t, n, [][2]int{{0, 1}}, nil)})
			out = append(out, ordeal{name: fmt.Sprintf("%d points, a cannot-link", n), x: x,
				set: linked(t, n, nil, [][2]int{{0, 1}})})
		}
		if n > 2 {
			out = append(out, ordeal{name: fmt.Sprintf("%d points, one of each", n), x: x,
				set: linked(t, n, [][2]int{{0, 1}}, [][2]int{{1, 2}})})
			same := x.Select(make([]int, n)).(*points.Dense)
			out = append(out, ordeal{name: fmt.Sprintf("%d equal points", n), x: same,
				set: linked(t, n, [][2]int{{0, 1}}, [][2]int{{1, 2}})})
		}
	}
	none := &points.Dense{N: 3, Data: []float64{}}
	out = append(out, ordeal{name: "points without features", x: none,
		set: linked(t, 3, [][2]int{{0, 1}}, [][2]int{{1, 2}})})
	return append(out, ordeal{name: "no points", x: &points.Dense{D: 3}, set: linked(t, 0, nil, nil)})
}

// targets returns odd links between ordinary points.
func targets(t testing.TB) []ordeal {
	x, labels := blobs(20, 4, 7)
	all, err := links.FromLabels(labels)
	if err != nil {
		t.Fatal(err)
	}
	var every, odd [][2]int
	for i := range 20 {
		for j := range i {
			every = append(every, [2]int{j, i})
			if (i+j)%2 == 1 {
				odd = append(odd, [2]int{j, i})
			}
		}
	}
	many, sides := blobs(48, 3, 8)
	crowd, err := links.FromLabels(sides)
	if err != nil {
		t.Fatal(err)
	}
	twins, _ := blobs(20, 4, 7)
	for i := range 4 {
		copy(twins.Row(i+4), twins.Row(i))
	}
	same := [][2]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}
	return []ordeal{
		{name: "no links", x: x, set: linked(t, 20, nil, nil)},
		{name: "must-links only", x: x, set: enginetest.Drawn(t, labels, 10, 0, 1)},
		{name: "cannot-links only", x: x, set: enginetest.Drawn(t, labels, 0, 10, 1)},
		{name: "one must-link", x: x, set: linked(t, 20, [][2]int{{2, 4}}, nil)},
		{name: "one cannot-link", x: x, set: linked(t, 20, nil, [][2]int{{2, 5}})},
		{name: "one link of each kind", x: x, set: linked(t, 20, [][2]int{{2, 4}}, [][2]int{{2, 5}})},
		{name: "all pairs linked", x: x, set: all},
		{name: "all pairs must-linked", x: x, set: linked(t, 20, every, nil)},
		{name: "all pairs cannot-linked", x: x, set: linked(t, 20, nil, every)},
		{name: "must-links across the classes", x: x, set: linked(t, 20, odd, [][2]int{{0, 2}})},
		{name: "1128 links on 48 points", x: many, set: crowd, large: true},
		{name: "a cannot-link within a component", x: x,
			set: linked(t, 20, [][2]int{{0, 2}, {2, 4}, {6, 8}}, [][2]int{{0, 4}, {1, 2}, {5, 6}})},
		{name: "cannot-links within components only", x: x,
			set: linked(t, 20, [][2]int{{0, 2}, {2, 4}}, [][2]int{{0, 4}})},
		{name: "must-links between equal points only", x: twins,
			set: linked(t, 20, same, [][2]int{{8, 9}, {10, 11}})},
		{name: "cannot-links between equal points only", x: twins,
			set: linked(t, 20, [][2]int{{8, 10}, {9, 11}}, same)},
		{name: "both kinds between equal points", x: twins, set: linked(t, 20, same[:2], same[2:])},
	}
}

// kinds returns other points than vectors: sparse ones, Gram matrices and sequences.
func kinds(t testing.TB) (out []ordeal) {
	_, labels := blobs(20, 4, 7)
	set := enginetest.Drawn(t, labels, 10, 10, 1)
	for _, s := range []float64{1, 0, 1e-310, 1e-200, 1e100, 1e200} {
		out = append(out, ordeal{name: fmt.Sprintf("sparse times %g, with empty rows", s),
			x: sparse(20, 12, s), set: set})
	}
	gram := func(name string, entry func(i, j int) float64) {
		data := make([]float64, 400)
		for i := range 20 {
			for j := range 20 {
				data[i*20+j] = entry(max(i, j), min(i, j))
			}
		}
		g, err := points.NewGram(20, 20, data, nil, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		out = append(out, ordeal{name: "Gram matrix: " + name, x: g, set: set})
	}
	x, _ := blobs(20, 4, 7)
	product := func(i, j int) (sum float64) {
		for c, v := range x.Row(i) {
			sum += v * x.Row(j)[c]
		}
		return sum
	}
	gram("of rank 4", product)
	for _, s := range []float64{1e-320, 1e-200, 1e-30, 1e30, 1e150, 1e200, 1e300} {
		gram(fmt.Sprintf("times %g", s), func(i, j int) float64 { return s * product(i, j) })
	}
	gram("of zeros", func(_, _ int) float64 { return 0 })
	gram("of ones", func(_, _ int) float64 { return 1 })
	gram("identity", func(i, j int) float64 { return float64(b2i(i == j)) })
	gram("Hilbert's", func(i, j int) float64 { return 1 / float64(i+j+1) })
	gram("Gaussian, nearly singular", func(i, j int) float64 {
		return math.Exp(-1e-4 * float64((i-j)*(i-j)))
	})
	gram("indefinite by rounding", func(i, j int) float64 {
		return product(i, j) + 1e-13*float64((i*7+j*3)%5-2)
	})
	gram("indefinite", func(i, j int) float64 {
		return float64(b2i(i == j)) + 2*float64(b2i(i/2 == j/2)) - 2*float64(b2i(i != j))
	})
	gram("one row huge", func(i, j int) float64 {
		v := product(i, j)
		for _, k := range []int{i, j} {
			if k == 3 {
				v *= 1e12
			}
		}
		return v
	})
	for _, s := range []struct {
		name  string
		words []string
	}{
		{"sequences", []string{"ACGTACGT", "TTTTACG", "ACACAC", "GGGTACC", "ACGACG"}},
		{"equal sequences", []string{"ACGTACGT"}},
		{"sequences that are short", []string{"ACGTA", "A", "", "AC", "--", "A-C-G-T"}},
		{"sequences without words", []string{"A", "", "C-"}},
	} {
		start, letters := []int{0}, []byte(nil)
		for i := range 20 {
			letters = append(letters, s.words[i%len(s.words)]...)
			start = append(start, len(letters))
		}
		x, err := points.NewSequences("ACGT", start, letters)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ordeal{name: s.name, x: x, set: set})
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sparse returns sparse points, every fourth without a value.
func sparse(n, d int, scale float64) *points.CSR {
	rng := rand.New(rand.NewPCG(11, 5))
	x := &points.CSR{N: n, D: d, Start: []int{0}}
	for i := range n {
		for j := range d {
			if v := rng.NormFloat64(); i%4 != 3 && v > 0.3 {
				x.Col, x.Val = append(x.Col, int32(j)), append(x.Val, scale*v)
			}
		}
		x.Start = append(x.Start, len(x.Col))
	}
	return x
}
