package mustlink

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/neighborindex"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Groups are the groups of a table's rows, from [Model.Groups]: labels, sizes, the merges that made
// them, and those that links or columns did not allow. Its fields are Labels, Sizes, Start, Merges
// and Forbidden.
type Groups = cluster.Dendrogram

// Distinct is a column in which any two rows of a group differ, such as the source of a record: in
// their keys, or by a width in their values, such as times. Rows with a negative key, or the value
// NaN, are free. Its fields are Name, Keys, Width and Values.
type Distinct = cluster.Distinct

// Linkage says which distance two groups of rows have: "average", "complete", "single" or "ward".
type Linkage = cluster.Linkage

// GroupOptions are the options of [Model.Groups].
type GroupOptions struct {
	Links    *Links     // which the groups satisfy, nil for none
	Distinct []Distinct // columns in which any two rows of a group differ
	Linkage  Linkage    // "" for "average"
	// Threshold is the largest learned distance at which groups merge. With 0 it is that of the
	// model's calibration, or no limit if there is a Count.
	Threshold float64
	// Precision chooses the threshold, as Calibration.Threshold does; with 0 it is where rows belong
	// together with a probability of 1/2, Calibration.Even.
	Precision float64
	// Count ends merging at so many groups, 0 for no such end. More are left if links or the
	// threshold forbid further merges.
	Count int
	// MinSize, if not 0, is the smallest number of rows of groups by density, see [cluster.Density].
	// Rows in no group then have the label -1, and Linkage and Count are not used; the Threshold is
	// the largest mutual reachability distance, of any size without Threshold and Precision.
	MinSize int
	// Neighbors is the number of nearest rows of each row; groups merge only if a row of one is among
	// those of a row of the other. With 0 it is all among up to 2000 rows, and 20 among more, or
	// MinSize if that is larger.
	Neighbors int
	// Recall, if below 1, finds this share of the nearest rows, by an index; 0 finds all.
	Recall float64
}

// allPairs is the number of rows up to which groups are made from all pairs, and usualNeighbors
// that of neighbors of more rows.
const allPairs, usualNeighbors = 2000, 20

// Groups merges the rows of a table, nearest first in the learned distance, until the next groups
// are farther apart than a threshold: without a number of clusters, and with clusters of any size,
// such as the records of one customer. Links and columns are satisfied exactly, and what they
// forbade is in the result: see [cluster.Agglomerative], which also says what links that contradict
// each other return. The average and the largest distance are those of all pairs between two
// groups. That of "ward" grows with the groups, unless these are random parts of one. With the
// threshold of a calibration, which is of pairs of rows, it gives many small groups: a Count is
// better.
//
// Errors: *fault.ParamError (options; no threshold and no calibration to take it from; a precision
// that the links do not support), *fault.ShapeError (links or keys for other rows),
// *links.ConflictError, *cluster.DistinctError, *fault.MemoryError, and ctx.Err(), wrapped. The
// exact search for neighbors takes n^2 d flops for n rows of d coordinates.
func (m *Model) Groups(ctx context.Context, t *Table, o GroupOptions) (*Groups, error) {
	switch {
	case o.Neighbors < 0:
		return nil, fault.Param("neighbors", o.Neighbors, "a number >= 0, 0 for the usual one")
	case !(o.Recall >= 0 && o.Recall <= 1):
		return nil, fault.Param("recall", o.Recall, "a number from 0 to 1")
	case o.MinSize != 0 && (o.Count != 0 || o.Linkage != ""):
		return nil, fault.Param("smallest size", o.MinSize, "0 with a number of groups or a linkage")
	}
	if err := m.ready(ctx, "table", t); err != nil {
		return nil, err
	}
	if o.Links != nil {
		if err := checkRows(o.Links, t.Rows()); err != nil {
			return nil, err
		}
	}
	threshold, err := m.groupThreshold(o)
	if err != nil {
		return nil, err
	}
	y, err := m.embed(ctx, "table", t)
	if err != nil {
		return nil, err
	}
	g, err := m.distances(ctx, y, o)
	if err != nil {
		return nil, fault.InFile(err, t.raw.Name)
	}
	if o.MinSize != 0 {
		return cluster.Density(ctx, m.eng, g, o.Links, cluster.DensityParams{MinSize: o.MinSize,
			Threshold: threshold, Distinct: o.Distinct})
	}
	return cluster.Agglomerative(ctx, m.eng, g, o.Links, cluster.AgglomerativeParams{Linkage: o.Linkage,
		Threshold: threshold, Groups: o.Count, Distinct: o.Distinct, Rows: y,
		Distance: func(i, j int) float64 {
			return math.Sqrt(points.SquaredDistance(y.Row(i), y.Row(j)))
		}})
}

// groupThreshold returns the threshold of the options or of the calibration.
func (m *Model) groupThreshold(o GroupOptions) (float64, error) {
	c := m.Calibration()
	switch {
	case o.Threshold != 0 && o.Precision != 0:
		return 0, fault.Param("precision", o.Precision, "no precision with a threshold")
	case o.Threshold != 0:
		return o.Threshold, nil
	case o.Precision == 0 && o.MinSize != 0:
		return 0, nil
	case o.Precision == 0 && o.Count > 0:
		return math.Inf(1), nil
	case c == nil:
		return 0, fault.Param("threshold", o.Threshold,
			"a distance > 0, a number of groups, or a calibrated model")
	}
	found, err := c.Joining(o.Precision)
	return found.Distance, err
}

// distances returns the squared distances of nearest rows, or of all pairs.
func (m *Model) distances(ctx context.Context, y blas.Matrix, o GroupOptions) (*sparse.Matrix, error) {
	if y.Rows < 2 {
		return &sparse.Matrix{Rows: y.Rows, Cols: y.Rows, Start: make([]int, y.Rows+1)}, nil
	}
	if err := neighbors.CheckFinite("rows", y); err != nil {
		return nil, err
	}
	if o.Neighbors >= y.Rows-1 || o.Neighbors == 0 && y.Rows <= allPairs {
		return graph.Within(ctx, m.eng, kernel.Linear(), kernel.Rows(y), math.MaxFloat64)
	}
	near := graph.Neighbors{N: y.Rows, K: min(cmp.Or(o.Neighbors, max(usualNeighbors, o.MinSize)), y.Rows-1)}
	var err error
	if o.Recall > 0 && o.Recall < 1 {
		near.Index, near.Squared, err = neighborindex.Among(ctx, m.eng, y, near.K, o.Recall)
	} else {
		near.Index, near.Squared, err = neighbors.Search(ctx, m.eng, y, y, near.K, true)
	}
	if err != nil {
		return nil, err
	}
	return near.Adjacency(graph.Union, func(squared float64) float64 { return squared }), nil
}

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
	if l == nil {
		return nil, fault.Param("links", nil, "links between the rows of the table")
	}
	if err := checkRows(l, t.Rows()); err != nil {
		return nil, err
	}
	if err := m.eng.Check("list of all links", 3*l.Bytes(),
		"use fewer links, or smaller chunklets"); err != nil {
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
	if err := m.ready(ctx, "table", t); err != nil {
		return nil, err
	}
	if err := neighbors.CheckPairs(m.eng, t.Rows(), m.Dim()); err != nil {
		return nil, fault.InFile(err, t.raw.Name)
	}
	y, err := m.embed(ctx, "table", t)
	if err != nil {
		return nil, err
	}
	pairs, err := neighbors.Pairs(ctx, m.eng, y, threshold, o)
	return pairs, fault.InFile(err, t.raw.Name)
}
