package compare

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// ranked writes how well distances rank pairs: the mean average precision, then the area under the
// ROC curve of same class against different classes.
func ranked(ctx context.Context, eng *engine.Engine, y blas.Matrix, labels []string, out []float64) error {
	y = y.Clone()
	auc, err := score.PairAUC(y.Data, y.Rows, y.Cols, labels)
	if err != nil {
		return err
	}
	precision, err := meanAveragePrecision(ctx, eng, y, labels)
	out[0], out[1] = precision, auc
	return err
}

// meanAveragePrecision ranks all other points by their distance from a point, the nearest first,
// and averages the precision at every point of the same class. It is the mean over all points whose
// class has another point. Of points at equal distances those of other classes come first, so that
// a constant embedding gains nothing.
func meanAveragePrecision(ctx context.Context, eng *engine.Engine, y blas.Matrix,
	labels []string) (float64, error) {
	average := make([]float64, y.Rows)
	err := eng.Each(ctx, y.Rows, 16, func(i int) { average[i] = averagePrecision(y, labels, i) })
	sum, n := 0.0, 0
	for _, v := range average {
		if v > 0 {
			sum += v
			n++
		}
	}
	return sum / float64(max(n, 1)), err
}

// averagePrecision returns the average precision of the query i, or 0 if no other point has its
// label.
func averagePrecision(y blas.Matrix, labels []string, i int) float64 {
	var same, different []float64
	for j := range y.Rows {
		if j == i {
			continue
		}
		d := points.SquaredDistance(y.Row(i), y.Row(j))
		if labels[j] == labels[i] {
			same = append(same, d)
		} else {
			different = append(different, d)
		}
	}
	return retrieved(same, different)[averageOf]
}

// The values of [retrieved].
const (
	first = iota // whether the nearest point is of the same class
	first10
	averageOf
	precisions
)

// retrieved returns, for one query, the precision of the nearest point and of the ten nearest
// points, and the average precision, from the distances of the points of its class and of all
// others, which it sorts.
func retrieved(same, different []float64) (out [precisions]float64) {
	slices.Sort(same)
	slices.Sort(different)
	before := 0
	for k, d := range same {
		for before < len(different) && different[before] <= d {
			before++
		}
		place := k + 1 + before
		if place == 1 {
			out[first] = 1
		}
		if place <= 10 {
			out[first10] += .1
		}
		out[averageOf] += float64(k+1) / float64(place) / float64(len(same))
	}
	return out
}
