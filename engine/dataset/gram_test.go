package dataset

import (
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

func TestReadGram(t *testing.T) {
	square := write(t, "k.csv", []byte("id,0,1,label\nr,2,1,a\ns,1,3,b\n"))
	wide := write(t, "k2.csv", []byte("0,1\n2,1\n1,3\n0,1\n"))
	twoNew := write(t, "k3.csv", []byte("0,1\n2,1\n0,3\n"))
	two, three := write(t, "d2.csv", []byte("diagonal\n2\n3\n")), write(t, "d3.npy", npyFile("<f8", false, "(3,)", []float64{5, 6, 7}))
	other := write(t, "d.csv", []byte("diagonal\n5\n6\n"))
	cases := []struct {
		name, path, diagonal string
		wantDiagonal         []float64
		reference            []int
	}{
		{"square", square, "", []float64{2, 3}, []int{0, 1}},
		{"square with its own diagonal", square, two, []float64{2, 3}, []int{0, 1}},
		{"square of new objects", square, other, []float64{5, 6}, []int{-1, -1}},
		{"square, not symmetric", twoNew, two, []float64{2, 3}, []int{-1, -1}},
		{"rectangular", wide, three, []float64{5, 6, 7}, []int{-1, -1, -1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d, err := Read(c.path, ReadOptions{Gram: true, GramDiagonal: c.diagonal})
			if err != nil {
				t.Fatal(err)
			}
			g, ok := d.Points.(*points.Gram)
			if !ok || !slices.Equal(g.Diagonal, c.wantDiagonal) || !slices.Equal(g.Reference, c.reference) || g.M != 2 || d.Features != nil {
				t.Errorf("%T %+v, features %v, want diagonal %v, reference %v", d.Points, d.Points, d.Features, c.wantDiagonal, c.reference)
			}
		})
	}
	whole := place{0, -1, ""}
	_, err := Read(wide, ReadOptions{Gram: true})
	wantData(t, err, wide, whole, "3 rows and 2 columns: want a square one")
	_, err = Read(wide, ReadOptions{Gram: true, GramDiagonal: two})
	wantData(t, err, two, whole, "2 values: want 3")
	_, err = Read(wide, ReadOptions{Gram: true, GramDiagonal: square})
	wantData(t, err, square, whole, "2 numeric columns: want one")
	_, err = Read(twoNew, ReadOptions{Gram: true})
	wantData(t, err, twoNew, place{0, 1, "0"}, "symmetric")
	if _, err = Read(wide, ReadOptions{Gram: true, GramDiagonal: "no.csv"}); !fault.IsInput(err) {
		t.Errorf("missing diagonal: error %v", err)
	}
}
