package train

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// sideBySide shows two rows of data for a person to compare.
type sideBySide struct {
	data *dataset.Data
	x    points.Points
	unit []float64 // standard deviation of every feature
}

const (
	// shownFeatures is the number of features shown. If there are more, those that differ most are
	// shown.
	shownFeatures = 20
	shownLetters  = 200
)

func newSideBySide(d *dataset.Data) *sideBySide {
	s := &sideBySide{data: d, x: d.Points}
	if dense, ok := s.x.(*points.Dense); ok && dense.D > shownFeatures {
		if scaling, _, err := dataset.Standardize(dense); err == nil { // otherwise values are so large that none stands out
			s.unit = scaling.Scale
		}
	}
	return s
}

// write shows rows i and j.
func (s *sideBySide) write(w io.Writer, i, j int, name func(int) string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\n\t%s\t%s\tdifference\t\n", name(i), name(j))
	if s.data.IDs != nil && s.data.IDs[i] != name(i) {
		fmt.Fprintf(t, "id\t%s\t%s\t\t\n", s.data.IDs[i], s.data.IDs[j])
	}
	var left int
	switch x := s.x.(type) {
	case *points.Dense:
		left = s.features(t, x.Row(i), x.Row(j), nil)
	case *points.CSR:
		// Features that occur in neither row are left out: there may be two billion.
		both, columns := x.Select([]int{i, j}).(*points.CSR).Compact()
		a, b := make([]float64, both.D), make([]float64, both.D)
		metric.Spread(a, both, 0)
		metric.Spread(b, both, 1)
		left = s.features(t, a, b, columns)
	case *points.Sequences:
		fmt.Fprintf(t, "letters\t%s\t%s\t\t\n", beginning(x.Row(i)), beginning(x.Row(j)))
	}
	t.Flush() // an error of the terminal shows when the answer is read
	if left > 0 {
		fmt.Fprintf(w, "and %s with smaller differences\n", session.Plural(left, "feature"))
	}
}

// features writes features of two rows, in order, and returns how many it left out. columns are
// their numbers, nil for all features.
func (s *sideBySide) features(w io.Writer, x, y []float64, columns []int32) (left int) {
	order := make([]int, len(x))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.difference(x, y, b), s.difference(x, y, a)) })
	if left = len(order) - shownFeatures; left > 0 {
		order = order[:shownFeatures]
	}
	slices.Sort(order)
	for _, k := range order {
		column := k
		if columns != nil {
			column = int(columns[k])
		}
		feature := strconv.Itoa(column)
		if column < len(s.data.Features) {
			feature = s.data.Features[column]
		}
		fmt.Fprintf(w, "%s\t%.6g\t%.6g\t%+.6g\t\n", feature, x[k], y[k], y[k]-x[k])
	}
	return left
}

// difference of a feature, in standard deviations where they are known.
func (s *sideBySide) difference(x, y []float64, k int) float64 {
	d := math.Abs(x[k] - y[k])
	if s.unit != nil && s.unit[k] > 0 {
		d /= s.unit[k]
	}
	return d
}

func beginning(letters []byte) string {
	if len(letters) > shownLetters {
		return string(letters[:shownLetters]) + "..."
	}
	return string(letters)
}
