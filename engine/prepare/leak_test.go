package prepare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// leaky returns a table of noise with the labels as a column of numbers, as texts, and with one in
// fifty changed, and links drawn from the labels.
func leaky(t *testing.T, n, classes, count int, seed uint64) (*dataset.Data, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	labels, number, changed, noise, gaps := make([]string, n), make([]float64, n), make([]float64,
		n), make([]float64, n), make([]float64, n)
	codes, coin := make([]int32, n), make([]int32, n)
	for i := range n {
		c := rng.IntN(classes)
		labels[i], number[i], changed[i], codes[i] = fmt.Sprint(c), float64(c), float64(c), int32(c)
		noise[i], coin[i], gaps[i] = rng.NormFloat64(), int32(rng.IntN(classes)), float64(c)
		if rng.IntN(20) == 0 {
			changed[i] = -1
		}
		if c == 0 {
			gaps[i] = math.NaN() // a gap tells as much as a value
		}
	}
	levels := make([]string, classes)
	for k := range levels {
		levels[k] = fmt.Sprint("class ", k)
	}
	return &dataset.Data{Points: &points.Mixed{N: n, Columns: []points.Column{
		{Name: "noise", Numbers: noise}, {Name: "number", Numbers: number}, {Name: "text", Codes: codes,
			Levels: levels},
		{Name: "coin", Codes: coin, Levels: levels}, {Name: "gaps", Numbers: gaps}, {Name: "changed",
			Numbers: changed},
	}}}, enginetest.Drawn(t, labels, count, count, seed)
}

func TestLeaks(t *testing.T) {
	for seed := range uint64(20) {
		for _, classes := range []int{2, 5} {
			d, set := leaky(t, 200, classes, 100, seed)
			var names []string
			for _, l := range Leaks(d, nil, set) {
				if names = append(names, l.Column); !l.All ||
					!strings.Contains(l.String(), "column "+fmt.Sprintf("%q",
						l.Column)+" agrees on all must-links") {
					t.Errorf("%+v: %s", l, l)
				}
			}
			if !slices.Equal(names, []string{"number", "text", "gaps"}) {
				t.Errorf("seed %d, %d classes: the links are decided by %q", seed, classes, names)
			}
			if some := Leaks(d, []string{"noise", "gaps"}, set); len(some) != 1 || some[0].Column != "gaps" {
				t.Errorf("of two features: %v", some)
			}
		}
	}
}

// A column that differs from the label in one row of a hundred links is found, and is said to
// decide nearly all.
func TestLeaksOfNearlyAllLinks(t *testing.T) {
	d, set := leaky(t, 400, 2, 100, 3)
	wrong := set.Must()[0].I
	count := 0 // links of that row
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		if l.I == wrong || l.J == wrong {
			count++
		}
	}
	if count > 2 {
		t.Fatalf("row %d has %d links: want another seed", wrong, count)
	}
	column := &d.Points.(*points.Mixed).Columns[1]
	column.Numbers[wrong] = 1 - column.Numbers[wrong]
	found := Leaks(d, []string{"number"}, set)
	if len(found) != 1 || found[0].All || !strings.Contains(found[0].String(), "nearly all must-links") {
		t.Errorf("%v", found)
	}
}

// Links that chance may decide have no leak: few of them, many of few rows, those of one kind.
func TestLeaksOfFewLinks(t *testing.T) {
	d, set := leaky(t, 200, 2, 100, 1)
	one, err := links.New(200, set.Must())
	if err != nil {
		t.Fatal(err)
	}
	other, err := links.New(200, set.Cannot())
	if err != nil {
		t.Fatal(err)
	}
	_, few := leaky(t, 200, 2, 9, 1)
	labels := make([]string, 200)
	for i, v := range d.Points.(*points.Mixed).Columns[1].Numbers[:9] {
		labels[i] = fmt.Sprint(v)
	}
	for i := 9; i < 200; i++ {
		labels[i] = fmt.Sprint("row ", i)
	}
	rows, err := links.FromLabels(labels[:9])
	if err != nil {
		t.Fatal(err)
	}
	all, err := rows.Closure()
	if err != nil {
		t.Fatal(err)
	}
	nine, err := links.New(200, slices.Concat(all.Must(), all.Cannot()))
	if err != nil || nine.Len() != 36 {
		t.Fatal(nine.Len(), err)
	}
	for name, set := range map[string]*links.Set{"must": one, "cannot": other, "few": few,
		"nine rows": nine} {
		if found := Leaks(d, nil, set); found != nil {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// Columns of noise with two values never decide the fewest links that are looked at: 1,000,000
// columns, of which chance would make less than one.
func TestLeaksOfNoise(t *testing.T) {
	const n, columns = 60, 50000
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		x := &points.Dense{N: n, D: columns, Data: make([]float64, n*columns)}
		for i := range x.Data {
			x.Data[i] = float64(rng.IntN(2))
		}
		var list []links.Link
		order := rng.Perm(n)
		for k := range leakRows {
			list = append(list, links.NewLink(order[2*k], order[2*k+1], links.Must),
				links.NewLink(order[20+2*k], order[21+2*k], links.Cannot))
		}
		set := enginetest.Links(t, n, list)
		if !enoughToTell(set) {
			t.Fatal("the links are too few")
		}
		if found := Leaks(&dataset.Data{Points: x}, nil, set); len(found) > 1 {
			t.Errorf("seed %d: %v", seed, found)
		}
	}
}

// Chunklets with more pairs than are looked at one by one have the leaks of their rows.
func TestLeaksOfLargeChunklets(t *testing.T) {
	const n, classes = 8000, 21 // the classes have a cannot-link for each pair
	labels, x := make([]string, n), &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}
	for i := range labels {
		labels[i] = fmt.Sprint(i % classes)
		x.Data[2*i], x.Data[2*i+1] = float64(i%classes), float64(i%2)
	}
	set, err := links.FromLabels(labels)
	if err != nil {
		t.Fatal(err)
	}
	if count, _ := set.Count(); count <= mostMust {
		t.Fatalf("%d must-links: want more than %d", count, mostMust)
	}
	if found := Leaks(&dataset.Data{Points: x}, nil, set); len(found) != 1 || found[0].Column != "0" ||
		!found[0].All {
		t.Errorf("%v", found)
	}
}

// No feature of real tables decides links between their classes, however well some separate them.
func TestLeaksOfData(t *testing.T) {
	dir := os.Getenv("MUSTLINK_DATA")
	if dir == "" {
		t.Skip("MUSTLINK_DATA is not set")
	}
	for _, name := range []string{"balance-scale", "boston", "breast-w", "german", "german-24", "glass",
		"heart",
		"image", "ionosphere",
		"iris", "pima-diabetes", "protein", "sonar", "soybean-small", "vehicle", "wine"} {
		d, err := dataset.Read(filepath.Join(dir, name+".csv"), dataset.ReadOptions{Mixed: true})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(20) {
			for _, count := range []int{15, 25, 100} {
				if found := Leaks(d, nil, enginetest.Drawn(t, d.Labels, count, count, seed)); found != nil {
					t.Errorf("%s: %v", name, found)
				}
			}
		}
	}
}
