package page

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// maxNeighbors is the maximum number of points for the accuracy of neighbors.
const maxNeighbors = 10_000

// measure scores every metric.
func (m *maker) measure() error {
	s := &m.out.Scores
	var measures []func(pictures.Space) ([]view.Score, error)
	if m.Data.Labels != nil && m.k >= 2 {
		s.Columns = append(s.Columns, "balanced Rand", "adjusted Rand", "NMI", "5-NN accuracy")
		s.Note = fmt.Sprintf("k-means with %d clusters, the best of %s, mean and standard deviation over %d seeds; accuracy of a vote of the 5 nearest other points.", m.k, session.Plural(restartsFor(m.Data.Points.Len()), "start"), m.Seeds)
		measures = append(measures, m.clusterScores, m.neighborScore)
	}
	if m.bothKinds() {
		s.Columns = append(s.Columns, "links in order (AUC)")
		s.Note += " Links in order: the probability that a must-link is shorter than a cannot-link; links that a model was fitted on do not test it."
		measures = append(measures, m.linkScore)
	}
	if len(measures) == 0 {
		return nil
	}
	for _, v := range m.Spaces {
		row := view.Row{Name: v.Name}
		for _, measure := range measures {
			scores, err := measure(v)
			if err != nil {
				return err
			}
			row.Scores = append(row.Scores, scores...)
		}
		s.Rows = append(s.Rows, row)
	}
	return nil
}

// bothKinds reports whether there are must-links and cannot-links.
func (m *maker) bothKinds() bool {
	if m.Set == nil {
		return false
	}
	must, cannot := m.Set.Count()
	return must > 0 && cannot > 0
}

// clusterScores returns balanced and adjusted Rand index and normalized mutual information over
// several starts.
func (m *maker) clusterScores(v pictures.Space) ([]view.Score, error) {
	measures := []func([]string, []int) (float64, error){score.BalancedRand[string, int], score.AdjustedRand[string, int], score.NMI[string, int]}
	values := make([][]float64, len(measures))
	for start := range m.Seeds {
		c, err := m.cluster(v.Y, m.Seed+uint64(start)*1000)
		if err != nil {
			return nil, err
		}
		for k, measure := range measures {
			value, err := measure(m.Data.Labels, c.Labels)
			if err != nil {
				return nil, err
			}
			values[k] = append(values[k], value)
		}
	}
	var out []view.Score
	for _, list := range values {
		mean, sd := stat.MeanStdDev(list, nil)
		out = append(out, view.Score{Mean: mean, SD: sd})
	}
	return out, nil
}

// cluster runs k-means on the rows of y.
func (m *maker) cluster(y blas.Matrix, seed uint64) (*cluster.Result, error) {
	return cluster.KMeans(m.ctx, m.Eng, y, cluster.Params{K: m.k, Restarts: restartsFor(y.Rows), Seed: seed})
}

// restartsFor returns the number of starts of k-means, 1 for many rows; the best start is kept.
func restartsFor(rows int) int {
	const few = 5000
	if rows > few {
		return 1
	}
	return 10
}

// neighborScore is the accuracy of the nearest other points, measured on some of the rows if there
// are many.
func (m *maker) neighborScore(v pictures.Space) ([]view.Score, error) {
	y, labels := v.Y, m.Data.Labels
	if y.Rows > maxNeighbors {
		rows := make([]int, maxNeighbors)
		labels = nil
		for k := range rows {
			rows[k] = k * y.Rows / maxNeighbors
			labels = append(labels, m.Data.Labels[rows[k]])
		}
		y = y.Select(rows)
	}
	const votes = 5
	found, err := neighbors.LeaveOneOut(m.ctx, m.Eng, y, labels, min(votes, y.Rows-1))
	if err != nil {
		return nil, err
	}
	accuracy, err := score.Accuracy(labels, found)
	return single(accuracy), err
}

// linkScore is the probability that a must-link is shorter than a cannot-link.
func (m *maker) linkScore(v pictures.Space) ([]view.Score, error) {
	var lengths []float64
	var must []bool
	for _, list := range [][]links.Link{m.Set.Must(), m.Set.Cannot()} {
		for _, l := range list {
			lengths = append(lengths, -points.SquaredDistance(v.Y.Row(l.I), v.Y.Row(l.J)))
			must = append(must, l.Sign == links.Must)
		}
	}
	auc, err := score.AUC(lengths, must)
	return single(auc), err
}

// single returns a score that is measured once.
func single(value float64) []view.Score { return []view.Score{{Mean: value, SD: math.NaN()}} }
