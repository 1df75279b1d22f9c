package catalog

import (
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Lesson is what a learner may learn from besides points and links.
type Lesson struct {
	Triplets    []links.Triplet
	Quadruplets []links.Quadruplet
	Targets     []float64 // one number for each row
}

// Teach returns the learner that learns from the lesson, too. A part that the method does not learn from is a
// *fault.ParamError.
func Teach(l algorithms.Learner, lesson Lesson) (algorithms.Learner, error) {
	if n := len(lesson.Triplets); n > 0 {
		with, ok := l.(algorithms.Triplets)
		if !ok {
			return nil, notTaught(l, "number of triplets", n)
		}
		l = with.WithTriplets(lesson.Triplets)
	}
	if n := len(lesson.Quadruplets); n > 0 {
		with, ok := l.(algorithms.Quadruplets)
		if !ok {
			return nil, notTaught(l, "number of quadruplets", n)
		}
		l = with.WithQuadruplets(lesson.Quadruplets)
	}
	if n := len(lesson.Targets); n > 0 {
		with, ok := l.(algorithms.Targets)
		if !ok {
			return nil, notTaught(l, "number of targets", n)
		}
		l = with.WithTargets(lesson.Targets)
	}
	return l, nil
}

func notTaught(l algorithms.Learner, what string, n int) error {
	return &fault.ParamError{Param: what, Value: n, Want: fmt.Sprintf("none: %s does not learn from them", l.Method())}
}
