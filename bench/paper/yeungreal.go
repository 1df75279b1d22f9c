package paper

import (
	"context"
	"fmt"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/klein"
	"github.com/mustlink/mustlink/algorithms/baseline/llma"
	"github.com/mustlink/mustlink/algorithms/baseline/rca"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// The one rule for all data sets.
const (
	yeungRealLandmarks = 1000
	yeungRealPairs     = 50
	yeungRealImages    = 2000 // for each digit
	yeungRestarts      = 10
	yeungIsolet        = "Isolet"
)

// yeungFiles are the data sets of Tables 2 and 3.
func yeungFiles() []string {
	return []string{"mnist-train-images-idx3-ubyte.gz", "mnist-train-labels-idx1-ubyte.gz", "isolet-1559.csv.gz", "isolet-1560.csv.gz"}
}

// yeung2 compares J on handwritten digits and spoken letters.
func yeung2() Table {
	return yeungReal("yeung-2", "Table 2", "mean distance between classes over that within them, J",
		[]string{"01", "13", "15", "17", "19", "012", "678", "019", "3456", yeungIsolet},
		[]string{"input", "RBF kernel", "RCA", "kbeta"},
		"Measure: J = mean distance between points of different classes / mean distance between points of one class, over all pairs of points, distances not squared.",
		func(ctx context.Context, eng *engine.Engine, s *yeungSet, _ Trial) measured {
			return func(y blas.Matrix) (float64, error) { return embeddedJ(ctx, eng, y, s.labels) }
		})
}

// yeung3 compares the clusters that k-means finds.
func yeung3() Table {
	return yeungReal("yeung-3", "Table 3", "clustering with the learned metrics, balanced Rand index",
		[]string{yeungIsolet, "012", "678", "3456"},
		[]string{"input", "RCA", "kbeta"},
		fmt.Sprintf("Measure: balanced Rand index of k-means with as many clusters as classes, the best objective of %d k-means++ starts.", yeungRestarts),
		clustered)
}

// clustered returns the function for the balanced Rand index of k-means with as many clusters as
// classes.
func clustered(ctx context.Context, eng *engine.Engine, s *yeungSet, t Trial) measured {
	return func(y blas.Matrix) (float64, error) {
		r, err := cluster.KMeans(ctx, eng, y, cluster.Params{K: len(classRows(s.labels)), Restarts: yeungRestarts, Seed: t.Seed(3)})
		if err != nil {
			return 0, err
		}
		return score.BalancedRand(s.labels, r.Labels)
	}
}

// yeungSmall are the sets of Figure 4 with the numbers of their pairs.
func yeungSmall() []struct {
	uciSet
	pairs int
} {
	return []struct {
		uciSet
		pairs int
	}{
		{uciSet{"soybean", "soybean-small.csv", 0}, 10}, {uciSet{"protein", "protein.csv", 0}, 15}, {uciSet{"wine", "wine.csv", 0}, 20},
		{uciSet{"ionosphere", "ionosphere.csv", 0}, 30}, {uciSet{"boston", "boston.csv", 0}, 40},
	}
}

// yeungFigure4 is a table of the content of Figure 4.
func yeungFigure4() Table {
	systems := []string{"input", "RBF kernel", "RCA", "klein", "LLMA", "kbeta"}
	t := Table{
		Name: "yeung-fig4", Paper: yeungPaper, Label: "Figure 4", Caption: "clustering of small data sets with the learned metrics, balanced Rand index",
		Repetitions: 20, Decimals: 3,
		Setup: []string{
			"Data: all rows of the files, every feature standardized to mean 0 and standard deviation 1.",
			"Side information, drawn again in every repetition: pairs of points of the same class; the column has their number.",
			"Kernel: exp(-|x-y|^2 / (2 sigma^2)) with sigma = the mean distance between two points; its k-means runs in the feature space.",
			"kbeta: all points are landmarks, and the square root of their number is the number of directions. RCA: whitening by the covariance within the chunklets of the pairs, with 0.01 of its mean eigenvalue added, in all principal directions. klein and LLMA, which also learn from such pairs, have their defaults.",
			fmt.Sprintf("Measure: balanced Rand index of k-means with as many clusters as classes, the best objective of %d k-means++ starts.", yeungRestarts),
		},
		Differences: []string{
			"The figure is a drawing without printed numbers. The numbers of pairs are the paper's; everything else was chosen, the same for all sets and as in yeung-2.",
			"The sixth set of the figure, WDBC, is not available.",
			"Cannot-links, as many as must-links, change little. With five times as many links as above, the index for cannot = 0, 0.5 and 1 is: soybean 0.999, 0.999, 0.996; protein 0.640, 0.648, 0.640; wine 0.949, 0.948, 0.947; ionosphere 0.727, 0.734, 0.740; boston 0.588, 0.594, 0.594.",
		},
		Revision: 3,
		Own:      "kbeta", Good: Higher,
		Why:     "One cause is too few pairs: five times as many give protein 0.640, wine 0.949, ionosphere 0.727 and boston 0.588 (on yeung-fig4), instead of 0.592, 0.931, 0.635 and 0.551. The parameters are not the cause: other ranks, kernels, iterations and cannot-links move kbeta by 0.012 at most over 28 sets (docs/choosing.md). kbeta re-weights the kernel's own directions and mixes none; klein moves the points themselves.",
		Prepare: loadYeungSmall,
	}
	for _, set := range yeungSmall() {
		t.Data = append(t.Data, set.file)
		t.Columns = append(t.Columns, fmt.Sprintf("%s, %d", set.name, set.pairs))
	}
	for _, system := range systems {
		t.Rows = append(t.Rows, Row{system, Unprinted(len(t.Columns))})
	}
	t.Steps = len(t.Columns)
	t.Trial = yeungSystems(t.Columns, systems, clustered)
	return t
}

func loadYeungSmall(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
	var out []*yeungSet
	for _, set := range yeungSmall() {
		d, err := loadUCI(ctx, eng, t.Path(set.file), 0, "mean", t.Rand(0))
		if err != nil {
			return nil, err
		}
		gram, err := d.gaussian.Gram(ctx, eng, d.x)
		if err != nil {
			return nil, err
		}
		s := &yeungSet{x: d.x, labels: d.labels, kernel: d.gaussian.Spec(), pairs: set.pairs}
		if s.coordinates, err = gramCoordinates(ctx, eng, gram, tsangRankTol); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// measureOf returns the function for the measure on a set in a repetition.
type measureOf func(context.Context, *engine.Engine, *yeungSet, Trial) measured

// measured computes a measure of the points in the rows of a matrix.
type measured func(y blas.Matrix) (float64, error)

// yeungSet is a data set.
type yeungSet struct {
	x      *points.Dense
	labels []string
	kernel kernel.Spec
	rbf    float64 // J in the feature space, if it is needed
	pairs  int

	coordinates blas.Matrix // in the feature space, of small sets
}

// yeungReal returns a table of sets (sets of digits are named by their digits) and systems.
func yeungReal(name, label, caption string, sets, systems []string, measure string, with measureOf) Table {
	t := Table{
		Name: name, Paper: yeungPaper, Label: label, Caption: caption,
		Repetitions: 10, Steps: len(sets), Decimals: 4, Data: yeungFiles(),
		Setup: []string{
			fmt.Sprintf("Data: for a set of digits the first %d training images of MNIST of each, 784 features, divided by 255; Isolet is the two files joined, 3119 rows of 617 features in 26 classes.", yeungRealImages),
			fmt.Sprintf("Side information, drawn again in every repetition: %d pairs of points of the same class.", yeungRealPairs),
			"Kernel: exp(-|x-y|^2 / (2 sigma^2)) with sigma = the mean distance between two points (bandwidth rule mean).",
			fmt.Sprintf("kbeta: %d landmarks, the points of the pairs and others drawn at random; the square root of this number as the number of directions; 5 neighbors, 3 iterations.", yeungRealLandmarks),
			"RCA: whitening by the covariance within the chunklets of the pairs, with 0.01 of its mean eigenvalue added, in all principal directions.",
			measure,
		},
		Differences: []string{
			"The printed numbers are not available. We chose the numbers of pairs and landmarks, the bandwidth, the rank and the images, the same for all sets.",
			"Only two of the five parts of Isolet are available.",
		},
		Revision: 1,
		Own:      "kbeta", Good: Higher,
		Why: "RCA is ahead in clusters on Isolet and {3,4,5,6}. In yeung-4 RCA has only the principal directions of more than 1 % of the largest variance. With these it falls to 0.78 on Isolet, behind kbeta (on yeung-4). So its settings decide. Other ranks, kernels, iterations and cannot-links move kbeta by 0.012 at most over 28 sets (docs/choosing.md).",
		Prepare: func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
			return loadYeung(ctx, eng, t, sets, systems)
		},
	}
	for _, set := range sets {
		t.Columns = append(t.Columns, yeungName(set))
	}
	for _, system := range systems {
		t.Rows = append(t.Rows, Row{system, Unprinted(len(t.Columns))})
	}
	t.Trial = yeungSystems(t.Columns, systems, with)
	return t
}

// yeungSystems returns the function of a repetition: all systems on all sets.
func yeungSystems(names, systems []string, with measureOf) func(context.Context, *engine.Engine, Trial) ([][]float64, error) {
	return func(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
		values := make([][]float64, len(systems))
		for c, s := range t.Shared.([]*yeungSet) {
			figure := with(ctx, eng, s, t)
			for r, system := range systems {
				v, err := s.system(ctx, eng, t, system, figure)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", names[c], system, err)
				}
				values[r] = append(values[r], v)
			}
			t.Step()
		}
		return values, nil
	}
}

func yeungName(set string) string {
	if set == yeungIsolet {
		return set
	}
	return "{" + strings.Join(strings.Split(set, ""), ",") + "}"
}

// system returns the value of one system in one repetition.
func (s *yeungSet) system(ctx context.Context, eng *engine.Engine, t Trial, name string, figure measured) (float64, error) {
	var learner algorithms.Learner
	switch name {
	case "input":
		return figure(rawRows(s.x))
	case "RBF kernel":
		if s.coordinates.Data != nil {
			return figure(s.coordinates)
		}
		return s.rbf, nil
	case "RCA":
		p := plainRCA()
		p.EpsRel = 1e-2
		learner = &rca.Learner{Params: p}
	case "klein":
		learner = klein.Learner{Params: klein.DefaultParams(), Seed: t.Seed(2)}
	case "LLMA":
		learner = llma.Learner{Params: rivalLLMA(), Seed: t.Seed(2)}
	default:
		p := kbeta.DefaultParams()
		p.Landmarks, p.Iterations = min(yeungRealLandmarks, s.x.N), 3
		learner = kbeta.Learner{Kernel: s.kernel, Params: p, Seed: t.Seed(2)}
	}
	pairs, err := links.SampleByCount(s.labels, s.pairs, 0, t.Seed(1))
	if err != nil {
		return 0, err
	}
	y, err := learnedEmbedding(ctx, eng, learner, s.x, pairs)
	if err != nil {
		return 0, err
	}
	return figure(y)
}

// loadYeung reads the data sets.
func loadYeung(ctx context.Context, eng *engine.Engine, t Trial, sets, systems []string) ([]*yeungSet, error) {
	files := yeungFiles()
	images, err := dataset.Read(t.Path(files[0]), dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	digits, err := dataset.ReadLabels(t.Path(files[1]), 0)
	if err != nil {
		return nil, err
	}
	if len(digits) != images.Points.Len() {
		return nil, fault.Data(t.Path(files[1]), "%d labels for %d images: want as many", len(digits), images.Points.Len())
	}
	var out []*yeungSet
	for _, set := range sets {
		s, err := &yeungSet{pairs: yeungRealPairs}, error(nil)
		if set == yeungIsolet {
			s.x, s.labels, err = isolet(t, files[2:])
		} else {
			s.x, s.labels, err = someDigits(images.Points, digits, set)
		}
		if err != nil {
			return nil, err
		}
		spec, err := kernel.Parse("rbf:sigma=mean")
		if err != nil {
			return nil, err
		}
		if s.kernel, err = bandwidth.Resolve(ctx, eng, spec, s.x); err != nil {
			return nil, err
		}
		if k, err := kernel.New(s.kernel); err != nil {
			return nil, err
		} else if s.rbf, err = featureJ(ctx, eng, k, s.x, s.labels); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// someDigits returns the first images of each digit of a set.
func someDigits(images points.Points, digits []string, set string) (*points.Dense, []string, error) {
	var rows []int
	count := map[string]int{}
	for i, d := range digits {
		if strings.Contains(set, d) && count[d] < yeungRealImages {
			count[d]++
			rows = append(rows, i)
		}
	}
	x, ok := images.Select(rows).(*points.Dense)
	if !ok {
		return nil, nil, fault.Data("", "images are %T: want vectors of numbers", images)
	}
	for i := range x.Data {
		x.Data[i] /= 255
	}
	return x, pick(digits, rows), nil
}

// isolet joins the files.
func isolet(t Trial, files []string) (*points.Dense, []string, error) {
	var data []float64
	var labels []string
	d := 0
	for _, name := range files {
		part, err := dataset.Read(t.Path(name), dataset.ReadOptions{})
		if err != nil {
			return nil, nil, err
		}
		x, ok := part.Points.(*points.Dense)
		if !ok || d != 0 && x.D != d {
			return nil, nil, fault.Data(t.Path(name), "rows of %d features: want vectors with as many as in the other file", part.Points.Dim())
		}
		d = x.D
		data, labels = append(data, x.Data...), append(labels, part.Labels...)
	}
	x, err := points.NewDense(len(labels), d, data)
	return x, labels, err
}
