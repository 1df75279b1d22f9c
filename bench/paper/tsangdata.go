package paper

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// tsangSet is a data set of Tables III and IV of Tsang, Cheung & Kwok. Its name is that of the
// printed numbers.
type tsangSet struct {
	uciSet
	components int // number of principal components that replace the features, 0 for none
}

// tsangSets are the data sets in the order of the paper.
func tsangSets() []tsangSet {
	return []tsangSet{
		uspsSet(),
		{uciSet{"breast-cancer", "breast-w.csv", 0}, 0},
		{uciSet{"german", "german.csv", 0}, 0},
		{uciSet{"glass", "glass.csv", 0}, 0},
		{uciSet{"heart", "heart.csv", 0}, 0},
		{uciSet{"image", "image.csv", 0}, 0},
		{uciSet{"ionosphere", "ionosphere.csv", 0}, 0},
		{uciSet{"letter", "letter.csv.gz", 100}, 0},
		{uciSet{"pima", "pima-diabetes.csv", 0}, 0},
		{uciSet{"satellite", "satellite.csv.gz", 400}, 0},
		{uciSet{"sonar", "sonar.csv", 0}, 0},
		{uciSet{"vehicle", "vehicle.csv", 0}, 0},
	}
}

func uspsSet() tsangSet { return tsangSet{uciSet{"USPS", "usps.csv.gz", 250}, 88} }

// tsangPartial names the set of the paper that we do not have.
func tsangPartial() map[string]string {
	return map[string]string{"USPS": "88 principal components of 2500 of 9298 rows"}
}

// load reads the data set and prepares its features: principal components of the features as they
// are, or the features that vary, standardized.
func (s tsangSet) load(ctx context.Context, eng *engine.Engine, path string, r *rand.Rand) (*labeled, error) {
	x, labels, err := readRows(path, s.perClass, r)
	if err != nil {
		return nil, err
	}
	if s.components > 0 {
		x, err = principalComponents(ctx, eng, x, s.components)
	} else {
		x, err = standardized(x)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &labeled{x: x, labels: labels, classes: len(classRows(labels))}, nil
}

// standardized returns the features that vary, each with mean 0 and standard deviation 1.
func standardized(x *points.Dense) (*points.Dense, error) {
	scaling, constant, err := prepare.Standardize(x)
	if err != nil {
		return nil, err
	}
	scaled, err := scaling.Apply(x)
	if err != nil {
		return nil, err
	}
	all := scaled.(*points.Dense)
	skip := make([]bool, x.D)
	for _, j := range constant {
		skip[j] = true
	}
	var data []float64
	for i := range all.N {
		for j, v := range all.Row(i) {
			if !skip[j] {
				data = append(data, v)
			}
		}
	}
	return points.NewDense(all.N, x.D-len(constant), data)
}

// principalComponents returns the coordinates of the rows of x along the q directions of the
// largest variance, the largest first.
func principalComponents(ctx context.Context, eng *engine.Engine, x *points.Dense,
	q int) (*points.Dense, error) {
	if q > x.D {
		return nil, fmt.Errorf("%d components of %d features", q, x.D)
	}
	centered := rawRows(x).Clone()
	for j := range x.D {
		sum := 0.0
		for i := range x.N {
			sum += centered.At(i, j)
		}
		for i := range x.N {
			centered.Set(i, j, centered.At(i, j)-sum/float64(x.N))
		}
	}
	scatter, w := blas.NewMatrix(x.D, x.D), make([]float64, x.D)
	eng.Backend().Gemm(true, false, 1, centered, centered, 0, scatter)
	if err := eng.SymEig(ctx, scatter, w, true); err != nil { // rows are directions, the largest last
		return nil, err
	}
	axes := blas.NewMatrix(q, x.D)
	for r := range q {
		copy(axes.Row(r), scatter.Row(x.D-1-r))
	}
	y := blas.NewMatrix(x.N, q)
	eng.Backend().Gemm(false, true, 1, centered, axes, 0, y)
	return points.NewDense(x.N, q, y.Data)
}
