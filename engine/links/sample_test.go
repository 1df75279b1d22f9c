package links

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func drawLabels(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c", "a"}), 1, 14).Draw(t, "labels")
}

// pairCounts counts same-class and different-class pairs of labeled rows one by one.
func pairCounts(labels []string) (same, different, rows, classes int) {
	seen := make(map[string]bool)
	for i, a := range labels {
		if a == "" {
			continue
		}
		rows++
		seen[a] = true
		for _, b := range labels[:i] {
			if b == a {
				same++
			} else if b != "" {
				different++
			}
		}
	}
	return same, different, rows, len(seen)
}

// checkSigns fails unless every link of s agrees with the labels and is a distinct pair.
func checkSigns(t fataler, labels []string, s *Set) {
	t.Helper()
	seen := make(map[[2]int]bool)
	for _, l := range append(slices.Clone(s.Must()), s.Cannot()...) {
		if labels[l.I] == "" || labels[l.J] == "" || (labels[l.I] == labels[l.J]) != (l.Sign == Must) ||
			l.I >= l.J || seen[[2]int{l.I, l.J}] {
			t.Fatalf("link %+v between labels %q and %q", l, labels[l.I], labels[l.J])
		}
		seen[[2]int{l.I, l.J}] = true
	}
	if s.N() != len(labels) || !slices.IsSortedFunc(s.Must(), comparePairs) ||
		!slices.IsSortedFunc(s.Cannot(), comparePairs) {
		t.Fatalf("set on %d rows of %d, must %v, cannot %v: want them sorted", s.N(), len(labels), s.Must(),
			s.Cannot())
	}
}

func TestSampleByCount(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		labels := drawLabels(t)
		same, different, _, _ := pairCounts(labels)
		must, cannot := rapid.IntRange(0, same).Draw(t, "must"),
			rapid.IntRange(0, different).Draw(t, "cannot")
		seed := rapid.Uint64().Draw(t, "seed")
		s := mustSet(SampleByCount(labels, must, cannot, seed))
		if len(s.Must()) != must || len(s.Cannot()) != cannot {
			t.Fatalf("%d must- and %d cannot-links, want %d and %d", len(s.Must()), len(s.Cannot()), must,
				cannot)
		}
		checkSigns(t, labels, s)
		again := mustSet(SampleByCount(labels, must, 0, seed))
		equal(t, "must-links of the same seed without cannot-links", again.Must(), s.Must())
		for _, ask := range [][2]int{{same + 1, 0}, {0, different + 1}, {-1, 0}, {0, -1}} {
			var param *fault.ParamError
			if _, err := SampleByCount(labels, ask[0], ask[1], seed); !errors.As(err, &param) {
				t.Fatalf("%d must and %d cannot of %d and %d: error %v, want a *fault.ParamError", ask[0],
					ask[1], same, different, err)
			}
		}
	})
}

func TestSampleByComponents(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		labels := drawLabels(t)
		_, _, rows, classes := pairCounts(labels)
		fraction := rapid.Float64Range(0, 1).Draw(t, "fraction")
		s, err := SampleByComponents(labels, fraction, rapid.Uint64().Draw(t, "seed"))
		target := int(math.Round(fraction * float64(rows)))
		if fraction == 0 || target < classes {
			var param *fault.ParamError
			if !errors.As(err, &param) {
				t.Fatalf("%d components of %d classes: error %v, want a *fault.ParamError", target, classes,
					err)
			}
			return
		}
		mustSet(s, err)
		checkSigns(t, labels, s)
		if got := s.NumComponents() - (len(labels) - rows); got != target {
			t.Fatalf("%d components of %d labeled rows, want %d", got, rows, target)
		}
	})
}

func TestSampleByComponentsErrors(t *testing.T) {
	for _, fraction := range []float64{0, -0.5, 1.01, math.NaN(), math.Inf(1)} {
		if _, err := SampleByComponents([]string{"a", "a"}, fraction, 1); !fault.IsInput(err) {
			t.Errorf("fraction %v: error %v, want an input error", fraction, err)
		}
	}
	// Only one pair in about 20,000 joins the two rows of class b: the search must end at the limit
	// of 1000 links, with 3 components instead of 2.
	labels := append(slices.Repeat([]string{"a"}, 200), "b", "b")
	if _, err := sampleByComponents(labels, 2.0/202, 1, 1000); !fault.IsInput(err) {
		t.Errorf("limit on draws: error %v, want an input error", err)
	}
	if s := mustSet(SampleByComponents(labels, 2.0/202, 1)); s.NumComponents() != 2 {
		t.Errorf("%d components, want 2", s.NumComponents())
	}
}

// The numbering of pairs must contain every pair exactly once.
func TestPairNumberingIsBijective(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		labels := drawLabels(t)
		same, different, _, _ := pairCounts(labels)
		c := newClasses(labels)
		if c.samePairs() != uint64(same) || c.differentPairs() != uint64(different) {
			t.Fatalf("%d and %d pairs, counting gives %d and %d", c.samePairs(), c.differentPairs(), same,
				different)
		}
		for _, kind := range []struct {
			total int
			pair  func(uint64) (int, int)
			same  bool
		}{{same, c.same, true}, {different, c.different, false}} {
			seen := make(map[[2]int]bool)
			for k := range kind.total {
				i, j := kind.pair(uint64(k))
				if i == j || (labels[i] == labels[j]) != kind.same || labels[i] == "" || labels[j] == "" {
					t.Fatalf("pair %d is (%d, %d) of labels %q", k, i, j, labels)
				}
				seen[[2]int{min(i, j), max(i, j)}] = true
			}
			if len(seen) != kind.total {
				t.Fatalf("%d numbers give %d pairs", kind.total, len(seen))
			}
		}
	})
}

func TestUnrankPairIsExactForHugeNumbers(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		b := rapid.Uint64Range(1, 1<<31).Draw(t, "b")
		a := rapid.OneOf(rapid.Just(uint64(0)), rapid.Just(b-1), rapid.Uint64Range(0, b-1)).Draw(t, "a")
		if x, y := unrankPair(b*(b-1)/2 + a); uint64(x) != a || uint64(y) != b {
			t.Fatalf("pair (%d, %d) comes back as (%d, %d)", a, b, x, y)
		}
	})
}

func TestShuffleIsAPermutation(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		total := rapid.Uint64Range(1, 50).Draw(t, "total")
		s := newShuffle(total, rapid.Uint64().Draw(t, "seed"), 1)
		seen := make(map[uint64]bool)
		for k := range total {
			v := s.next()
			if v >= total || seen[v] {
				t.Fatalf("draw %d of %d is %d, repeated or out of range", k, total, v)
			}
			if seen[v] = true; len(s.moved) > int(min(k+1, total-k-1)) {
				t.Fatalf("%d positions stored after %d draws of %d", len(s.moved), k+1, total)
			}
		}
	})
}

// chiSquare returns sum (observed - expected)^2 / expected over equally likely outcomes.
func chiSquare(observed []int) float64 {
	total := 0
	for _, o := range observed {
		total += o
	}
	expected := float64(total) / float64(len(observed))
	x := 0.0
	for _, o := range observed {
		x += (float64(o) - expected) * (float64(o) - expected) / expected
	}
	return x
}

// Every subset of k pairs must be equally likely: chi-square over all C(6,2) = 15 subsets
// of two of the six same-class pairs. 36.1 is the 0.1 % point for 14 degrees of freedom;
// the seeds are fixed, so the test is not flaky.
func TestSampleByCountIsUniform(t *testing.T) {
	labels := []string{"a", "b", "a", "a", "b", "b"} // three pairs in each class
	index := make(map[string]int)
	observed := make([]int, 15)
	for seed := range uint64(6000) {
		s := mustSet(SampleByCount(labels, 2, 0, seed))
		key := fmt.Sprint(s.Must()[0].I, s.Must()[0].J, s.Must()[1].I, s.Must()[1].J)
		if _, ok := index[key]; !ok {
			index[key] = len(index)
		}
		observed[index[key]]++
	}
	if x := chiSquare(observed); len(index) != 15 || x > 36.1 {
		t.Errorf("%d subsets of 15, chi-square %.1f on 14 degrees of freedom, want below 36.1", len(index), x)
	}
}

// The first pair of SampleByComponents is uniform over same-class pairs: with a target of
// one join the sample is that pair. 26.1 is the 0.1 % point for 8 degrees of freedom.
func TestSampleByComponentsIsUniform(t *testing.T) {
	labels := []string{"a", "b", "a", "a", "b", "", "a", "b", "c"} // 6 + 3 + 0 pairs
	index := make(map[[2]int]int)
	observed := make([]int, 9)
	for seed := range uint64(4500) {
		s := mustSet(SampleByComponents(labels, 7.0/8, seed))
		key := [2]int{s.Must()[0].I, s.Must()[0].J}
		if _, ok := index[key]; !ok {
			index[key] = len(index)
		}
		observed[index[key]]++
	}
	if x := chiSquare(observed); len(index) != 9 || x > 26.1 {
		t.Errorf("%d pairs of 9, chi-square %.1f on 8 degrees of freedom, want below 26.1", len(index), x)
	}
}

func manyLabels(n, classes int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = fmt.Sprint(i % classes)
	}
	return labels
}

// A million rows have 5e11 pairs: sampling from them must not list them.
func TestSamplingLargeSets(t *testing.T) {
	labels := manyLabels(1_000_000, 3)
	s := mustSet(SampleByCount(labels, 20_000, 20_000, 1))
	if len(s.Must()) != 20_000 || len(s.Cannot()) != 20_000 {
		t.Errorf("%d must- and %d cannot-links, want 20000 of each", len(s.Must()), len(s.Cannot()))
	}
	checkSigns(t, labels, s)
	if s := mustSet(SampleByComponents(labels, 0.95, 1)); s.NumComponents() != 950_000 {
		t.Errorf("%d components, want 950000", s.NumComponents())
	}
	var memory *fault.MemoryError
	if _, err := SampleByCount(labels, maxLinks, 1, 1); !errors.As(err, &memory) {
		t.Errorf("a sample of %d links: error %v, want a *fault.MemoryError", maxLinks+1, err)
	}
}

func BenchmarkSample(b *testing.B) {
	labels := manyLabels(1_000_000, 10)
	b.Run("count/n=1000000/k=100000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mustSet(SampleByCount(labels, 50_000, 50_000, 1))
		}
	})
	b.Run("components/n=1000000/fraction=0.7", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mustSet(SampleByComponents(labels, 0.7, 1))
		}
	})
}

func BenchmarkNew(b *testing.B) {
	s := mustSet(SampleByCount(manyLabels(100_000, 10), 500_000, 500_000, 1))
	ls := slices.Concat(s.Must(), s.Cannot())
	b.Run(fmt.Sprintf("links=%d", len(ls)), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mustSet(New(100_000, ls))
		}
	})
}

// The closure of FromLabels has every pair of labeled rows, with the sign of its labels.
func TestFromLabels(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c", "d"}), 1, 14).Draw(t, "labels")
		s := mustSet(FromLabels(labels))
		closed := mustSet(s.Closure())
		for i, a := range labels {
			for j, b := range labels[i+1:] {
				j += i + 1
				want := Sign(0)
				if a != "" && b != "" {
					want = Cannot
					if a == b {
						want = Must
					}
				}
				got := Sign(0)
				for _, l := range slices.Concat(closed.Must(), closed.Cannot()) {
					if l.I == i && l.J == j {
						got = l.Sign
					}
				}
				if got != want {
					t.Fatalf("labels %q: pair %d-%d has sign %v, want %v", labels, i, j, got, want)
				}
			}
		}
		if len(s.Conflicts()) > 0 || s.Consistent() != nil {
			t.Fatal("the links contradict each other")
		}
	})
}

// Links of partly labeled rows are those of the labeled rows alone, with the numbers that these
// have among all, and cannot-links of a single class are refused by what is missing.
func TestSampleOfSomeLabels(t *testing.T) {
	labels := []string{"", "a", "b", "", "a", "b", "a", "", "b"}
	var rows []int
	var some []string
	for i, label := range labels {
		if label != "" {
			rows, some = append(rows, i), append(some, label)
		}
	}
	got, err := SampleByCount(labels, 4, 5, 7)
	if err != nil {
		t.Fatal(err)
	}
	want, err := SampleByCount(some, 4, 5, 7)
	if err != nil {
		t.Fatal(err)
	}
	for k, list := range [][]Link{got.Must(), got.Cannot()} {
		for at, l := range [][]Link{want.Must(), want.Cannot()}[k] {
			if g := list[at]; g.I != rows[l.I] || g.J != rows[l.J] || g.Sign != l.Sign {
				t.Errorf("link %d is %+v: want that between rows %d and %d", at, g, rows[l.I], rows[l.J])
			}
		}
	}
	_, err = SampleByCount([]string{"a", "", "a"}, 1, 1, 1)
	if pe, ok := errors.AsType[*fault.ParamError](err); !ok || pe.Param != "cannot" ||
		!strings.Contains(pe.Want, "at least two classes") {
		t.Errorf("one class: error %v", err)
	}
}
