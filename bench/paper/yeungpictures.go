package paper

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/llma"
	"github.com/mustlink/mustlink/algorithms/baseline/rca"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/view"
)

// yeungDrawn is the number of points of the pictures.
const yeungDrawn = 800

func yeungFigure2() Figure {
	return Figure{
		Name: "yeung-fig2", Paper: yeungPaper, Label: "Figure 2",
		Caption: "the XOR data as they are, in the feature space of the kernel, and as four methods learn them",
		Setup: []string{
			fmt.Sprintf("Data: %d points of the XOR blobs of Table 1, %d pairs of points of the same class, the kernel of Table 1.", yeungDrawn, yeungPairs),
			"Every panel shows the two leading principal components of the coordinates of a method; the first panel also shows the pairs.",
			"RCA and kbeta as in Table 1, kbeta in its basic form; LLMA with its defaults. krca is not in the paper: it whitens within chunklets in the feature space, where kbeta re-weights eigenvectors.",
		},
		Differences: []string{"We do not know which data and which other methods the figure of the paper shows."},
		Draw:        drawYeungXOR,
	}
}

func drawYeungXOR(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	seed, progress := sketch.Seed, sketch.Progress
	data, err := dataset.Generate("xor", dataset.GenerateOptions{N: yeungDrawn, Noise: yeungSpread, Seed: seed})
	if err != nil {
		return nil, err
	}
	x := data.Points.(*points.Dense)
	pairs, err := links.SampleByCount(data.Labels, yeungPairs, 0, seed)
	if err != nil {
		return nil, err
	}
	spec, err := kernel.Parse("rbf:sigma=msq")
	if err != nil {
		return nil, err
	}
	if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
		return nil, err
	}
	classes := classNumbers(data.Labels)
	learner := kbeta.Learner{Kernel: spec, Params: kbeta.DefaultParams(), Seed: seed}
	learner.Params.Rank = 0
	learned := func(l algorithms.Learner) func() (blas.Matrix, error) {
		return func() (blas.Matrix, error) { return learnedEmbedding(ctx, eng, l, x, pairs) }
	}
	systems := []struct {
		name  string
		embed func() (blas.Matrix, error)
	}{
		{"input", func() (blas.Matrix, error) {
			return rawRows(x), nil
		}},
		{"kernel", func() (blas.Matrix, error) { return plainKernel(ctx, eng, spec.String(), x, pairs) }},
		{"RCA", learned(&rca.Learner{Params: plainRCA()})},
		{"LLMA", learned(llma.Learner{Params: rivalLLMA(), Seed: seed})},
		{"kbeta", learned(learner)},
		{"krca", func() (blas.Matrix, error) { return relevantComponents(ctx, eng, spec.String(), x, pairs) }},
	}
	var panels []view.Scatter
	var names []string
	begin := time.Now()
	for k, system := range systems {
		progress.Report(algorithms.Progress{Stage: system.name, Done: k, Total: len(systems), Elapsed: time.Since(begin)})
		y, err := system.embed()
		if err != nil {
			return nil, err
		}
		s, err := planeOf(ctx, eng, y, classes)
		if err != nil {
			return nil, err
		}
		s.Title, s.NoLegend = system.name, k > 0
		panels, names = append(panels, s), append(names, system.name+" x", system.name+" y")
	}
	for _, l := range pairs.Must() {
		panels[0].Must = append(panels[0].Must, [2]int{l.I, l.J})
	}
	return xorDrawing(classes, names, panels...), nil
}

// planeOf draws the rows of y in the plane of their largest variance.
func planeOf(ctx context.Context, eng *engine.Engine, y blas.Matrix, classes []int) (view.Scatter, error) {
	first, second, share, err := view.Plane(ctx, eng, y)
	if err != nil {
		return view.Scatter{}, err
	}
	s := scatterOf(first, second, classes)
	s.XLabel = fmt.Sprintf("first component (%.0f %%)", 100*share[0])
	s.YLabel = fmt.Sprintf("second component (%.0f %%)", 100*share[1])
	return s, nil
}
