package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

func scopEngine(t testing.TB) *engine.Engine {
	t.Helper()
	eng, err := engine.New(engine.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// proteins writes a FASTA file with the given number of sequences for each class; each class uses a
// part of the alphabet.
func proteins(t testing.TB, dir string, perClass ...int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var s strings.Builder
	for c, n := range perClass {
		for i := range n {
			fmt.Fprintf(&s, ">p%d_%d class%d\n", c, i, c)
			for range 30 + r.IntN(20) {
				s.WriteByte(points.Protein[(5*c+r.IntN(8))%len(points.Protein)])
			}
			s.WriteByte('\n')
		}
	}
	path := filepath.Join(dir, "some.fasta")
	if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadFamilies(t *testing.T) {
	path := proteins(t, t.TempDir(), 3, 7, 1, 5)
	f, err := loadFamilies(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	if f.x.Len() != 12 || slices.Max(f.class) != 1 {
		t.Errorf("%d sequences of %d classes: want the 7 and 5 of the two largest", f.x.Len(),
			slices.Max(f.class)+1)
	}
	some := f.draw(6, rand.New(rand.NewPCG(1, 1)))
	if some.x.Len() != 6 || len(some.class) != 6 {
		t.Errorf("%d drawn, %d classes: want 6", some.x.Len(), len(some.class))
	}
	for i := range 6 { // each drawn sequence has the class of its original
		at := slices.IndexFunc(f.class, func(int) bool { return true })
		for at < f.x.Len() && string(f.x.Row(at)) != string(some.x.Row(i)) {
			at++
		}
		if at == f.x.Len() || f.class[at] != some.class[i] {
			t.Errorf("sequence %d of the draw has class %d, its original another", i, some.class[i])
		}
	}
	if all := f.draw(100, nil); all.x.Len() != 12 {
		t.Errorf("%d of at most 100 drawn: want all 12", all.x.Len())
	}
	if _, err := loadFamilies(path, 5); !fault.IsInput(err) {
		t.Errorf("error %v: want an input error: there are 4 classes", err)
	}
}

// problem is a small retrieval problem.
func problem(t *testing.T, eng *engine.Engine, kernelText string) *feedback {
	t.Helper()
	f, err := loadFamilies(proteins(t, t.TempDir(), 12, 9, 9), 3)
	if err != nil {
		t.Fatal(err)
	}
	fb, err := f.feedback(t.Context(), eng, kernelText, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	return fb
}

// TestFeedbackIsKRCA: the direct evaluation is the learned distance of package krca, up to
// rounding.
func TestFeedbackIsKRCA(t *testing.T) {
	ctx, eng := context.Background(), scopEngine(t)
	for _, text := range []string{"spectrum:k=2", "rbf:sigma=0.5@spectrum:k=2"} {
		f := problem(t, eng, text)
		n := f.gram.Rows
		linear, err := kernel.Parse("linear")
		if err != nil {
			t.Fatal(err)
		}
		for _, withQuery := range []bool{false, true} {
			f.withQuery = withQuery
			for _, q := range []int{0, 13, 29} {
				labeled := f.nearest(q)[:8]
				got, err := f.learned(ctx, eng, q, labeled)
				if err != nil {
					t.Fatal(err)
				}
				members := labeled
				if withQuery {
					members = append([]int{q}, labeled...)
				}
				var chunklets [][]int
				for c := range 3 {
					var g []int
					for _, j := range members {
						if f.class[j] == c {
							g = append(g, j)
						}
					}
					if len(g) > 1 {
						chunklets = append(chunklets, g)
					}
				}
				set, err := links.FromChunklets(n, chunklets)
				if err != nil {
					t.Fatal(err)
				}
				x, err := points.NewGram(n, n, f.gram.Clone().Data, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				const eps = 0.02 // times the mean diagonal, 1
				m, err := krca.Learner{Kernel: linear, Params: krca.Params{Eps: eps}}.Fit(ctx, eng, x, set)
				if err != nil {
					t.Fatal(err)
				}
				var pairs [][2]int
				for j := range n {
					pairs = append(pairs, [2]int{q, j})
				}
				want, err := m.Distances(ctx, eng, x, pairs)
				if err != nil {
					t.Fatal(err)
				}
				for j := range n {
					if math.Abs(got[j]-eps*want[j]) > 1e-10 {
						t.Fatalf("%s, query %d (in its chunklet: %v): eps times the distance to %d is %v: "+
							"want %v", text, q, withQuery, j, got[j], eps*want[j])
					}
				}
			}
		}
	}
}

// TestFeedbackArea: the area is the share of pairs (positive, negative) in the right order, counted
// one by one.
func TestFeedbackArea(t *testing.T) {
	eng := scopEngine(t)
	f := problem(t, eng, "spectrum:k=2")
	for _, f.unlabeled = range []bool{false, true} {
		for _, q := range []int{1, 17} {
			order, d := f.nearest(q), f.distances(q)
			for i := 1; i < len(order); i++ {
				if d[order[i]] < d[order[i-1]] || order[i] == q {
					t.Fatalf("neighbor %d of %d is out of order", i, q)
				}
			}
			labeled := order[:6]
			got, ok, err := f.auc(q, d, labeled)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			right, pairs := 0.0, 0.0
			use := func(j int) bool { return j != q && !(f.unlabeled && slices.Contains(labeled, j)) }
			for a := range d {
				for b := range d {
					if use(a) && use(b) && f.class[a] == f.class[q] && f.class[b] != f.class[q] {
						pairs++
						if d[a] < d[b] {
							right++
						} else if d[a] == d[b] {
							right += 0.5
						}
					}
				}
			}
			if math.Abs(got-right/pairs) > 1e-14 {
				t.Errorf("query %d: area %v: want %v", q, got, right/pairs)
			}
		}
	}
	lonely := &feedback{gram: blas.NewMatrix(3, 3), class: []int{0, 1, 1}}
	if _, ok, err := lonely.auc(0, []float64{0, 1, 2}, nil); ok || err != nil {
		t.Errorf("a query alone in its class has an area, error %v", err)
	}
}

// TestScopTrial: a trial has the rows and columns of the table, and is the same for any number of
// workers.
func TestScopTrial(t *testing.T) {
	all, err := loadFamilies(proteins(t, t.TempDir(), 40, 30, 30), 3)
	if err != nil {
		t.Fatal(err)
	}
	run := func(workers int) [][]float64 {
		eng, err := engine.New(engine.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		values, err := scopTrial(80)(t.Context(), eng, Trial{Shared: all, seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		return values
	}
	one, two := run(1), run(2)
	if err := tsang2().check(one); err != nil {
		t.Fatal(err)
	}
	for i := range one {
		if !slices.Equal(one[i], two[i]) {
			t.Errorf("row %d: %v with one worker, %v with two", i, one[i], two[i])
		}
	}
	if !(one[1][0] > one[0][0]) {
		t.Errorf("area %v before learning, %v after: want a gain on easy data", one[0][0], one[1][0])
	}
}

func TestScopWithoutData(t *testing.T) {
	for _, table := range []Table{tsang2(), tsang3()} {
		_, err := Run(t.Context(), scopEngine(t), table, Options{Data: t.TempDir()})
		if !fault.IsInput(err) || !strings.Contains(err.Error(), table.Data[0]) {
			t.Errorf("%s: error %v: want an input error that names %s", table.Name, err, table.Data[0])
		}
	}
}
