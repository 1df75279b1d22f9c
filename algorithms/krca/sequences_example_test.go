package krca_test

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Sequences have no coordinates: the spectrum kernel compares their words of two letters. The
// first two sequences share one of their two words each, so that their squared distance is
// 2 - 2/2 = 1. The link between them says that what they differ in does not matter: with
// C = 1/4 along their difference the squared distance becomes 1/(eps + 1/4).
func ExampleLearner_Fit_sequences() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := points.NewSequences("ACGT", []int{0, 3, 6, 9}, []byte("ACG"+"ACT"+"GGT"))
	if err != nil {
		fmt.Println(err)
		return
	}
	set, _ := links.FromChunklets(3, [][]int{{0, 1}})
	spec, _ := kernel.Parse("spectrum:k=2")
	for _, eps := range []float64{0.75, 0.25} {
		m, err := krca.Learner{Kernel: spec, Params: krca.Params{Eps: eps}}.Fit(ctx, eng, x, set)
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := m.Distances(ctx, eng, x, [][2]int{{0, 1}, {0, 2}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("eps %.2f: linked %.3f, not linked %.3f\n", eps, d[0], d[1])
	}
	// Output:
	// eps 0.75: linked 1.000, not linked 2.583
	// eps 0.25: linked 2.000, not linked 7.500
}
