package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// There are exactly N points in classes of equal size to within one, bit-identical for the same
// seed.
func TestGenerate(t *testing.T) {
	for _, name := range Generators() {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{2, 3, 17, 100} {
				d, err := Generate(name, GenerateOptions{N: n, Seed: 7})
				x := dense(t, d, err)
				if x.N != n || x.D != 2 || len(d.Labels) != n || len(d.Features) != 2 {
					t.Fatalf("N=%d: %d x %d, %d labels", n, x.N, x.D, len(d.Labels))
				}
				if err := x.Validate(); err != nil {
					t.Fatal(err)
				}
				size := make(map[string]int)
				for _, l := range d.Labels {
					size[l]++
				}
				if len(size) < 2 {
					t.Errorf("N=%d: %d class", n, len(size))
				}
				for l, k := range size {
					if k < n/len(size) || k > (n+len(size)-1)/len(size) {
						t.Errorf("N=%d: class %s has %d points", n, l, k)
					}
				}
				again, _ := Generate(name, GenerateOptions{N: n, Seed: 7})
				other, _ := Generate(name, GenerateOptions{N: n, Seed: 8})
				if Fingerprint(d.Points) != Fingerprint(again.Points) ||
					Fingerprint(d.Points) == Fingerprint(other.Points) {
					t.Errorf("N=%d: the points do not depend on the seed alone", n)
				}
			}
		})
	}
}

// Without noise every point is on the documented curve, on the side of its class.
func TestGeneratedShapes(t *testing.T) {
	const tiny = 1e-12
	on := map[string]func(x, y float64) string{
		"xor": func(x, y float64) string {
			if math.Abs(math.Abs(x)-1) > 1e-10 || math.Abs(math.Abs(y)-1) > 1e-10 {
				return "off"
			}
			return map[bool]string{true: "0", false: "1"}[x*y > 0]
		},
		"rings": func(x, y float64) string {
			return map[float64]string{1: "0", 2: "1"}[math.Round(1e9*math.Hypot(x, y))/1e9]
		},
		"double-spiral": func(x, y float64) string {
			r := math.Hypot(x, y)
			if r > 3+1e-10 {
				return "off"
			}
			sin, cos := math.Sincos(math.Pi * r)
			for arm, sign := range map[string]float64{"0": 1, "1": -1} {
				if math.Hypot(x-sign*r*cos, y-sign*r*sin) < 1e-9 {
					return arm
				}
			}
			return "off"
		},
		"chessboard": func(x, y float64) string {
			if x < -tiny || x > 4+tiny || y < -tiny || y > 4+tiny {
				return "off"
			}
			return []string{"0", "1"}[(int(x)+int(y))%2]
		},
		"moons": func(x, y float64) string {
			switch {
			case math.Abs(math.Hypot(x, y)-1) < 1e-10 && y > -1e-10:
				return "0"
			case math.Abs(math.Hypot(x-1, y-0.5)-1) < 1e-10 && y < 0.5+1e-10:
				return "1"
			}
			return "off"
		},
		"blobs": func(x, y float64) string {
			for k, c := range [][2]float64{{0, 0}, {4, 0}, {2, math.Sqrt(12)}} {
				if math.Hypot(x-c[0], y-c[1]) < 1e-10 {
					return []string{"0", "1", "2"}[k]
				}
			}
			return "off"
		},
	}
	for _, name := range Generators() {
		d, err := Generate(name, GenerateOptions{N: 500, Noise: tiny, Seed: 1})
		x := dense(t, d, err)
		for i, label := range d.Labels {
			if got := on[name](x.Row(i)[0], x.Row(i)[1]); got != label {
				t.Fatalf("%s: point %v is of class %s, its label is %s", name, x.Row(i), got, label)
			}
		}
	}
}

// The noise of xor has the documented standard deviation around the corners.
func TestNoise(t *testing.T) {
	for _, noise := range []float64{0, 0.05} {
		d, err := Generate("xor", GenerateOptions{N: 20000, Noise: noise, Seed: 2})
		x := dense(t, d, err)
		var sum, squares float64
		for _, v := range x.Data {
			e := math.Abs(v) - 1 // the fold at 0 matters only beyond 4 standard deviations
			sum += e
			squares += e * e
		}
		want := noise
		if noise == 0 {
			want = 0.25
		}
		n := float64(len(x.Data))
		// Five standard errors.
		if got := math.Sqrt(squares / n); !(math.Abs(got-want) < 5*want/math.Sqrt(2*n)) ||
			!(math.Abs(sum/n) < 5*want/math.Sqrt(n)) {
			t.Errorf("noise %v: standard deviation %v around %v, want %v around 0", noise, got, sum/n, want)
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	for _, o := range []GenerateOptions{{N: 1}, {N: -5}, {N: 5, Noise: -1}, {N: 5, Noise: math.NaN()},
		{N: 5, Noise: math.Inf(1)}} {
		if _, err := Generate("xor", o); !fault.IsInput(err) {
			t.Errorf("%+v: error %v, want an input error", o, err)
		}
	}
	_, err := Generate("spiral", GenerateOptions{N: 5})
	if !fault.IsInput(err) || !strings.Contains(err.Error(), "double-spiral") {
		t.Errorf("unknown name: error %v", err)
	}
	if !slices.Equal(Generators(),
		[]string{"xor", "rings", "double-spiral", "chessboard", "moons", "blobs"}) {
		t.Errorf("generators %v", Generators())
	}
}

func TestSplit(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(rt, "n")
		fraction := rapid.Float64Range(0.01, 0.99).Draw(rt, "fraction")
		seed := rapid.Uint64().Draw(rt, "seed")
		var labels []string
		if rapid.Bool().Draw(rt, "stratified") {
			labels = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), n, n).Draw(rt, "labels")
		}
		first, second, err := Split(n, fraction, labels, seed)
		if err != nil {
			rt.Fatal(err)
		}
		all := slices.Concat(first, second)
		slices.Sort(all)
		for i := range all {
			if all[i] != i || len(all) != n {
				rt.Fatalf("parts %v and %v do not make up 0..%d", first, second, n-1)
			}
		}
		if !slices.IsSorted(first) || !slices.IsSorted(second) {
			rt.Fatalf("parts are not ascending: %v, %v", first, second)
		}
		want := min(max(int(math.Round(fraction*float64(n))), 1), n-1)
		if len(first) != want {
			rt.Fatalf("first part has %d of %d rows, want %d", len(first), n, want)
		}
		size, got := map[string]int{}, map[string]int{}
		for _, l := range labels {
			size[l]++
		}
		for _, i := range first {
			if labels != nil {
				got[labels[i]]++
			}
		}
		for l, k := range size { // always less than one row from the exact share
			if share := float64(k) * float64(want) / float64(n); math.Abs(float64(got[l])-share) >= 1 {
				rt.Fatalf("class %s has %d of %d rows in the first part, its share is %.3f", l, got[l], k,
					share)
			}
		}
		again, _, _ := Split(n, fraction, labels, seed)
		if !slices.Equal(first, again) {
			rt.Fatal("the same seed gave another split")
		}
	})
}

// Every row must be as likely as any other to be in the first part.
func TestSplitIsUniform(t *testing.T) {
	const n, trials = 10, 4000
	hits := make([]int, n)
	for seed := range uint64(trials) {
		first, _, err := Split(n, 0.3, nil, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range first {
			hits[i]++
		}
	}
	// Five standard deviations of a binomial count.
	mean, tol := 0.3*trials, 5*math.Sqrt(trials*0.3*0.7)
	for i, h := range hits {
		if math.Abs(float64(h)-mean) > tol {
			t.Errorf("row %d was drawn %d times, want %.0f +- %.0f", i, h, mean, tol)
		}
	}
}

func TestSplitErrors(t *testing.T) {
	for name, f := range map[string]func() error{
		"fraction 0":   func() error { _, _, err := Split(10, 0, nil, 1); return err },
		"fraction 1":   func() error { _, _, err := Split(10, 1, nil, 1); return err },
		"fraction NaN": func() error { _, _, err := Split(10, math.NaN(), nil, 1); return err },
		"one row":      func() error { _, _, err := Split(1, 0.5, nil, 1); return err },
		"labels":       func() error { _, _, err := Split(3, 0.5, []string{"a"}, 1); return err },
	} {
		if err := f(); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want an input error", name, err)
		}
	}
}
