package pictures

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/view"
)

// curvePairs is the number of random pairs of rows that a ROC curve is drawn from, curvePoints its
// number of points.
const (
	curvePairs  = 20_000
	curvePoints = 200
)

// LabelCurves returns the picture for curves of [LabelCurve], without them.
func LabelCurves() view.Lines {
	return view.Lines{Title: "same class or not", XLabel: "share of pairs of different classes within a distance", YLabel: "share of pairs of one class within it", Diagonal: true}
}

// LinkCurves returns the picture for curves of [LinkCurve], without them.
func LinkCurves() view.Lines {
	return view.Lines{XLabel: "share of cannot-links within a distance", YLabel: "share of must-links within it", Diagonal: true}
}

// LabelCurve returns the ROC curve of the distance of random pairs of rows as a test of "same
// class".
func LabelCurve(v Space, labels []string, seed uint64) (view.Series, error) {
	r := rand.New(rand.NewPCG(seed, uint64(v.Y.Rows)))
	count := map[bool]int{} // of pairs with one label, and of other pairs
	list := make([]pair, curvePairs)
	for k := range list {
		rows := source.RandomPair(r, v.Y.Rows)
		list[k] = pairOf(v, rows[0], rows[1], labels[rows[0]] == labels[rows[1]])
		count[list[k].near]++
	}
	if count[false] == 0 || count[true] == 0 {
		return view.Series{}, fault.Data("", "of %d random pairs of rows, %d have the same label and %d have different ones: want pairs of both kinds", curvePairs, count[true], count[false])
	}
	return curve(v.Name, list)
}

// LinkCurve returns the ROC curve of the distance of links as a test of "must". There are links of
// both kinds.
func LinkCurve(v Space, set *links.Set) (view.Series, error) {
	var list []pair
	for _, part := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, l := range part {
			list = append(list, pairOf(v, l.I, l.J, l.Sign == links.Must))
		}
	}
	return curve(v.Name, list)
}

// LinkAUC is the probability that a must-link is shorter than a cannot-link.
func LinkAUC(v Space, set *links.Set) (float64, error) {
	var lengths []float64
	var must []bool
	for _, part := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, l := range part {
			lengths = append(lengths, -points.SquaredDistance(v.Y.Row(l.I), v.Y.Row(l.J)))
			must = append(must, l.Sign == links.Must)
		}
	}
	return score.AUC(lengths, must)
}

// pair is a pair of rows that should be near, or far.
type pair struct {
	length float64
	near   bool
}

func pairOf(v Space, i, j int, near bool) pair {
	return pair{points.SquaredDistance(v.Y.Row(i), v.Y.Row(j)), near}
}

// curve returns the curve of pairs of both kinds, with its area in the name.
func curve(name string, list []pair) (view.Series, error) {
	var lengths []float64
	var near []bool
	count := map[bool]float64{}
	for _, p := range list {
		lengths, near = append(lengths, -p.length), append(near, p.near)
		count[p.near]++
	}
	auc, err := score.AUC(lengths, near)
	if err != nil {
		return view.Series{}, err
	}
	slices.SortFunc(list, func(a, b pair) int { return cmp.Compare(a.length, b.length) })
	s := view.Series{Name: fmt.Sprintf("%s (AUC %.3f)", name, auc), X: []float64{0}, Y: []float64{0}}
	within, every := map[bool]float64{}, max(1, len(list)/curvePoints)
	for k, q := range list {
		within[q.near]++
		last := k+1 == len(list)
		if tied := !last && list[k+1].length == q.length; last || !tied && (k+1)%every == 0 {
			s.X, s.Y = append(s.X, within[false]/count[false]), append(s.Y, within[true]/count[true])
		}
	}
	return s, nil
}
