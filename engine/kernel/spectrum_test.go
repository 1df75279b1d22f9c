package kernel_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// sequences returns strings as points.
func sequences(t testing.TB, alphabet string, rows ...string) *points.Sequences {
	t.Helper()
	start := []int{0}
	for _, r := range rows {
		start = append(start, start[len(start)-1]+len(r))
	}
	p, err := points.NewSequences(alphabet, start, []byte(strings.Join(rows, "")))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// counts returns the number of occurrences of each substring of length k without a gap, by the
// definition.
func counts(s string, k int) map[string]float64 {
	c := map[string]float64{}
	for i := 0; i+k <= len(s); i++ {
		if w := s[i : i+k]; !strings.ContainsRune(w, points.Gap) {
			c[w]++
		}
	}
	return c
}

// cosineOfCounts returns the normalized spectrum kernel by its definition.
func cosineOfCounts(a, b string, k int) float64 {
	product := func(x, y map[string]float64) (s float64) {
		for w, n := range x {
			s += n * y[w]
		}
		return s
	}
	x, y := counts(a, k), counts(b, k)
	return product(x, y) / math.Sqrt(product(x, x)) / math.Sqrt(product(y, y))
}

// randomSequences returns sequences that each contain a word of k letters, some with gaps.
func randomSequences(rng *rand.Rand, alphabet string, n, k int) []string {
	rows := make([]string, n)
	for i := range rows {
		var s []byte
		for range k + rng.IntN(40) {
			s = append(s, alphabet[rng.IntN(len(alphabet))])
			if len(s) > k && rng.IntN(10) == 0 {
				s = append(s, points.Gap)
			}
		}
		rows[i] = string(s)
	}
	return rows
}

// Short words are numbered by their letters, long ones by a table: both agree with the definition,
// in every function of the kernel.
func TestSpectrumAgainstDefinition(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		k := rapid.SampledFrom([]int{1, 2, 3, 5, 7, 20}).Draw(rt, "k")
		alphabet := rapid.SampledFrom([]string{"ACGT", points.Protein, "AB"}).Draw(rt, "alphabet")
		a, b := randomSequences(rng, alphabet, 6, k), randomSequences(rng, alphabet, 4, k)
		x, y := sequences(t, alphabet, a...), sequences(t, alphabet, b...)
		eng, kern := enginetest.New(t, 2), enginetest.Kernel(t, fmt.Sprintf("spectrum:k=%d", k))
		gram, cross := gramOf(t, kern, eng, x), crossOf(t, kern, eng, x, y)
		squared, err := kern.SquaredDistances(t.Context(), eng, x)
		if err != nil {
			rt.Fatal(err)
		}
		pairs, err := kern.Pairs(t.Context(), eng, x, [][2]int{{0, 5}, {3, 2}, {4, 4}})
		if err != nil {
			rt.Fatal(err)
		}
		if pairs[0] != gram.At(0, 5) || pairs[1] != gram.At(3, 2) || pairs[2] != 1 {
			rt.Fatalf("pairs %v: want %v, %v and 1", pairs, gram.At(0, 5), gram.At(3, 2))
		}
		for i := range a {
			if gram.At(i, i) != 1 {
				rt.Fatalf("k(x,x) = %v: want 1", gram.At(i, i))
			}
			for j := range a {
				want := cosineOfCounts(a[i], a[j], k)
				if !near(gram.At(i, j), want, 1e-14) || gram.At(i, j) != gram.At(j, i) {
					rt.Fatalf("k(%q, %q) = %v: want %v", a[i], a[j], gram.At(i, j), want)
				}
				if !near(squared.At(i, j), 2-2*want, 1e-13) {
					rt.Fatalf("squared distance %v: want %v", squared.At(i, j), 2-2*want)
				}
			}
			for j := range b {
				if want := cosineOfCounts(a[i], b[j], k); !near(cross.At(i, j), want, 1e-14) {
					rt.Fatalf("k(%q, %q) = %v: want %v", a[i], b[j], cross.At(i, j), want)
				}
			}
		}
	})
}

// A row of the cross matrix is bit-identical alone, in a batch, and as a row of the Gram matrix,
// although the words are numbered again each time.
func TestSpectrumRowsAreIndependent(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	eng := enginetest.New(t, 0)
	for _, text := range []string{"spectrum:k=3", "spectrum:k=9", "rbf:sigma=0.7@spectrum:k=2",
		"poly:degree=2,coef=1@spectrum:k=3"} {
		kern := enginetest.Kernel(t, text)
		x := sequences(t, points.Protein, randomSequences(rng, points.Protein, 30, 9)...)
		gram := gramOf(t, kern, eng, x)
		for _, i := range []int{0, 7, 29} {
			alone := crossOf(t, kern, eng, x.Select([]int{i}), x)
			for j := range 30 {
				if i != j && alone.At(0, j) != gram.At(i, j) { // the diagonal is exact only in Gram
					t.Errorf("%s: entry (%d, %d) is %v alone, %v in the Gram matrix", text, i, j,
						alone.At(0, j), gram.At(i, j))
				}
			}
		}
	}
}

func TestSpectrumComposition(t *testing.T) {
	a := []string{"ACGTACGTTT", "ACGACG", "TTTTT", "ACGT-ACGT"}
	eng, x := enginetest.New(t, 0), sequences(t, "ACGT", a...)
	gram := gramOf(t, enginetest.Kernel(t, "rbf:sigma=0.5@spectrum:k=3"), eng, x)
	for i := range a {
		for j := range a {
			if want := math.Exp(-(2 - 2*cosineOfCounts(a[i], a[j], 3)) / 0.5); !near(gram.At(i, j), want,
				1e-14) {
				t.Errorf("(%d, %d): %v, want %v", i, j, gram.At(i, j), want)
			}
		}
	}
}

// Permuted sequences give the permuted matrix, bit-identical for any numbering of words and number
// of workers. The matrix is positive semidefinite. A copy of a row with a doubled gap has the
// products of the original, as words end at a gap of any length.
func TestSpectrumInvariance(t *testing.T) {
	one, two := enginetest.New(t, 1), enginetest.New(t, 2)
	propertytest.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		k := rapid.SampledFrom([]int{1, 3, 12}).Draw(rt, "k")
		n := rapid.IntRange(2, 70).Draw(rt, "n")
		text := fmt.Sprintf("spectrum:k=%d", k)
		if rapid.Bool().Draw(rt, "rbf") {
			text = "rbf:sigma=0.8@" + text
		}
		rows := randomSequences(rng, points.Protein, n, k)
		rows = append(rows, strings.ReplaceAll(rows[0], "-", "--"))
		x, kern := sequences(t, points.Protein, rows...), enginetest.Kernel(t, text)
		order := rng.Perm(len(rows))
		gram, permuted := gramOf(t, kern, one, x), gramOf(t, kern, two, x.Select(order))
		for i := range order {
			for j := range order {
				if permuted.At(i, j) != gram.At(order[i], order[j]) {
					rt.Fatalf("%s: (%d, %d) is %v permuted, %v before", text, i, j, permuted.At(i, j),
						gram.At(order[i], order[j]))
				}
			}
			if i != 0 && i != n && gram.At(n, i) != gram.At(0, i) {
				rt.Fatalf("%s: product with %d is %v with a longer gap, %v before", text, i, gram.At(n, i),
					gram.At(0, i))
			}
		}
		g, err := points.NewGram(n+1, n+1, gram.Data, nil, nil)
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := kernel.Sound(t.Context(), one, g); err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
	})
}

func TestSpectrumErrors(t *testing.T) {
	eng := enginetest.New(t, 0)
	dna, protein := sequences(t, "ACGT", "ACGT", "GGGG"), sequences(t, points.Protein, "ACGT")
	vectors := enginetest.Normal(rand.New(rand.NewPCG(1, 1)), 2, 3, 0)
	spectrum, rbf := enginetest.Kernel(t, "spectrum:k=3"), enginetest.Kernel(t, "rbf:sigma=1")
	for name, c := range map[string]struct {
		run   func() error
		words []string
	}{
		"short": {func() error {
			_, err := spectrum.Gram(t.Context(), eng, sequences(t, "ACGT", "ACGT", "AC"))
			return err
		}, []string{"row 1", "2 letters", "at least 3"}},
		"broken by gaps": {func() error {
			_, err := spectrum.Diagonal(t.Context(), eng, sequences(t, "ACGT", "AC-GT-AC"))
			return err
		}, []string{"row 0", "outside the alphabet"}},
		"alphabets": {func() error {
			_, err := spectrum.Cross(t.Context(), eng, dna, protein)
			return err
		}, []string{"alphabet", "ACGT", points.Protein}},
		"vectors": {func() error {
			_, err := spectrum.Gram(t.Context(), eng, vectors)
			return err
		}, []string{"spectrum:k=3", "vectors"}},
		"vectors in cross": {func() error {
			_, err := spectrum.Cross(t.Context(), eng, dna, vectors)
			return err
		}, []string{"vectors"}},
		"no spectrum": {func() error {
			_, err := rbf.Pairs(t.Context(), eng, dna, [][2]int{{0, 1}})
			return err
		}, []string{"sequences", "@spectrum"}},
		"pair out of range": {func() error {
			_, err := spectrum.Pairs(t.Context(), eng, dna, [][2]int{{0, 2}})
			return err
		}, []string{"point 2"}},
	} {
		err := c.run()
		if !fault.IsInput(err) {
			t.Errorf("%s: error %v: want an input error", name, err)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q does not contain %q", name, err, w)
			}
		}
		var de *fault.DataError
		if name == "short" && (!errors.As(err, &de) || de.Row != 1) {
			t.Errorf("error %#v: want a DataError of row 1", err)
		}
	}
}

// scop returns the sequences of a FASTA file, with gaps for letters that are not amino acids.
func scop(b *testing.B) *points.Sequences {
	b.Helper()
	folder := os.Getenv("MUSTLINK_DATA")
	if folder == "" {
		b.Skip("MUSTLINK_DATA is not set")
	}
	f, err := os.Open(filepath.Join(folder, "scop40.fasta.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	var rows []string
	for s := bufio.NewScanner(z); s.Scan(); {
		if strings.HasPrefix(s.Text(), ">") {
			rows = append(rows, "")
			continue
		}
		rows[len(rows)-1] += strings.Map(func(c rune) rune {
			if strings.ContainsRune(points.Protein, c) {
				return c
			}
			return points.Gap
		}, strings.ToUpper(s.Text()))
	}
	return sequences(b, points.Protein, rows...)
}

// BenchmarkSpectrumGram computes the Gram matrix of all 11,206 sequences in reused memory.
func BenchmarkSpectrumGram(b *testing.B) {
	x := scop(b)
	eng := enginetest.New(b, 0)
	for _, text := range []string{"spectrum:k=3", "rbf:sigma=1@spectrum:k=3", "spectrum:k=5"} {
		b.Run(fmt.Sprintf("n=%d/kernel=%s/workers=%d", x.Len(), text, eng.Workers()), func(b *testing.B) {
			kern, dst := enginetest.Kernel(b, text), eng.NewMatrix(x.Len(), x.Len())
			for b.Loop() {
				if err := kern.GramTo(b.Context(), eng, dst, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
