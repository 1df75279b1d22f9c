package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

// TestSupportVectors: the decisions agree with those of a slow solver by dual coordinate descent
// (Hsieh et al. 2008).
func TestSupportVectors(t *testing.T) {
	const m, others, cost = 24, 40, 3.0
	rng := rand.New(rand.NewPCG(1, 2))
	x := blas.NewMatrix(m+others, 3)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	labels := make([]string, m)
	for i := range labels {
		labels[i] = fmt.Sprint(i % 3)
		x.Set(i, i%3, x.At(i, i%3)+1)
	}
	value := func(i, j int) float64 { return math.Exp(-points.SquaredDistance(x.Row(i), x.Row(j)) / 4) }
	k, across := blas.NewMatrix(m, m), blas.NewMatrix(others, m)
	for j := range m {
		for i := range m {
			k.Set(i, j, value(i, j))
		}
		for i := range others {
			across.Set(i, j, value(m+i, j))
		}
	}
	got, err := supportVectors(k, across, labels, cost)
	if err != nil {
		t.Fatal(err)
	}
	best, want, close := make([]float64, others), make([]string, others), make([]bool, others)
	for c := range 3 {
		alpha, y := make([]float64, m), make([]float64, m)
		for i := range y {
			if y[i] = -1; i%3 == c {
				y[i] = 1
			}
		}
		for range 20000 {
			for i := range m {
				slope := -1.0
				for j := range m {
					slope += alpha[j] * y[i] * y[j] * (k.At(i, j) + 1)
				}
				alpha[i] = min(max(0, alpha[i]-slope/2), cost)
			}
		}
		for i := range others {
			sum := 0.0
			for j := range m {
				sum += alpha[j] * y[j] * (across.At(i, j) + 1)
			}
			if close[i] = close[i] && sum < best[i] || math.Abs(sum-best[i]) < 1e-6; c == 0 || sum > best[i] {
				best[i], want[i] = sum, fmt.Sprint(c)
			}
		}
	}
	for i := range others {
		if got[i] != want[i] && !close[i] {
			t.Errorf("point %d is in class %s: want %s", i, got[i], want[i])
		}
	}
}

// TestLuSplit: a split labels points of all classes; its errors are percentages, the same in a
// second run.
func TestLuSplit(t *testing.T) {
	racetest.Skip(t, "a table of a paper; others run trials side by side too")
	ctx, eng := context.Background(), scopEngine(t)
	trial := Trial{Number: 2, Data: realData(t), seed: 3}
	set := luSemiSets()[3]
	loaded, err := loadHuLarge(trial, []huLarge{set.huLarge})
	if err != nil {
		t.Fatal(err)
	}
	s := &luSemi{huLoaded: loaded[0], labeled: set.labeled}
	if s.basis, err = s.eigenvectors(ctx, eng, 1); err != nil {
		t.Fatal(err)
	}
	if s.kernels, err = s.plain(ctx, eng); err != nil {
		t.Fatal(err)
	}
	c, err := newLuSplit(s, 30, trial, 0)
	if err != nil {
		t.Fatal(err)
	}
	if must, cannot := c.set.Count(); must+cannot != 30*29/2 || cannot == 0 ||
		len(c.known)+len(c.others) != s.x.Len() {
		t.Errorf("%d must-links and %d cannot-links of %d points, %d others", must, cannot, len(c.known),
			len(c.others))
	}
	first, err := c.errors(ctx, eng)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.errors(ctx, eng)
	if err != nil {
		t.Fatal(err)
	}
	// few labels can leave a kernel at chance
	if !slices.Equal(first, again) || len(first) != luRounds+1+len(luRivals()) || slices.Min(first) < 5 ||
		slices.Max(first) > 60 {
		t.Errorf("errors %v, again %v", first, again)
	}
}

// TestRecall: matching images with the same coordinates are found; images with k nearer others are
// not.
func TestRecall(t *testing.T) {
	const images = 12
	y := blas.NewMatrix(2*images, 1)
	for i := range images {
		y.Set(i, 0, float64(i))
		y.Set(images+i, 0, float64(i)+0.1)
	}
	a, same := &alignment{objects: 2, images: images}, luSameLight()
	if got := a.recall(y, same); !slices.Equal(got, []float64{1, 1, 1, 1}) {
		t.Errorf("recall %v of pairs with the same coordinates", got)
	}
	for i := range images {
		// two places on: four others are as near or nearer, but for ends
		y.Set(images+i, 0, float64((i+2)%images)+0.1)
	}
	if got := a.recall(y, same); got[0] > 0 || got[3] < 0.5 || got[1] > got[2] {
		t.Errorf("recall %v of pairs that are apart", got)
	}
	for i := range 2 * images {
		y.Set(i, 0, 7)
	}
	same.all = true
	if got := a.recall(y, same); !slices.Equal(got, []float64{0, 0, 0, 0}) {
		t.Errorf("recall %v where all coordinates are the same: a tie counts as a miss", got)
	}
}

// TestRecallOfSimilar: on two circles that lie apart, the images at most one place away are five:
// two of the own circle, which are found first, and three of the other.
func TestRecallOfSimilar(t *testing.T) {
	const images = 12
	y := blas.NewMatrix(2*images, 3)
	for i := range 2 * images {
		angle := 2 * math.Pi * float64(i%images) / images
		y.Set(i, 0, math.Cos(angle))
		y.Set(i, 1, math.Sin(angle))
		y.Set(i, 2, 10*float64(i/images))
	}
	a, similar := &alignment{objects: 2, images: images},
		luSearch{"", 1, true, false, []int{1, 2, images - 1, images + 2}}
	if got := a.recall(y, similar); !slices.Equal(rounded(got), []float64{0.2, 0.4, 0.4, 1}) {
		t.Errorf("recall %v where circles are apart", got)
	}
	for i := range images {
		y.Set(images+i, 2, 0.01)
	}
	similar.cutoffs = []int{1, 5}
	if got := a.recall(y, similar); !slices.Equal(rounded(got), []float64{0.2, 1}) {
		t.Errorf("recall %v where circles are aligned", got)
	}
}

// rounded returns values with nine decimals.
func rounded(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Round(v*1e9) / 1e9
	}
	return out
}

// TestLuPoses: a repetition gives a share for every system and cutoff, not lower for larger
// cutoffs, and the same in a second run.
func TestLuPoses(t *testing.T) {
	racetest.Skip(t, "a table of a paper; others run trials side by side too")
	table, eng := luFigure6(), scopEngine(t)
	trial := Trial{Number: 1, Data: realData(t), seed: 5}
	shared, err := table.Prepare(context.Background(), eng, trial)
	if err != nil {
		t.Fatal(err)
	}
	trial.Shared = shared
	first, err := table.Trial(context.Background(), eng, trial)
	if err != nil {
		t.Fatal(err)
	}
	second, err := table.Trial(context.Background(), eng, trial)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.check(first); err != nil {
		t.Fatal(err)
	}
	for r, row := range first {
		if !slices.Equal(row, second[r]) || slices.Min(row) < 0 || slices.Max(row) > 1+1e-12 {
			t.Errorf("%s: %v, again %v", table.Rows[r].Name, row, second[r])
		}
		for c := 1; c < len(row); c++ {
			left, right := table.Columns[c-1], table.Columns[c]
			if left[:strings.LastIndex(left, " at ")] == right[:strings.LastIndex(right, " at ")] &&
				row[c] < row[c-1] {
				t.Errorf("%s: recall falls with the cutoff: %v", table.Rows[r].Name, row)
			}
		}
	}
	d := shared.(*dataset.Data)
	if _, err := ofObjects(context.Background(), eng, d, []string{"3", "none"}, 1); err == nil {
		t.Error("an object without images: want an error")
	}
}

// TestFoldErrors: the identity tells nothing about points of other folds; the kernel of the classes
// has no errors.
func TestFoldErrors(t *testing.T) {
	const m = 20
	labels, order := make([]string, m), make([]int, m)
	noise, truth := blas.NewMatrix(m, m), blas.NewMatrix(m, m)
	for i := range m {
		labels[i], order[i] = fmt.Sprint(i/10), (i*7)%m
	}
	for i := range m {
		noise.Set(i, i, 1)
		for j := range m {
			if labels[i] == labels[j] {
				truth.Set(i, j, 1)
			}
		}
	}
	if wrong, err := foldErrors(truth, labels, order); err != nil || wrong != 0 {
		t.Errorf("%d errors with the kernel of the classes, error %v", wrong, err)
	}
	if wrong, err := foldErrors(noise, labels, order); err != nil || wrong < 5 {
		t.Errorf("%d errors with a kernel that knows nothing, error %v", wrong, err)
	}
}
