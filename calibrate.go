package mustlink

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Calibration tells with which probability rows at a distance belong together, and below which
// distance they do at a chosen precision or recall. A model has one after [Model.Calibrate].
type Calibration = calibration.Calibration

// Pair is two rows of a table with their learned distance. I < J. Its fields are I, J and Distance.
type Pair = neighbors.Pair

// PairOptions are the options of [Model.Pairs]. The zero value finds all pairs, up to 20 million.
// Its fields are Neighbors, Most and Progress.
type PairOptions = neighbors.PairOptions

// Calibrate returns the model with a calibration on links between the rows of a table; m does not
// change. The links should be others than those of the fit, on which the model is too sure. Both
// kinds are needed, and they must be a random sample: of all pairs, of both kinds of pairs apart
// (then give the share of matching pairs to Calibration.WithShare), or of the pairs up to a
// distance (then use Calibration.OfNearPairs). [Model.Save] stores the calibration; [Model.Update]
// drops it, because distances change.
func (m *Model) Calibrate(ctx context.Context, t *Table, l *Links) (*Model, error) {
	if err := m.ready(ctx, "table", t); err != nil {
		return nil, err
	}
	if err := m.checkLinks(t, l); err != nil {
		return nil, err
	}
	rows, pairs := linkedRows(l)
	y, err := m.embedRows(ctx, t, rows)
	if err != nil {
		return nil, err
	}
	musts, _ := l.Count()
	distances, must := make([]float64, len(pairs)), make([]bool, len(pairs))
	for k, p := range pairs {
		distances[k] = math.Sqrt(points.SquaredDistance(y.Row(p[0]), y.Row(p[1])))
		must[k] = k < musts
	}
	fitted := *m.fitted
	if fitted.Calibration, err = calibration.Fit(distances, must); err != nil {
		return nil, err
	}
	return &Model{fitted: &fitted, eng: m.eng}, nil
}

// checkLinks refuses links that are not between the rows of t, or too many.
func (m *Model) checkLinks(t *Table, l *Links) error {
	if l == nil {
		return &fault.ParamError{Param: "links", Value: nil, Want: "links between the rows of the table"}
	}
	if err := checkRows(l, t); err != nil {
		return err
	}
	return m.eng.Check("list of all links", 3*l.Bytes(), "use fewer links, or smaller chunklets")
}

// linkedRows returns the rows that links name, in ascending order, and the links, must-links first,
// as pairs of positions among these rows.
func linkedRows(l *Links) (rows []int, pairs [][2]int) {
	all := slices.Concat(l.Must(), l.Cannot())
	for _, link := range all {
		rows = append(rows, link.I, link.J)
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	for _, link := range all {
		i, _ := slices.BinarySearch(rows, link.I)
		j, _ := slices.BinarySearch(rows, link.J)
		pairs = append(pairs, [2]int{i, j})
	}
	return rows, pairs
}

// embedRows returns the coordinates of some rows of a table.
func (m *Model) embedRows(ctx context.Context, t *Table, rows []int) (y blas.Matrix, err error) {
	if err := m.eng.Check("coordinates of the linked rows", engine.MatrixBytes(len(rows), m.Dim()),
		"use fewer links"); err != nil {
		return y, err
	}
	some := *t.raw
	some.Points = t.raw.Points.Select(rows)
	some.IDs, some.Labels = nil, nil
	y, err = m.embed(ctx, "table", FromData(&some))
	return y, fault.InSelection(err, rows)
}

// Calibration returns the calibration of the model, nil if it has none.
func (m *Model) Calibration() *Calibration {
	if m.empty() {
		return nil
	}
	return m.fitted.Calibration
}

// Pairs returns the pairs of rows whose learned distance is at most threshold, the nearest first,
// ties by row numbers: candidates for duplicates. [Model.Calibration] has thresholds of a chosen
// precision or recall, and the probability of a distance; its method OfFound compares both with the
// number of pairs that were found. The search is exact; it is fast for many
// rows if few of them are near each other. A threshold with more pairs than may be found is a
// *fault.ParamError, which says about how many there are.
func (m *Model) Pairs(ctx context.Context, t *Table, threshold float64, o PairOptions) ([]Pair, error) {
	y, err := m.embed(ctx, "table", t)
	if err != nil {
		return nil, err
	}
	pairs, err := neighbors.Pairs(ctx, m.eng, y, threshold, o)
	return pairs, fault.InFile(err, t.raw.Name)
}
