package builds

import (
	"fmt"
	"io"
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// Row is the largest difference of one method on one problem between any two builds.
type Row struct {
	Method  string `json:"method"`
	Problem string `json:"problem"`
	// Distances is the largest difference of a squared distance, relative to the largest squared
	// distance.
	Distances float64 `json:"distances"`
	// Sensitivity is the largest sensitivity among the builds.
	Sensitivity float64 `json:"sensitivity"`
	// Objective is the relative difference of the objectives, nil for a method without an
	// objective.
	Objective *float64 `json:"objective,omitempty"`
	// Iterations are the numbers of iterations, in the order of the builds.
	Iterations []int `json:"iterations"`
}

// Compare compares the digests of at least two builds. Digests of different methods or problems are
// a *fault.DataError.
func Compare(digests []*Digest) ([]Row, error) {
	if len(digests) < 2 {
		return nil, &fault.ParamError{Param: "digests", Value: len(digests), Want: "at least two"}
	}
	var rows []Row
	for i, first := range digests[0].Results {
		row := Row{Method: first.Method, Problem: first.Problem}
		for k, d := range digests {
			if len(d.Results) != len(digests[0].Results) || d.Results[i].Method != first.Method ||
				d.Results[i].Problem != first.Problem ||
				len(d.Results[i].Distances) != len(first.Distances) {
				return nil, fault.Data("",
					"digest %d has other methods or problems: want digests of one version", k+1)
			}
			row.Iterations = append(row.Iterations, d.Results[i].Iterations)
			row.Sensitivity = max(row.Sensitivity, d.Results[i].Sensitivity)
			for _, other := range digests[:k] {
				row.add(d.Results[i], other.Results[i])
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// add raises the differences of the row to those of two results, where these are larger.
func (r *Row) add(a, b Result) {
	r.Distances = max(r.Distances, apart(a.Distances, b.Distances))
	if a.Objective == nil || b.Objective == nil {
		return
	}
	v := relative(math.Abs(*a.Objective-*b.Objective), max(math.Abs(*a.Objective), math.Abs(*b.Objective)))
	if r.Objective != nil {
		v = max(v, *r.Objective)
	}
	r.Objective = &v
}

// apart returns the largest difference between two lists of distances, relative to the largest
// distance.
func apart(a, b []float64) float64 {
	size, difference := 0.0, 0.0
	for i := range a {
		size = max(size, math.Abs(a[i]), math.Abs(b[i]))
		difference = max(difference, math.Abs(a[i]-b[i]))
	}
	return relative(difference, size)
}

// relative returns difference / size, or 0 if the difference is 0.
func relative(difference, size float64) float64 {
	if difference == 0 {
		return 0
	}
	return difference / size
}

// Markdown writes the rows as a table. Where the builds have the same number of iterations, it
// writes one number.
func Markdown(w io.Writer, rows []Row) error {
	if _, err := fmt.Fprint(w,
		"| method | problem | squared distances | moved by rounding | objective | iterations "+
			"|\n|---|---|---|---|---|---|\n"); err != nil {
		return err
	}
	for _, r := range rows {
		objective := "–"
		if r.Objective != nil {
			objective = number(*r.Objective)
		}
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.Method, r.Problem,
			number(r.Distances), number(r.Sensitivity), objective, iterations(r.Iterations)); err != nil {
			return err
		}
	}
	return nil
}

func number(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%.1e", v)
}

// iterations returns one number, or the numbers of all builds if they differ.
func iterations(list []int) string {
	text := fmt.Sprint(list[0])
	same := true
	for _, n := range list[1:] {
		same = same && n == list[0]
		text += fmt.Sprintf(" / %d", n)
	}
	if same {
		return fmt.Sprint(list[0])
	}
	return text
}
