package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
)

// related are the methods of the relations, all with the defaults.
var related = []string{"rca", "krca", "itml", "lsml", "lfda", "sdml", "covariance", "lmnn", "blend", "forest",
	"parts", "npkl", "lleratio", "gml", "scml", "nca"}

// relation is another way to say the same: a change of rows of numbers, or of links.
type relation struct {
	name      string
	tolerance float64 // of distances, relative to the largest
	flags     string
	change    func(rng *rand.Rand, data, links [][]string)
	repeat    bool // the links are given twice
}

var relationList = []relation{
	{name: "the same again"},
	{name: "ends of links swapped", change: func(_ *rand.Rand, _, links [][]string) {
		for _, l := range links[1:] {
			l[0], l[1] = l[1], l[0]
		}
	}},
	{name: "columns renamed", change: func(_ *rand.Rand, data, _ [][]string) {
		for j := range data[0][:len(data[0])-1] {
			data[0][j] = fmt.Sprintf("x_%d", j)
		}
	}},
	{name: "signs as numbers", change: func(_ *rand.Rand, _, links [][]string) {
		for _, l := range links[1:] {
			l[2] = map[string]string{"must": "1", "cannot": "-1"}[l[2]]
		}
	}},
	{name: "links in another order", tolerance: 1e-6, change: func(rng *rand.Rand, _, links [][]string) {
		rng.Shuffle(len(links)-1, func(i, j int) { links[1+i], links[1+j] = links[1+j], links[1+i] })
	}},
	{name: "links twice", tolerance: 1e-6, repeat: true},
	{name: "units of columns, scaled", tolerance: 1e-6, flags: " --standardize",
		change: func(_ *rand.Rand, data, _ [][]string) {
			for _, row := range data[1:] {
				v, _ := strconv.ParseFloat(row[1], 64) // of table
				row[1] = strconv.FormatFloat(1024*v, 'g', -1, 64)
			}
		}},
}

// runRelations fits every method on a table and links, and on others that say the same, and
// compares the distances of pairs.
func runRelations(c *campaign, p program, t *tally) error {
	n := min(c.relations, len(related)*len(relationList))
	order := rand.New(rand.NewPCG(c.seed, 0)).Perm(len(related) * len(relationList))
	return c.each(n, wellFormed, func(dir string, i int) error {
		method, r := related[order[i]%len(related)], relationList[order[i]/len(related)]
		data, err1 := rowsOf(dir, "data.csv")
		links, err2 := rowsOf(dir, "links.csv")
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%w, %w", err1, err2)
		}
		want, o, err := c.distances(p, dir, method, r.flags, data, links)
		if err != nil || want == nil {
			t.add(c.list, classify(o, 1<<62), method, o)
			return err
		}
		if r.change != nil {
			r.change(rand.New(rand.NewPCG(c.seed, uint64(i))), data, links)
		}
		if r.repeat {
			links = append(links, links[1:]...)
		}
		got, o, err := c.distances(p, dir, method, r.flags, data, links)
		if err != nil {
			return err
		}
		result, far := classify(o, 1<<62), 0.0
		if got != nil {
			far = farthest(want, got)
		}
		if !(far <= max(r.tolerance, 1e-12)) {
			result = wrong
		}
		t.add(c.list, result, fmt.Sprintf("%s, %s: distances differ by %.1e", method, r.name, far), o)
		return nil
	})
}

// distances fits a method and returns the distances of pairs, nil with how the command ended if it
// is refused.
func (c *campaign) distances(p program, dir, method, flags string, data, links [][]string) ([]float64, ended,
	error) {
	for name, rows := range map[string][][]string{"d.csv": data, "l.csv": links} {
		var text strings.Builder
		if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
			return nil, ended{}, err
		}
		if err := write(dir, name, text.String()); err != nil {
			return nil, ended{}, err
		}
	}
	for _, line := range []string{"fit -q -m " + method + " -i d.csv -c l.csv --no-verdict -o m.mlk" + flags,
		"distance -q m.mlk -i d.csv --pairs pairs.csv -o o.csv"} {
		if o, err := p.run(dir, "", strings.Fields(line)...); err != nil || o.code != 0 || o.late {
			return nil, o, err
		}
	}
	rows, err := rowsOf(dir, "o.csv")
	var list []float64
	for _, row := range rows[min(1, len(rows)):] {
		v, err := strconv.ParseFloat(row[len(row)-1], 64)
		if err != nil {
			return nil, ended{}, err
		}
		list = append(list, v)
	}
	return list, ended{}, err
}

// farthest returns the largest difference, relative to the largest value.
func farthest(a, b []float64) float64 {
	scale, far := 0.0, 0.0
	if len(a) != len(b) {
		return math.Inf(1)
	}
	for k := range a {
		scale, far = max(scale, math.Abs(a[k])), max(far, math.Abs(a[k]-b[k]))
	}
	return far / scale
}

func rowsOf(dir, name string) ([][]string, error) {
	text, err := read(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	return csv.NewReader(strings.NewReader(text)).ReadAll()
}
