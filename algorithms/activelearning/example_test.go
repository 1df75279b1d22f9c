package activelearning_test

import (
	"fmt"

	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/links"
)

// Five points on a line, in two groups: four answers assign all of them.
func Example() {
	coordinates := blas.MatrixOf(5, 1, []float64{0, 1, 9, 10, 11})
	none, _ := links.New(5, nil)
	s, err := activelearning.New(coordinates, none, activelearning.Options{Classes: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for q, ok := s.Next(); ok; q, ok = s.Next() {
		answer := links.Cannot
		if (q.I < 2) == (q.J < 2) { // the answer of an expert
			answer = links.Must
		}
		if err := s.Answer(links.NewLink(q.I, q.J, answer)); err != nil {
			fmt.Println(err)
			return
		}
	}
	sign, _ := s.Known(2, 4)
	fmt.Println(s.Classes(), "classes; rows 2 and 4:", sign)
	// Output: 2 classes; rows 2 and 4: must
}
