package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/engine/links"
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
	var notes []string
	column := func(note string, measure func(pictures.Space) ([]view.Score, error), names ...string) {
		s.Columns, measures, notes = append(s.Columns, names...), append(measures, measure), append(notes, note)
	}
	if bothKinds(m.HeldOutSet) {
		column("", m.linkScore(m.HeldOutSet), "AUC of held-out links")
	}
	if m.Data.Labels != nil && m.k >= 2 {
		note := fmt.Sprintf("Rand indices and NMI: k-means with %d clusters, the best of %s, mean and standard deviation over %d seeds, compared with the labels.", m.k, session.Plural(restartsFor(m.Data.Points.Len()), "start"), m.Seeds)
		column(note, m.clusterScores, "balanced Rand", "adjusted Rand", "NMI")
		column("5-NN accuracy: of a vote of the 5 nearest other points.", m.neighborScore, "5-NN accuracy")
	}
	if bothKinds(m.Set) {
		column("AUC of links: the probability that a must-link is shorter than a cannot-link.", m.linkScore(m.Set), "AUC of the given links")
	}
	if len(measures) == 0 {
		return nil
	}
	for _, v := range m.Spaces {
		row := view.Row{Name: v.Title()}
		for _, measure := range measures {
			scores, err := measure(v)
			if err != nil {
				return err
			}
			row.Scores = append(row.Scores, scores...)
		}
		if v.InSample(m.Data) {
			row.Note = "training rows (in-sample)"
		}
		s.Rows = append(s.Rows, row)
	}
	if m.inSample() {
		notes = append(notes, "In-sample numbers are those of rows or links that the model learned from: nearly every method does well on them. Judge it by held-out links.")
	}
	s.Note = strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), " ")
	return nil
}

// bothKinds reports whether there are must-links and cannot-links; nil is no set.
func bothKinds(set *links.Set) bool {
	if set == nil {
		return false
	}
	must, cannot := set.Count()
	return must > 0 && cannot > 0
}

// linkScore returns the measure of links. Those given with training rows are taken for those that
// the model learned from.
func (m *maker) linkScore(set *links.Set) func(pictures.Space) ([]view.Score, error) {
	return func(v pictures.Space) ([]view.Score, error) {
		auc, err := pictures.LinkAUC(v, set)
		return []view.Score{{Mean: auc, SD: math.NaN(), InSample: set == m.Set && v.InSample(m.Data)}}, err
	}
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

// single returns a score that is measured once.
func single(value float64) []view.Score { return []view.Score{{Mean: value, SD: math.NaN()}} }
