package baseline_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// The second feature varies within the classes. The metric must ignore it, although it is ten times
// as wide.
func ExampleRCA() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14, // one class: near 0 in the first feature, anything in the second
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15, // the other one
	}}
	// all pairs
	pairs, err := links.SampleByCount([]string{"a", "a", "a", "a", "b", "b", "b", "b"}, 12, 16, 1)
	if err != nil {
		log.Fatal(err)
	}
	model, err := (&baseline.RCALearner{Params: param.Default[baseline.RCA]()}).Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0] < squared[1])
	// Output: within the class shorter than to the other one: true
}

// The second feature varies within the classes. The metric must ignore it, although it is ten times
// as wide.
func ExampleAdapt() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14, // one class: near 0 in the first feature, anything in the second
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15, // the other one
	}}
	for _, weight := range []float64{1e-9, 10, 100, 1000} {
		var list []links.Link
		for _, i := range []int{0, 1, 4, 5} {
			list = append(list, links.Link{I: i, J: i + 2, Sign: links.Must, Weight: weight})
		}
		set, err := links.New(8, list)
		if err != nil {
			log.Fatal(err)
		}
		model, err := baseline.AdaptLearner{Params: baseline.AdaptDefaults()}.Fit(ctx, eng, x, set)
		if err != nil {
			log.Fatal(err)
		}
		squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("weight %g: the other class is %.2g times as far as the own one\n", weight,
			math.Sqrt(squared[1]/squared[0]))
	}
	// Output:
	// weight 1e-09: the other class is 0.11 times as far as the own one
	// weight 10: the other class is 0.32 times as far as the own one
	// weight 100: the other class is 2.3 times as far as the own one
	// weight 1000: the other class is 3.8 times as far as the own one
}

func ExampleXRCA() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14, // one class: near 0 in the first feature, anything in the second
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15, // the other one
	}}
	// all pairs
	pairs, err := links.SampleByCount([]string{"a", "a", "a", "a", "b", "b", "b", "b"}, 12, 16, 1)
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[baseline.XRCA]()
	params.EpsRel = 1e-4 // for features of different scales
	model, err := baseline.XRCALearner{Params: params}.Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0] < squared[1])
	// Output: within the class shorter than to the other one: true
}

// The second feature varies within the classes. The metric must ignore it, although it is ten times
// as wide.
func ExampleDCA() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14, // one class: near 0 in the first feature, anything in the second
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15, // the other one
	}}
	// all pairs
	pairs, err := links.SampleByCount([]string{"a", "a", "a", "a", "b", "b", "b", "b"}, 12, 16, 1)
	if err != nil {
		log.Fatal(err)
	}
	model, err := baseline.DCALearner{Params: param.Default[baseline.DCA]()}.Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0] < squared[1])
	// Output: within the class shorter than to the other one: true
}

// The second feature varies within the classes. The metric must ignore it, although it is ten times
// as wide.
func ExampleMMC() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14, // one class: near 0 in the first feature, anything in the second
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15, // the other one
	}}
	// all pairs
	pairs, err := links.SampleByCount([]string{"a", "a", "a", "a", "b", "b", "b", "b"}, 12, 16, 1)
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[baseline.MMC]()
	params.EpsRel = 1e-3 // for features of different scales
	model, err := baseline.MMCLearner{Params: params}.Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0] < squared[1])
	// Output: within the class shorter than to the other one: true
}

// The second feature varies within the classes. The metric must ignore it, although it is ten times
// as wide.
func ExampleLMNN() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14, // one class: near 0 in the first feature, anything in the second
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15, // the other one
	}}
	// all pairs
	pairs, err := links.SampleByCount([]string{"a", "a", "a", "a", "b", "b", "b", "b"}, 12, 16, 1)
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[baseline.LMNN]()
	params.Rank = 0 // all directions: there are two
	model, err := baseline.LMNNLearner{Params: params}.Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0] < squared[1])
	// Output: within the class shorter than to the other one: true
}

// The second feature varies within the classes. The metric must ignore it, although it is ten times
// as wide.
func ExampleNCA() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14, // one class: near 0 in the first feature, anything in the second
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15, // the other one
	}}
	// all pairs
	pairs, err := links.SampleByCount([]string{"a", "a", "a", "a", "b", "b", "b", "b"}, 12, 16, 1)
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[baseline.NCA]()
	params.Rank = 0 // all directions: there are two
	model, err := baseline.NCALearner{Params: params}.Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0] < squared[1])
	// Output: within the class shorter than to the other one: true
}

// The comparison states that the first two rows are more alike than the first and the last: the
// second feature matters less.
func ExampleLSML() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 4, D: 2, Data: []float64{0, 0, 0.1, 3, 1, 3, 1, 0}}
	none, err := links.New(4, nil)
	if err != nil {
		log.Fatal(err)
	}
	lesson := algorithms.Lesson{Quadruplets: []links.Quadruplet{{I: 0, J: 1, K: 0, L: 3}}}
	learner := baseline.LSMLLearner{Params: param.Default[baseline.LSML](), Lesson: lesson}
	model, err := learner.Fit(ctx, eng, x, none)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 1}, {0, 3}, {2, 3}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("nearly as asked for:", squared[0] < 1.1*squared[1])
	fmt.Println("and so of other pairs:", squared[2] < 1.1*squared[1])
	// Output:
	// nearly as asked for: true
	// and so of other pairs: true
}

// Two classes differ in the first feature; the second varies more.
func ExampleSCML() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14,
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15,
	}}
	classes, err := links.FromLabels([]string{"a", "a", "a", "a", "b", "b", "b", "b"})
	if err != nil {
		log.Fatal(err)
	}
	model, err := baseline.SCMLLearner{Params: param.Default[baseline.SCML]()}.Fit(ctx, eng, x, classes)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0]+1 <= squared[1]+1e-6)
	// Output: within the class shorter than to the other one: true
}

// Class a lies on both sides of class b in the first feature; one direction is enough to separate
// them.
func ExampleLFDA() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 9, D: 2,
		Data: []float64{-9, 3, -8, 0, -10, 1, 8, 2, 10, 0, 9, 1, 0, 3, 1, 0, -1, 2}}
	classes, err := links.FromLabels([]string{"a", "a", "a", "a", "a", "a", "b", "b", "b"})
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[baseline.LFDA]()
	params.Dims, params.Neighbors, params.Scaling = 1, 2, baseline.LFDAOrthonormalized
	model, err := baseline.LFDALearner{Params: params}.Fit(ctx, eng, x, classes)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 1}, {0, 6}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a neighbor is nearer than the other class:", squared[0] < squared[1]/10)
	// Output: a neighbor is nearer than the other class: true
}

// Classes differ in the first feature; the second appears in no product, and has a smaller weight.
func ExampleSDML() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 6, D: 2, Data: []float64{0, 1, 0.2, 0, -0.1, 2, 1, 0, 1.2, 2, 0.9, 1}}
	pairs, err := links.FromLabels([]string{"a", "a", "a", "b", "b", "b"})
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[baseline.SDML]()
	params.Sparsity = 0.1
	model, err := baseline.SDMLLearner{Params: params}.Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	w, _ := model.(*baseline.SDMLModel).Transform()
	fmt.Printf("%.2f %.2f\n", w.Row(0), w.Row(1))
	// Output: [1.03 0.00] [0.00 0.72]
}

// The second feature varies within the classes. The metric must ignore it, although it is ten times
// as wide.
func ExampleXiang() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14, // one class: near 0 in the first feature, anything in the second
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15, // the other one
	}}
	// all pairs
	pairs, err := links.SampleByCount([]string{"a", "a", "a", "a", "b", "b", "b", "b"}, 12, 16, 1)
	if err != nil {
		log.Fatal(err)
	}
	model, err := baseline.XiangLearner{Params: baseline.Xiang{Dims: 1}}.Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0] < squared[1])
	// Output: within the class shorter than to the other one: true
}

// A feature in meters and one in millimeters have the same influence.
func ExampleCovariance() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 4, D: 2, Data: []float64{0, 0, 1, 0, 0, 1000, 1, 1000}}
	none, err := links.New(4, nil)
	if err != nil {
		log.Fatal(err)
	}
	model, err := baseline.CovarianceLearner{Params: param.Default[baseline.Covariance]()}.Fit(ctx, eng, x,
		none)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 1}, {0, 2}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f %.3f\n", squared[0], squared[1])
	// Output: 4.000 4.000
}
