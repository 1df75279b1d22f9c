package algorithms

import (
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Lesson is what a method may learn from besides points and links. [About] says which of it a
// method uses.
type Lesson struct {
	Triplets    []links.Triplet
	Quadruplets []links.Quadruplet
	Targets     []float64 // one finite number for each training row
}

// Given reports whether there is anything to learn from besides links.
func (l Lesson) Given() bool {
	return len(l.Triplets) > 0 || len(l.Quadruplets) > 0 || len(l.Targets) > 0
}

// For returns a *fault.ParamError for a part of the lesson that the method does not learn from.
func (l Lesson) For(a About) error {
	for _, part := range []struct {
		name  string
		count int
		used  bool
	}{
		{"triplets", len(l.Triplets), a.UsesTriplets},
		{"quadruplets", len(l.Quadruplets), a.UsesQuadruplets},
		{"targets", len(l.Targets), a.UsesTargets},
	} {
		if part.count > 0 && !part.used {
			return &fault.ParamError{Param: "number of " + part.name, Value: part.count,
				Want: fmt.Sprintf("none: %s does not learn from them", a.Name)}
		}
	}
	return nil
}

// Among returns the lesson of the given rows alone, renumbered: the comparisons of which all rows
// are among them, and their targets. Targets that lack one of the rows are a *fault.ShapeError.
func (l Lesson) Among(rows []int) (Lesson, error) {
	out := Lesson{
		Triplets:    links.TripletsAmong(l.Triplets, rows),
		Quadruplets: links.QuadrupletsAmong(l.Quadruplets, rows),
	}
	if len(l.Targets) == 0 {
		return out, nil
	}
	out.Targets = make([]float64, len(rows))
	for k, i := range rows {
		if i >= len(l.Targets) {
			return Lesson{}, &fault.ShapeError{What: "number of targets", Got: len(l.Targets),
				Want: fmt.Sprintf("one for each point, also for row %d", i)}
		}
		out.Targets[k] = l.Targets[i]
	}
	return out, nil
}

// Restrictable is implemented by learners that may hold rows of the training points, or values for
// each of them: landmarks, the similarities of a graph, triplets, targets.
type Restrictable interface {
	Learner
	// Among returns the learner for the points x.Select(rows), where x are those of the learner.
	// Rows are ascending; see [Among].
	Among(rows []int) (Learner, error)
}

// Silent returns the learner without its reports of progress.
func Silent(l Learner) Learner {
	if reports, is := l.(interface{ Silent() Learner }); is {
		return reports.Silent()
	}
	return l
}

// Among returns the learner for the points x.Select(rows), where x are the points that l is for:
// what l holds of the other rows is dropped, and the rest is renumbered. It is l itself, or an
// equal learner, unless l refers to rows. The rows must be ascending, each once, and >= 0; others
// are a *fault.DataError. So is a learner of which nothing is left that it could learn with, or
// that cannot be restricted.
//
// Cost: a copy of the restricted similarities, m x m for m rows; otherwise O(m + what l holds).
func Among(l Learner, rows []int) (Learner, error) {
	for k, i := range rows {
		if i < 0 || k > 0 && i <= rows[k-1] {
			return nil, &fault.DataError{Row: k,
				Err: fmt.Errorf("row %d of a part of the points: want ascending "+
					"rows >= 0", i)}
		}
	}
	if r, is := l.(Restrictable); is {
		return r.Among(rows)
	}
	return l, nil
}
