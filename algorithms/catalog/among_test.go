package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// written returns the "@" and the path of a new file of these lines.
func written(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return "@" + path
}

// table returns the lines of a matrix of which only these rows and columns are there.
func table(s [][]float64, rows []int) []string {
	lines := []string{""}
	for _, i := range rows {
		lines[0] += fmt.Sprintf(",c%d", i)
	}
	lines[0] = lines[0][1:]
	for _, i := range rows {
		line := ""
		for _, j := range rows {
			line += fmt.Sprintf(",%g", s[i][j])
		}
		lines = append(lines, line[1:])
	}
	return lines
}

// A learner among some rows fits the same model as one whose files and lesson were cut to these
// rows by hand.
func TestAmong(t *testing.T) {
	const n = 60
	ctx, eng, rng := t.Context(), enginetest.New(t, 2), rand.New(rand.NewPCG(1, 2))
	x, labels := blobs(n, 4, 12)
	all := rng.Perm(n)
	kept := slices.Sorted(slices.Values(all[:45]))
	slices.Sort(all)
	s := make([][]float64, n)
	for i := range s {
		s[i] = make([]float64, n)
		for j := range i {
			s[i][j] = rng.Float64()
			s[j][i] = s[i][j]
		}
	}
	number := func(i int) int { return slices.Index(kept, i) } // -1 for a row that is left out
	var marks, own []string
	for i := 0; i < n; i += 2 {
		if marks = append(marks, fmt.Sprint(i)); number(i) >= 0 {
			own = append(own, fmt.Sprint(number(i)))
		}
	}
	set := enginetest.Drawn(t, labels, 40, 40, 1)
	some, err := set.Restrict(kept)
	if err != nil {
		t.Fatal(err)
	}
	lesson, part := drawn(rng, n, labels, number)
	for _, m := range catalog.Methods() {
		files := map[string][2]string{"": {}}
		for _, p := range m.Parameters {
			switch p.File {
			case "similarities":
				files[p.Name] = [2]string{written(t, table(s, all)...), written(t, table(s, kept)...)}
			case "their row numbers, one a line":
				files[p.Name] = [2]string{written(t, marks...), written(t, own...)}
			case "":
			default:
				t.Errorf("%s: a file of %q: want a test that cuts it to some rows", m.Name, p.File)
			}
		}
		for name, paths := range files {
			whole, want := learner(t, m, name, paths[0], lesson), learner(t, m, name, paths[1], part)
			got, err := algorithms.Among(whole, kept)
			if err != nil {
				t.Fatalf("%s %s: %v", m.Name, name, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s %s: the learner among the rows is not that of the data of the rows:\n%+v\n%+v",
					m.Name, name,
					got, want)
			}
			if name == "" {
				continue // equal learners
			}
			a, err := got.Fit(ctx, eng, x.Select(kept), some)
			if err != nil {
				t.Fatalf("%s %s: %v", m.Name, name, err)
			}
			b, err := want.Fit(ctx, eng, x.Select(kept), some)
			if err != nil {
				t.Fatalf("%s %s: %v", m.Name, name, err)
			}
			if !slices.Equal(enginetest.TimelessModel(t, a), enginetest.TimelessModel(t, b)) {
				t.Errorf("%s %s: the models differ", m.Name, name)
			}
		}
	}
}

// drawn returns a lesson of random comparisons and targets, and what is left of it for some rows.
func drawn(rng *rand.Rand, n int, labels []string, number func(int) int) (all, some algorithms.Lesson) {
	for range 80 {
		p := rng.Perm(n)
		q := links.Quadruplet{I: p[0], J: p[1], K: p[2], L: p[3]}
		all.Quadruplets = append(all.Quadruplets, q)
		if q = (links.Quadruplet{I: number(p[0]), J: number(p[1]), K: number(p[2]),
			L: number(p[3])}); min(q.I, q.J,
			q.K, q.L) >= 0 {
			some.Quadruplets = append(some.Quadruplets, q)
		}
		t := links.Triplet{I: p[4], J: p[5], K: p[6]}
		all.Triplets = append(all.Triplets, t)
		if t = (links.Triplet{I: number(p[4]), J: number(p[5]), K: number(p[6])}); min(t.I, t.J, t.K) >= 0 {
			some.Triplets = append(some.Triplets, t)
		}
	}
	for i := range labels {
		v := rng.Float64()
		all.Targets = append(all.Targets, v)
		if number(i) >= 0 {
			some.Targets = append(some.Targets, v)
		}
	}
	return all, some
}

// learner returns the learner with one file, and with what the method learns from a lesson.
func learner(t *testing.T, m catalog.Method, file, path string, lesson algorithms.Lesson) algorithms.Learner {
	t.Helper()
	c := catalog.Config{Lesson: lesson, Seed: 1}
	if file != "" {
		c.Params = map[string]string{file: path}
	}
	if !m.UsesTriplets {
		c.Lesson.Triplets = nil
	}
	if !m.UsesQuadruplets {
		c.Lesson.Quadruplets = nil
	}
	if !m.UsesTargets {
		c.Lesson.Targets = nil
	}
	l, err := m.New(c)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	return l
}

// Rows that are not ascending, similarities without a row, and landmarks of which none is left are
// errors of the input.
func TestAmongBadInput(t *testing.T) {
	new := func(name string, params map[string]string) algorithms.Learner {
		l, err := catalog.New(name, catalog.Config{Params: params})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	npkl := new("npkl", map[string]string{"graph": written(t, "a,b,c", "0,1,1", "1,0,1", "1,1,0")})
	kbeta := new("kbeta", map[string]string{"landmarks": written(t, "3", "5")})
	for name, c := range map[string]struct {
		l    algorithms.Learner
		rows []int
	}{
		"descending": {npkl, []int{1, 0}}, "twice": {new("krca", nil), []int{1, 1}},
		"negative": {kbeta, []int{-1,
			3}},
		"beyond": {npkl, []int{0, 3}}, "no landmark": {kbeta, []int{0, 1, 2, 4}},
	} {
		if _, err := algorithms.Among(c.l, c.rows); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	l, err := catalog.New("kbeta", catalog.Config{Params: map[string]string{"landmarks": "55"}})
	if err != nil {
		t.Fatal(err)
	}
	x, labels := blobs(60, 4, 12)
	rows := make([]int, 40)
	for i := range rows {
		rows[i] = i
	}
	set, err := enginetest.Drawn(t, labels, 40, 40, 1).Restrict(rows)
	if err != nil {
		t.Fatal(err)
	}
	if l, err = algorithms.Among(l, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Fit(t.Context(), enginetest.New(t, 1), x.Select(rows), set); err != nil {
		t.Errorf("55 landmarks of 60 points, on 40: %v", err)
	}
}
