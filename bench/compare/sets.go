package compare

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Set is a data set of the comparison.
type Set struct {
	Name  string
	Files []string // in the folder of data sets: rows, and labels if they have their own file
	kind  kind
}

// kind is what the rows of a set are.
type kind int

const (
	vectors    kind = iota
	texts           // counts of words
	sequences       // the second word of a header is the class
	noise           // normal numbers, with classes at random
	embeddings      // vectors that all systems get as they are
)

// Sets returns all data sets, by name.
func Sets() []Set {
	csv := func(name string) Set { return Set{Name: name, Files: []string{name + ".csv"}} }
	gz := func(name string) Set { return Set{Name: name, Files: []string{name + ".csv.gz"}} }
	text := func(name string) Set { return Set{Name: name, Files: []string{name + ".svm.gz"}, kind: texts} }
	return []Set{
		{Name: "adult", Files: []string{"adult.svm.gz"}},
		csv("balance-scale"), csv("boston"), csv("breast-w"), gz("coil20"), csv("german-24"), csv("glass"),
		csv("heart"),
		csv("image"), csv("ionosphere"), csv("iris"), gz("isolet-1560"), gz("letter"),
		{Name: "mnist", Files: []string{"mnist-t10k-images-idx3-ubyte.gz",
			"mnist-t10k-labels-idx1-ubyte.gz"}},
		gz("pendigits"), csv("pima-diabetes"), csv("protein"), gz("satellite"),
		{Name: "scop40", Files: []string{"scop40.fasta.gz"}, kind: sequences},
		csv("sonar"), csv("soybean-small"), text("text-baseball-hockey"), text("text-pc-mac"),
		text("text-religion-atheism"),
		gz("usps"), csv("vehicle"), csv("wine"), gz("yaleb-2"),
	}
}

// LookupSet returns the set of that name, or a *fault.ParamError with the nearest one.
func LookupSet(name string) (Set, error) {
	var names []string
	for _, s := range append(Sets(), noiseSet(), intents()) {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Set{}, fault.Unknown("data set", name, names)
}

const (
	// maxRows is the maximum number of rows that a repetition draws of a set; half of them are
	// training rows.
	maxRows = 1000
	// fewFeatures: a set with fewer features is standardized. Other sets keep their units, and this
	// many principal coordinates replace their features.
	fewFeatures = 100
	// wordsOf is the kernel of sequences, familyRows the minimum number of rows of their classes.
	wordsOf    = "spectrum:k=3"
	familyRows = 40
)

// rows is a data set in memory.
type rows struct {
	x      points.Points
	labels []string
	kind   kind
}

// read reads the set from the folder.
func (s Set) read(path func(string) string) (*rows, error) {
	if s.kind == noise {
		return noiseRows()
	}
	d, err := dataset.Read(path(s.Files[0]), dataset.ReadOptions{HeaderLabels: s.kind == sequences})
	if err != nil {
		return nil, err
	}
	if len(s.Files) > 1 {
		labels, err := dataset.ReadLabels(dataset.Input{Name: path(s.Files[1])}, dataset.ReadOptions{})
		if d.Labels = labels.Labels; err != nil {
			return nil, err
		}
	}
	if len(d.Labels) != d.Points.Len() {
		return nil, fault.Data(path(s.Files[0]), "%d labels for %d rows: want as many", len(d.Labels),
			d.Points.Len())
	}
	r := &rows{d.Points, d.Labels, s.kind}
	if s.kind == sequences {
		r = r.largeClasses(familyRows)
	}
	return r, nil
}

// intents returns sentences of 77 intents, as embeddings of unit length. It is no set of the cross
// table, whose methods would take hours on it.
func intents() Set {
	return Set{Name: "banking77", Files: []string{"banking77-use512.npy", "banking77-labels.csv"},
		kind: embeddings}
}

// noiseSet returns a set without signal, which is made when it is read.
func noiseSet() Set { return Set{Name: "noise", kind: noise} }

// noiseRows returns rows that say nothing about their classes.
func noiseRows() (*rows, error) {
	const n, d, classes = 400, 20, 3
	r := rand.New(rand.NewPCG(1, 1))
	data, labels := make([]float64, n*d), make([]string, n)
	for k := range data {
		data[k] = r.NormFloat64()
	}
	for i := range labels {
		labels[i] = string(rune('a' + r.IntN(classes)))
	}
	x, err := points.NewDense(n, d, data)
	return &rows{x, labels, noise}, err
}

// largeClasses keeps the rows of classes with at least minimum rows.
func (r *rows) largeClasses(minimum int) *rows {
	count := map[string]int{}
	for _, l := range r.labels {
		count[l]++
	}
	var keep []int
	for i, l := range r.labels {
		if count[l] >= minimum {
			keep = append(keep, i)
		}
	}
	return r.take(keep)
}

func (r *rows) take(keep []int) *rows {
	labels := make([]string, len(keep))
	for i, row := range keep {
		labels[i] = r.labels[row]
	}
	return &rows{r.x.Select(keep), labels, r.kind}
}

// half is the points of one half, as all systems get them.
type half struct {
	x      *points.Dense
	labels []string
}

// halves draws at most limit rows in proportion to the classes, and divides them into two equal
// halves. The first half, the training rows, decides how both are scaled and rotated.
func (r *rows) halves(ctx context.Context, eng *engine.Engine, limit int,
	seed uint64) (training, heldOut half, err error) {
	if n := r.x.Len(); n > limit {
		drawn, _, err := dataset.Split(n, float64(limit)/float64(n), r.labels, seed)
		if err != nil {
			return training, heldOut, err
		}
		r = r.take(drawn)
	}
	one, two, err := dataset.Split(r.x.Len(), 0.5, r.labels, seed+1)
	if err != nil {
		return training, heldOut, err
	}
	first, second := r.take(one), r.take(two)
	positions, err := prepared(ctx, eng, r.kind, first.x, second.x)
	if err != nil {
		return training, heldOut, err
	}
	return half{positions[0], first.labels}, half{positions[1], second.labels}, nil
}

// prepared scales points with few features, and replaces many features by principal coordinates.
// The scales and the components are those of the first points.
func prepared(ctx context.Context, eng *engine.Engine, of kind, x ...points.Points) ([]*points.Dense, error) {
	text := "linear"
	switch {
	case of == embeddings:
		return dense(x)
	case of == sequences:
		text = wordsOf
	case of == texts:
		weigh, err := prepare.CountTerms(x[0])
		if err != nil {
			return nil, err
		}
		if x, err = applied(x, weigh.Apply); err != nil {
			return nil, err
		}
	case x[0].Dim() < fewFeatures:
		scaling, _, err := prepare.Standardize(x[0])
		if err != nil {
			return nil, err
		}
		if x, err = applied(x, scaling.Apply); err != nil {
			return nil, err
		}
		return dense(x)
	}
	spec, err := kernel.Parse(text)
	if err != nil {
		return nil, err
	}
	none, err := links.New(x[0].Len(), nil)
	if err != nil {
		return nil, err
	}
	p := param.Default[nonlinear.KPCA]()
	p.Dims = fewFeatures
	m, err := nonlinear.KPCALearner{Kernel: spec, Params: p}.Fit(ctx, eng, x[0], none)
	if err != nil {
		return nil, err
	}
	return coordinates(ctx, eng, m, x)
}

// applied applies a transformation to each of several points.
func applied(x []points.Points, f func(points.Points) (points.Points, error)) ([]points.Points, error) {
	out := make([]points.Points, len(x))
	for i, p := range x {
		var err error
		if out[i], err = f(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func dense(x []points.Points) ([]*points.Dense, error) {
	out := make([]*points.Dense, len(x))
	for i, p := range x {
		d, ok := p.(*points.Dense)
		if !ok {
			return nil, fmt.Errorf("rows are %T: want vectors of numbers", p)
		}
		out[i] = d
	}
	return out, nil
}

// coordinates returns the embeddings of points by a model.
func coordinates(ctx context.Context, eng *engine.Engine, m algorithms.Model,
	x []points.Points) ([]*points.Dense, error) {
	out := make([]*points.Dense, len(x))
	for i, p := range x {
		y, err := m.Embed(ctx, eng, p)
		if err != nil {
			return nil, err
		}
		out[i] = &points.Dense{N: y.Rows, D: y.Cols, Data: y.Clone().Data}
	}
	return out, nil
}
