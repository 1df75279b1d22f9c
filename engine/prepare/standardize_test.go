package prepare

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// exactMoments computes mean and standard deviation (divisor n) of a column in 400 bits.
func exactMoments(values []float64) (mean, std float64) {
	wide := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	n := wide(float64(len(values)))
	sum := wide(0)
	for _, v := range values {
		sum.Add(sum, wide(v))
	}
	m := new(big.Float).Quo(sum, n)
	squares := wide(0)
	for _, v := range values {
		d := new(big.Float).Sub(wide(v), m)
		squares.Add(squares, d.Mul(d, d))
	}
	squares.Quo(squares, n)
	mean, _ = m.Float64()
	std, _ = squares.Sqrt(squares).Float64()
	return mean, std
}

// Mean and standard deviation agree with exact arithmetic, for offsets that ruin one-pass formulas
// and scales whose squares overflow or vanish.
func TestStandardizeIsAccurate(t *testing.T) {
	const n = 1000
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ offset, scale float64 }{{0, 1}, {1e6, 1}, {1e9, 1e-3}, {-1e15, 10},
		{0, 1e-170}, {0, 1e200}, {1e300, 1e290}, {3, 1e-14}} {
		t.Run(fmt.Sprintf("offset=%g,scale=%g", c.offset, c.scale), func(t *testing.T) {
			data := make([]float64, n)
			for i := range data {
				data[i] = c.offset + c.scale*rng.NormFloat64()
			}
			x := &points.Dense{N: n, D: 1, Data: data}
			s, constant, err := Standardize(x)
			if err != nil || len(constant) > 0 {
				t.Fatal(err, constant)
			}
			mean, std := exactMoments(data)
			// The mean is stored in float64: an error of half a unit in its last place is
			// unavoidable; the standard deviation is around the true mean.
			if e := math.Abs(s.Mean[0]-mean) / (math.Abs(mean)*0x1p-52 + std*n*0x1p-52); !(e <= 1) {
				t.Errorf("mean %v, want %v (error ratio %.3g)", s.Mean[0], mean, e)
			}
			if e := math.Abs(s.Scale[0]-std) / std; !(e <= n*0x1p-52) {
				t.Errorf("standard deviation %v, want %v (relative error %.3g)", s.Scale[0], std, e)
			}
			y, err := s.Apply(x)
			if err != nil {
				t.Fatal(err)
			}
			m, d := exactMoments(y.(*points.Dense).Data)
			// Half a unit in the last place of the values, relative to the standard deviation.
			tol := n*0x1p-52 + 2*math.Abs(mean)*0x1p-52/std
			if !(math.Abs(m) <= tol) || !(math.Abs(d-1) <= n*0x1p-52) {
				t.Errorf("scaled data have mean %g (tolerance %.3g) and standard deviation 1%+.3g", m, tol,
					d-1)
			}
		})
	}
}

func TestStandardizeConstantColumns(t *testing.T) {
	third, tenth := math.Nextafter(0.3, 1), 0.3
	x := &points.Dense{N: 3, D: 5, Data: []float64{
		0.1, third, 1, 0, 1e-300,
		0.1, tenth, 2, 0, 2e-300,
		0.1, third, 3, 0, 3e-300,
	}}
	s, constant, err := Standardize(x)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(constant, []int{0, 1, 3}) {
		t.Errorf("constant columns %v, want 0, 1, 3", constant)
	}
	if s.Mean[0] != 0.1 || s.Scale[0] != 0 || s.Scale[4] == 0 {
		t.Errorf("scaling %+v", s)
	}
	// New points stay at 0 there too, even with another value.
	y, err := s.Apply(&points.Dense{N: 1, D: 5, Data: []float64{7, 7, 2, 7, 2e-300}})
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range y.(*points.Dense).Data {
		if !(math.Abs(v) <= 1e-15) {
			t.Errorf("column %d of the mean (or a constant) is %v, want 0", j, v)
		}
	}
	one := &points.Dense{N: 1, D: 2, Data: []float64{3, 4}}
	if _, constant, err := Standardize(one); err != nil || len(constant) != 2 {
		t.Errorf("one point: constant %v, %v", constant, err)
	}
}

func TestStandardizeErrors(t *testing.T) {
	s := &Scaling{Mean: []float64{0, 0}, Scale: []float64{1, 1e-300}}
	huge := &points.Dense{N: 2, D: 1, Data: []float64{1.7e308, 1.6e308}}
	_, _, overflow := Standardize(huge)
	_, _, sparse := Standardize(&points.CSR{N: 1, D: 1, Start: []int{0, 0}})
	_, _, gram := Standardize(&points.Gram{N: 1, M: 1, Data: []float64{1}})
	_, _, sequences := Standardize(&points.Sequences{Alphabet: "AB", Start: []int{0, 1},
		Letters: []byte("A")})
	_, _, empty := Standardize(&points.Dense{D: 2})
	_, features := s.Apply(&points.Dense{N: 1, D: 3, Data: make([]float64, 3)})
	_, applied := s.Apply(&points.Dense{N: 1, D: 2, Data: []float64{0, 1e300}})
	_, applySparse := s.Apply(&points.CSR{N: 1, D: 2, Start: []int{0, 0}})
	for name, err := range map[string]error{"overflow": overflow, "sparse": sparse, "gram": gram,
		"sequences": sequences, "empty": empty, "features": features,
		"overflow on applying": applied, "apply to sparse": applySparse} {
		if !fault.IsInput(err) {
			t.Errorf("%s: error %v, want an input error", name, err)
		}
	}
}

func TestFingerprint(t *testing.T) {
	base := func() *points.Dense { return &points.Dense{N: 2, D: 3, Data: []float64{1, 2, 3, 4, 5, 6}} }
	seen := map[string]string{dataset.Fingerprint(base()): "base"}
	if len(dataset.Fingerprint(base())) != 64 {
		t.Error("want 64 hexadecimal digits")
	}
	other := func(name string, p points.Points) {
		t.Helper()
		f := dataset.Fingerprint(p)
		if twin, ok := seen[f]; ok {
			t.Errorf("%s has the fingerprint of %s", name, twin)
		}
		seen[f] = name
	}
	for i := range 6 {
		x := base()
		x.Data[i] = math.Nextafter(x.Data[i], 9)
		other(fmt.Sprintf("value %d", i), x)
	}
	swapped := base()
	swapped.N, swapped.D = 3, 2
	other("shape", swapped)
	other("gram", &points.Gram{N: 2, M: 3, Data: base().Data})
	other("gram with references",
		&points.Gram{N: 2, M: 3, Data: base().Data, Diagonal: []float64{1, 1}, Reference: []int{-1, -1}})
	other("csr", &points.CSR{N: 2, D: 3, Start: []int{0, 1, 2}, Col: []int32{0, 1}, Val: []float64{1, 2}})
	other("csr, other columns",
		&points.CSR{N: 2, D: 3, Start: []int{0, 1, 2}, Col: []int32{0, 2}, Val: []float64{1, 2}})
	other("sequences", &points.Sequences{Alphabet: "AB", Start: []int{0, 1, 3}, Letters: []byte("ABB")})
	other("sequences, other letters",
		&points.Sequences{Alphabet: "AB", Start: []int{0, 1, 3}, Letters: []byte("ABA")})
	other("sequences, other starts",
		&points.Sequences{Alphabet: "AB", Start: []int{0, 2, 3}, Letters: []byte("ABB")})
	other("sequences, other alphabet",
		&points.Sequences{Alphabet: "ABC", Start: []int{0, 1, 3}, Letters: []byte("ABB")})
	long := &points.Dense{N: 3000, D: 1, Data: make([]float64, 3000)} // several buffers
	other("long", long)
	long.Data[2999] = 1
	other("long, last value", long)
	long.Data[0] = 1
	other("long, first value", long)
	if seen[dataset.Fingerprint(base())] != "base" {
		t.Error("two calls give different fingerprints")
	}
}
