package activelearning

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// blobs returns n points around the corners of a polygon, gap apart, and the class of each.
func blobs(n, classes int, gap float64, seed uint64) (blas.Matrix, []int) {
	r := rand.New(rand.NewPCG(seed, 1))
	m, of := blas.NewMatrix(n, 2), make([]int, n)
	for i := range n {
		of[i] = r.IntN(classes)
		angle := 2 * math.Pi * float64(of[i]) / float64(classes)
		m.Set(i, 0, gap*math.Cos(angle)+r.NormFloat64())
		m.Set(i, 1, gap*math.Sin(angle)+r.NormFloat64())
	}
	return m, of
}

func truth(of []int, i, j int) links.Link {
	sign := links.Cannot
	if of[i] == of[j] {
		sign = links.Must
	}
	return links.NewLink(i, j, sign)
}

func start(t rapid.TB, coordinates blas.Matrix, list []links.Link, o Options) *Session {
	t.Helper()
	set, err := links.New(coordinates.Rows, list)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(coordinates, set, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closure returns what links imply, by package links.
func closure(t rapid.TB, n int, list []links.Link) map[[2]int]links.Sign {
	t.Helper()
	set, err := links.New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	if set, err = set.Closure(); err != nil {
		t.Fatal(err)
	}
	implied := map[[2]int]links.Sign{}
	for _, l := range append(set.Must(), set.Cannot()...) {
		implied[[2]int{l.I, l.J}] = l.Sign
	}
	return implied
}

// For any initial links and skipped queries: no implied and no skipped pair is queried, Known
// agrees with the closure, and without skips every pair with a class is known at the end.
func TestQuestionsAreOpen(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(t, "n")
		classes := rapid.IntRange(1, 5).Draw(t, "classes")
		coordinates, of := blobs(n, classes, 3, rapid.Uint64().Draw(t, "seed"))
		var list []links.Link
		for range rapid.IntRange(0, 10).Draw(t, "links") {
			i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
			if i != j {
				list = append(list, truth(of, i, j))
			}
		}
		skips := rapid.Bool().Draw(t, "skips")
		s := start(t, coordinates, list, Options{Seed: 1})
		skipped := map[[2]int]bool{}
		for asked := 0; ; asked++ {
			implied := closure(t, n, s.Links())
			for i := range n {
				for j := i + 1; j < n; j++ {
					sign, known := s.Known(i, j)
					if want, there := implied[[2]int{i, j}]; known != there || sign != want {
						t.Fatalf("rows %d and %d: known %v as %v, implied %v as %v", i, j, known, sign, there,
							want)
					}
				}
			}
			q, ok := s.Next()
			if !ok {
				break
			}
			pair := [2]int{min(q.I, q.J), max(q.I, q.J)}
			if _, there := implied[pair]; there || skipped[pair] || q.I == q.J {
				t.Fatalf("%v is queried, but it is implied (%v) or was skipped (%v)", pair, there,
					skipped[pair])
			}
			if asked > n*n {
				t.Fatal("more queries than pairs")
			}
			if skips && rapid.Bool().Draw(t, "skip") {
				s.Skip(q.I, q.J)
				skipped[pair] = true
				continue
			}
			if err := s.Answer(truth(of, q.I, q.J)); err != nil {
				t.Fatal(err)
			}
		}
		if len(skipped) > 0 {
			return
		}
		for i := range n {
			for j := i + 1; j < n; j++ {
				if sign, known := s.Known(i, j); !known || sign != truth(of, i, j).Sign {
					t.Fatalf("rows %d and %d: known %v as %v at the end", i, j, known, sign)
				}
			}
		}
	})
}

// All classes of blobs are found within a few queries per class, and assigning all rows takes about
// one query for each.
func TestBlobsAreFoundSoon(t *testing.T) {
	for seed := range uint64(5) {
		const classes, n = 6, 300
		coordinates, of := blobs(n, classes, 20, seed)
		s := start(t, coordinates, nil, Options{Seed: seed})
		found, asked := 0, 0
		for q, ok := s.Next(); ok; q, ok = s.Next() {
			if err := s.Answer(truth(of, q.I, q.J)); err != nil {
				t.Fatal(err)
			}
			if asked++; found == 0 && s.Classes() == classes {
				found = asked
			}
		}
		if most := classes * (classes - 1) / 2; found == 0 || found > most {
			t.Errorf("seed %d: %d classes after %d queries: want %d within %d", seed, s.Classes(), found,
				classes, most)
		}
		if asked > n+classes*classes {
			t.Errorf("seed %d: %d queries assign %d rows", seed, asked, n)
		}
	}
}

// With a known number of classes, a row that is in none of the others is in the last one: two
// classes take one query per row.
func TestKnownNumberOfClasses(t *testing.T) {
	const n = 60
	coordinates, of := blobs(n, 2, 0.5, 3)
	s := start(t, coordinates, nil, Options{Classes: 2})
	asked := 0
	for q, ok := s.Next(); ok; q, ok = s.Next() {
		if err := s.Answer(truth(of, q.I, q.J)); err != nil {
			t.Fatal(err)
		}
		asked++
	}
	if asked != n-1 {
		t.Errorf("%d queries: want %d", asked, n-1)
	}
	for i := range n {
		if sign, known := s.Known(0, i); i > 0 && (!known || sign != truth(of, 0, i).Sign) {
			t.Errorf("row %d: known %v as %v", i, known, sign)
		}
	}
}

// The rows of a batch are distinct, as far as classes have enough rows. Its queries are open, the
// first one is that of Next, and Batch does not change the session.
func TestBatch(t *testing.T) {
	const n, count = 80, 12
	coordinates, of := blobs(n, 3, 4, 2)
	var list []links.Link
	for i := range n {
		for j := range i {
			if i < 30 && of[i] == of[j] { // classes with enough rows
				list = append(list, truth(of, i, j))
			}
		}
	}
	s := start(t, coordinates, list, Options{})
	batch := s.Batch(count)
	if len(batch) != count {
		t.Fatalf("%d queries: want %d", len(batch), count)
	}
	used := map[int]bool{}
	for _, q := range batch {
		if used[q.I] {
			t.Errorf("%v: row %d occurs in two queries of %v", q, q.I, batch)
		}
		for r := range n {
			if sign, known := s.Known(q.J, r); used[q.J] && known && sign == links.Must && !used[r] {
				t.Errorf("%v: row %d occurs in two queries of %v, row %d of its class in none", q, q.J, batch,
					r)
			}
		}
		used[q.I], used[q.J] = true, true
		if _, known := s.Known(q.I, q.J); known {
			t.Errorf("%v is known", q)
		}
	}
	if q, _ := s.Next(); q != batch[0] || s.Batch(count)[count-1] != batch[count-1] {
		t.Error("Batch changes the session")
	}
	if got := len(start(t, coordinates, nil, Options{}).Batch(2 * n)); got != n-1 {
		t.Errorf("a batch of all rows has %d queries: want one for each of %d rows", got, n-1)
	}
	if s.Batch(0) != nil || len(start(t, blas.NewMatrix(0, 2), nil, Options{}).Batch(3)) != 0 {
		t.Error("queries of a session without rows")
	}
}

// If many rows have the same uncertain position, a batch takes one row of each position first.
func TestBatchSpreads(t *testing.T) {
	coordinates := blas.NewMatrix(9, 2)
	for i, p := range [][2]float64{{0, 0}, {10, 0}, {0, 0.1}, {10, 0.1}, {5, 0}, {5.001, 0}, {5, 0.001},
		{5, 8}, {5.5, -9}} {
		coordinates.Set(i, 0, p[0])
		coordinates.Set(i, 1, p[1])
	}
	s := start(t, coordinates,
		[]links.Link{links.NewLink(0, 1, links.Cannot), links.NewLink(0, 2, links.Must),
			links.NewLink(1, 3, links.Must)}, Options{Classes: 2})
	middle := 0
	for _, q := range s.Batch(3) {
		if q.I >= 4 && q.I <= 6 {
			middle++
		}
	}
	if middle != 1 {
		t.Errorf("%d of three queries are about the same position: %v", middle, s.Batch(3))
	}
}

// An answer that contradicts the links is refused, with a path of links between its rows that
// implies the opposite.
func TestContradiction(t *testing.T) {
	coordinates, _ := blobs(8, 2, 3, 1)
	list := []links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 1, links.Must),
		links.NewLink(2, 3, links.Cannot), links.NewLink(3, 4, links.Must)}
	for k := range list {
		list[k].Line = k + 2
	}
	s := start(t, coordinates, list, Options{})
	for _, c := range []struct {
		l    links.Link
		path string
	}{
		{links.NewLink(2, 0, links.Cannot), "2-1 must (line 3), 1-0 must (line 2)"},
		{links.NewLink(0, 4, links.Must),
			"0-1 must (line 2), 1-2 must (line 3), 2-3 cannot (line 4), 3-4 must (line 5)"},
		{links.NewLink(4, 0, links.Must),
			"4-3 must (line 5), 3-2 cannot (line 4), 2-1 must (line 3), 1-0 must (line 2)"},
		{links.NewLink(3, 2, links.Must), "3-2 cannot (line 4)"},
	} {
		before := len(s.Links())
		err := s.Answer(c.l)
		e, ok := errors.AsType[*ContradictionError](err)
		if !ok || !fault.IsInput(err) || e.PathString() != c.path || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%v: %v: want the path %s", c.l, err, c.path)
		}
		if len(s.Links()) != before {
			t.Errorf("%v was added", c.l)
		}
	}
	if err := s.Answer(links.NewLink(0, 2, links.Must)); err != nil {
		t.Errorf("an implied link is refused: %v", err)
	}
}

// A session that starts from the links of another one has the same classes.
func TestResumed(t *testing.T) {
	const n = 60
	coordinates, of := blobs(n, 4, 3, 5)
	s := start(t, coordinates, nil, Options{})
	for range 40 {
		q, ok := s.Next()
		if !ok {
			t.Fatal("no query")
		}
		if err := s.Answer(truth(of, q.I, q.J)); err != nil {
			t.Fatal(err)
		}
		if got := start(t, coordinates, s.Links(), Options{}); got.Classes() != s.Classes() {
			t.Fatalf("%d classes: want %d", got.Classes(), s.Classes())
		}
	}
}

// A number of classes below that of the links is ignored. One that the links reach assigns rows at
// once.
func TestClassesOfLinks(t *testing.T) {
	coordinates, _ := blobs(6, 2, 3, 1)
	triangle := []links.Link{links.NewLink(0, 1, links.Cannot), links.NewLink(1, 2, links.Cannot),
		links.NewLink(0, 2, links.Cannot)}
	if got := start(t, coordinates, triangle, Options{Classes: 2}).Classes(); got != 3 {
		t.Errorf("%d classes: want 3", got)
	}
	list := []links.Link{links.NewLink(3, 0, links.Cannot), links.NewLink(3, 1, links.Cannot)}
	s := start(t, coordinates, append(list, triangle...), Options{Classes: 3})
	if sign, known := s.Known(3, 2); !known || sign != links.Must {
		t.Errorf("rows 3 and 2: known %v as %v: want a must-link", known, sign)
	}
}

func TestBadInput(t *testing.T) {
	coordinates, _ := blobs(5, 2, 3, 1)
	few, _ := links.New(4, nil)
	if _, err := New(coordinates, few, Options{}); !isShape(err) {
		t.Errorf("links of other rows: %v", err)
	}
	odd, _ := links.New(5,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(1, 2, links.Must),
			links.NewLink(0, 2, links.Cannot)})
	if _, err := New(coordinates, odd, Options{}); !fault.IsInput(err) {
		t.Errorf("contradicting links: %v", err)
	}
	none, _ := links.New(5, nil)
	if _, err := New(coordinates, none, Options{Classes: -1}); !fault.IsInput(err) {
		t.Errorf("a negative number of classes: %v", err)
	}
	s := start(t, coordinates, nil, Options{})
	for _, l := range []links.Link{links.NewLink(0, 5, links.Must), links.NewLink(2, 2, links.Must),
		{I: 0, J: 1}} {
		if err := s.Answer(l); !fault.IsInput(err) {
			t.Errorf("%v: %v", l, err)
		}
	}
	if err := Contradiction(5, nil, links.NewLink(0, 5, links.Must)); !fault.IsInput(err) {
		t.Errorf("a link of a row that is not there: %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e200} {
		bad := coordinates.Clone()
		bad.Set(3, 1, v)
		_, err := New(bad, none, Options{})
		if e, ok := errors.AsType[*fault.DataError](err); !ok || e.Row != 3 {
			t.Errorf("a coordinate of %g: %v", v, err)
		}
	}
}

func isShape(err error) bool {
	_, ok := errors.AsType[*fault.ShapeError](err)
	return ok
}

// A link that contradicts nothing has no contradiction: one that is new, implied, or given.
func TestNoContradiction(t *testing.T) {
	given := []links.Link{links.NewLink(0, 1, links.Must), links.NewLink(1, 2, links.Must),
		links.NewLink(2, 3, links.Cannot)}
	for _, l := range []links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 0, links.Must),
		links.NewLink(0, 3, links.Cannot), links.NewLink(3, 4, links.Must)} {
		if err := Contradiction(5, given, l); err != nil {
			t.Errorf("%v: %v", l, err)
		}
	}
	for _, l := range []links.Link{links.NewLink(1, 0, links.Cannot), links.NewLink(0, 2, links.Cannot),
		links.NewLink(0, 3, links.Must)} {
		if err := Contradiction(5, given, l); err == nil {
			t.Errorf("%v is accepted", l)
		}
	}
}
