package paper

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/view"
)

// The sizes of Figure 2: the last points are new.
const (
	yeungDrawn          = 400
	yeungDrawnLearned   = 360
	yeungDrawnPairs     = 20
	yeungDrawnLandmarks = 40
)

// yeungBasic and yeungLow are the two forms of the method in Figure 2.
const (
	yeungBasic = "kbeta"
	yeungLow   = "kbeta, 40 landmarks"
)

func yeungFigure2() Figure {
	return Figure{
		Name: "yeung-fig2", Paper: yeungPaper, Label: "Figure 2",
		Caption: "the XOR data as they are, in the feature space of the kernel, and as methods learn them",
		Setup: []string{
			fmt.Sprintf("Data: %d points of the XOR blobs of Table 1, the last %d of them new: learned "+
				"without them, and embedded afterwards. %d pairs of points of the same class among the "+
				"others, the kernel "+
				"of Table 1.", yeungDrawn, yeungDrawn-yeungDrawnLearned, yeungDrawnPairs),
			"Every panel shows the two leading principal components of the coordinates of a method, with " +
				"the new points as groups of their own; the first panel also shows the pairs.",
			fmt.Sprintf("RCA and kbeta as in Table 1, kbeta in its basic form and with %d landmarks. LLMA "+
				"with two directions, those of the plane. LMNN gets the classes of the points in the pairs.",
				yeungDrawnLandmarks),
			"The notes give J in the two components, over the learned and over the new points.",
		},
		Differences: []string{yeungOpen(),
			"The number of pairs is not stated; 20 pairs have at most 40 points, the number of landmarks.",
			"The paper says 360 points and 40 new ones, and elsewhere 400 points for the basic form."},
		Claims: yeungXORPictureClaims,
		Draw:   drawYeungXOR,
	}
}

// yeungPicture is the data of Figure 2.
type yeungPicture struct {
	x       *points.Dense // all points
	labels  []string
	learned []int // rows that are not new
	fresh   []int
	pairs   *links.Set // of the learned rows
	seed    uint64
}

func newYeungPicture(seed uint64) (*yeungPicture, error) {
	data, err := dataset.Generate("xor",
		dataset.GenerateOptions{N: yeungDrawn, Noise: yeungSpread, Seed: seed})
	if err != nil {
		return nil, err
	}
	p := &yeungPicture{x: data.Points.(*points.Dense), labels: data.Labels, seed: seed}
	for i := range yeungDrawn {
		if i >= yeungDrawnLearned {
			p.fresh = append(p.fresh, i)
		} else {
			p.learned = append(p.learned, i)
		}
	}
	p.pairs, err = links.SampleByCount(pick(p.labels, p.learned), yeungDrawnPairs, 0, seed)
	return p, err
}

// classed returns the links between the points of the pairs by their classes.
func (p *yeungPicture) classed() (*links.Set, error) {
	some, labels := make([]string, len(p.learned)), pick(p.labels, p.learned)
	for _, l := range p.pairs.Must() {
		some[l.I], some[l.J] = labels[l.I], labels[l.J]
	}
	return links.FromLabels(some)
}

// embed learns from the learned points and embeds all.
func (p *yeungPicture) embed(ctx context.Context, eng *engine.Engine,
	l algorithms.Learner) (blas.Matrix, error) {
	set := p.pairs
	if l.Method() == baseline.LMNNMethod {
		var err error
		if set, err = p.classed(); err != nil {
			return blas.Matrix{}, err
		}
	}
	m, err := l.Fit(ctx, eng, p.x.Select(p.learned), set)
	if err != nil {
		return blas.Matrix{}, err
	}
	return m.Embed(ctx, eng, p.x)
}

// systems returns the panels; the first has no learner.
func (p *yeungPicture) systems(ctx context.Context,
	eng *engine.Engine) ([]string, []algorithms.Learner, error) {
	k, err := resolved(ctx, eng, yeungKernel, p.x.Select(p.learned))
	if err != nil {
		return nil, nil, err
	}
	local := rivalLLMA()
	local.Dims = 2
	return []string{"input", "kernel", "RCA", "LMNN", "LLMA", yeungBasic, yeungLow}, []algorithms.Learner{
		nil, nonlinear.KPCALearner{Kernel: k.Spec(), Params: param.Default[nonlinear.KPCA]()},
		&baseline.RCALearner{Params: plainRCA()}, baseline.LMNNLearner{Params: yeungLMNN()},
		nonlinear.LLMALearner{Params: local, Seed: p.seed}, yeungLearner(k.Spec(), 0, p.seed),
		yeungLearner(k.Spec(), yeungDrawnLandmarks, p.seed),
	}, nil
}

func drawYeungXOR(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	p, err := newYeungPicture(sketch.Seed)
	if err != nil {
		return nil, err
	}
	systems, learners, err := p.systems(ctx, eng)
	if err != nil {
		return nil, err
	}
	var panels []view.Scatter
	var names []string
	begin := time.Now()
	for k, name := range systems {
		sketch.Progress.Report(algorithms.Progress{Stage: name, Done: k, Total: len(systems),
			Elapsed: time.Since(begin)})
		y := rawRows(p.x)
		if learners[k] != nil {
			if y, err = p.embed(ctx, eng, learners[k]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		s, err := p.panel(ctx, eng, y)
		if err != nil {
			return nil, err
		}
		s.Title, s.NoLegend = name, k > 0
		panels, names = append(panels, s), append(names, name+" x", name+" y")
	}
	for _, l := range p.pairs.Must() {
		panels[0].Must = append(panels[0].Must, [2]int{p.learned[l.I], p.learned[l.J]})
	}
	d := xorDrawing(classNumbers(p.labels), names, panels...)
	d.Across = 4
	for k, name := range systems {
		d.Notes = append(d.Notes,
			fmt.Sprintf("%s: J is %.3f, of the new points %.3f.", name, drawnJ(d, k, false),
				drawnJ(d, k, true)))
	}
	return d, nil
}

// panel draws the rows of y in the plane of their largest variance.
func (p *yeungPicture) panel(ctx context.Context, eng *engine.Engine, y blas.Matrix) (view.Scatter, error) {
	s, err := planeOf(ctx, eng, y, classNumbers(p.labels))
	if err != nil {
		return s, err
	}
	for _, i := range p.fresh {
		s.Groups[i] += ", new"
	}
	return s, nil
}

// yeungXORPictureClaims tests what the text says about the figure.
func yeungXORPictureClaims(d *Drawing) []Claim {
	old, fresh := map[string]float64{}, map[string]float64{}
	for k, name := range []string{"input", "kernel", "RCA", "LMNN", "LLMA", yeungBasic, yeungLow} {
		old[name], fresh[name] = drawnJ(d, k, false), drawnJ(d, k, true)
	}
	is := func(text string, holds bool, format string, values ...any) Claim {
		c := Claim{Text: text, Verdict: Worse, Detail: fmt.Sprintf(format, values...)}
		if holds {
			c.Verdict = Reproduced
		}
		return c
	}
	best := max(old["input"], old["kernel"], old["RCA"], old["LMNN"], old["LLMA"])
	const little = 1.1 // times J of the input: no satisfactory separation
	return []Claim{
		is("neither RCA nor LMNN performs satisfactorily", max(old["RCA"], old["LMNN"]) < little*old["input"],
			"J %.3f and %.3f, input %.3f", old["RCA"], old["LMNN"], old["input"]),
		is("LLMA groups the points by class", old["LLMA"] > 2*old["input"], "J %.3f, input %.3f", old["LLMA"],
			old["input"]),
		is("both forms of the method give the best results", min(old[yeungBasic], old[yeungLow]) > best,
			"J %.3f and %.3f, the best other %.3f", old[yeungBasic], old[yeungLow], best),
		is("40 landmarks are almost as good as all points", old[yeungLow] > 0.8*old[yeungBasic],
			"J %.3f and %.3f", old[yeungLow], old[yeungBasic]),
		is("the embedding of new points is as good", fresh[yeungBasic] > 0.8*old[yeungBasic] &&
			fresh[yeungLow] > 0.8*old[yeungLow],
			"J of the new points %.3f and %.3f", fresh[yeungBasic], fresh[yeungLow]),
	}
}

// drawnJ returns J of the learned or the new points of a panel.
func drawnJ(d *Drawing, panel int, fresh bool) float64 {
	var within, between, same, other float64
	for i, a := range d.Rows {
		for j, b := range d.Rows[:i] {
			if (i >= yeungDrawnLearned) != fresh || (j >= yeungDrawnLearned) != fresh {
				continue
			}
			distance := math.Hypot(a[1+2*panel]-b[1+2*panel], a[2+2*panel]-b[2+2*panel])
			if a[0] == b[0] {
				within, same = within+distance, same+1
			} else {
				between, other = between+distance, other+1
			}
		}
	}
	return between / other / (within / same)
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
