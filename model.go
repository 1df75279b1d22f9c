package mustlink

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/engine/score"
)

// Model is a learned distance together with everything needed to apply it to new rows: it prepares
// them as the training rows were prepared. It is immutable and safe for concurrent use.
//
// Its methods accept tables with the features of the fit: a different number of features is a
// *fault.ShapeError, different names are a *fault.DataError. A value that is not finite is a
// *fault.DataError with row and column.
type Model struct {
	fitted *catalog.Fitted
	eng    *engine.Engine
	chosen string // why Fit chose the method, "" if it did not, and after Load
}

// Load reads a model from a file. It accepts the options [Workers], [MemoryLimit], which also
// bounds the size of the file, and [Engine]. A file that is not a model, or is damaged, is a
// *fault.DataError with the path. Model files contain no code.
func Load(path string, options ...Option) (*Model, error) {
	return loaded(options, func(limit int64) (*catalog.Fitted, error) {
		return catalog.LoadWithin(path, limit)
	})
}

// LoadFrom is [Load] from size bytes of memory or of an open file.
func LoadFrom(r io.ReaderAt, size int64, options ...Option) (*Model, error) {
	return loaded(options, func(int64) (*catalog.Fitted, error) {
		if isNil(r) {
			return nil, fault.Param("reader", nil, "a reader of a model file")
		}
		file, err := model.Read(r, size)
		if err != nil {
			return nil, err
		}
		return catalog.Decode(file)
	})
}

// loaded returns the model that from reads, within the memory limit of the options.
func loaded(options []Option, from func(limit int64) (*catalog.Fitted, error)) (*Model, error) {
	s, err := read(load, "Load", options)
	if err != nil {
		return nil, err
	}
	eng, err := s.engineOf()
	if err != nil {
		return nil, err
	}
	fitted, err := from(eng.MemoryLimit())
	if err != nil {
		return nil, err
	}
	return NewModel(fitted, eng), nil
}

// NewModel returns the model of a record, which runs on eng. It is for programs that work with
// internal packages.
func NewModel(fitted *catalog.Fitted, eng *engine.Engine) *Model {
	return &Model{fitted: fitted, eng: eng}
}

// Record returns the content of the model. It is for programs that work with internal packages.
func (m *Model) Record() *catalog.Fitted {
	if m == nil {
		return nil
	}
	return m.fitted
}

// Save writes the model to a file: completely, or not at all if there is an error.
func (m *Model) Save(path string) error {
	if err := m.check(); err != nil {
		return err
	}
	return catalog.Save(path, m.fitted)
}

// WriteTo writes the bytes of the model file.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	file, err := catalog.Encode(m.fitted)
	if err != nil {
		return 0, err
	}
	return file.WriteTo(w)
}

// Dim returns the number of columns of [Model.Embed], 0 for an empty model.
func (m *Model) Dim() int {
	if m.empty() {
		return 0
	}
	return m.fitted.Model.Dim()
}

// Verdict says how well a metric ranks links of rows that its fit did not know, in comparison with
// the prepared rows without learning. Its fields are Found, Reasons, AUC, Error, Raw, Gain,
// GainError, Must, Cannot, Rows, Fits, Parts, Failed, Alone, Partners, Missing, Candidates and
// Rejected.
type Verdict = verdict.Verdict

// Verdict returns the verdict of a fit with the option [HoldOut], nil for other models. The file of
// a model keeps it.
func (m *Model) Verdict() *Verdict {
	if m.empty() {
		return nil
	}
	return m.fitted.Verdict
}

// Embed returns the coordinates of the rows, a row of [Model.Dim] columns for each. Euclidean
// distance between coordinates is the learned distance: exactly, or for krca and for gml and itml
// with a kernel the Share of its square that [Model.Describe] returns. The coordinates of a row do
// not depend on the other rows.
func (m *Model) Embed(ctx context.Context, t *Table) (*mat.Dense, error) {
	y, err := m.embed(ctx, "table", t)
	if err != nil {
		return nil, err
	}
	return toMat(y), nil
}

// embed returns the coordinates of the rows of a table; what names the table in errors.
func (m *Model) embed(ctx context.Context, what string, t *Table) (blas.Matrix, error) {
	if err := m.ready(ctx, what, t); err != nil {
		return blas.Matrix{}, err
	}
	n, dim := t.Rows(), m.Dim()
	if !m.Learned() {
		dim = t.Columns()
	}
	if err := m.eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", n, dim),
		engine.MatrixBytes(n, dim), "embed fewer points at a time"); err != nil {
		return blas.Matrix{}, fault.InFile(err, t.raw.Name)
	}
	var out blas.Matrix
	err := m.CoordinateBlocks(ctx, t, func(first int, y blas.Matrix) error {
		if y.Rows == n { // one block, which needs no copy
			out = y
			return nil
		}
		if first == 0 {
			out = blas.NewMatrix(n, y.Cols)
		}
		for i := range y.Rows {
			copy(out.Row(first+i), y.Row(i))
		}
		t.raw.Rest()
		return nil
	})
	return out, fault.InFile(err, t.raw.Name)
}

// Distances returns the learned distance between the two rows of each pair: Euclidean, not squared,
// and that of the learned metric itself, like [Model.Gram]. A row that does not
// exist is a *fault.DataError whose Row is the number of the pair.
func (m *Model) Distances(ctx context.Context, t *Table, pairs [][2]int) ([]float64, error) {
	if err := m.ready(ctx, "table", t); err != nil {
		return nil, err
	}
	x, err := m.Prepared(t.raw)
	if err != nil {
		return nil, err
	}
	d, err := m.SquaredDistances(ctx, x, pairs)
	if err != nil {
		return nil, err
	}
	for i, v := range d {
		d[i] = math.Sqrt(v)
	}
	return d, nil
}

// Gram returns the learned kernel between the rows of t and the rows of u, a row for each row of t.
// A nil u means t; the matrix is then symmetric. It is the kernel of the learned metric itself,
// also where Embed is a projection.
func (m *Model) Gram(ctx context.Context, t, u *Table) (*mat.Dense, error) {
	if err := m.ready(ctx, "table", t); err != nil {
		return nil, err
	}
	x, err := m.fitted.Prepare(t.raw)
	if err != nil {
		return nil, err
	}
	y := x
	if u == nil || u == t {
		y = nil
	} else if err := u.check("second table"); err != nil {
		return nil, err
	} else if y, err = m.fitted.Prepare(u.raw); err != nil {
		return nil, err
	}
	k, err := m.fitted.Model.Gram(ctx, m.eng, x, y)
	if err != nil {
		return nil, fault.InFile(err, t.raw.Name)
	}
	return toMat(k), nil
}

// Neighbor is a row of a table with its learned distance from another row.
type Neighbor struct {
	Row      int
	Distance float64
}

// Neighbors returns, for each row of fresh, its k nearest rows of known in the learned distance,
// nearest first, rows at equal distance in the order of their numbers. It embeds both tables and
// searches exactly; the distances are the Euclidean ones of [Model.Embed].
func (m *Model) Neighbors(ctx context.Context, known, fresh *Table, k int) ([][]Neighbor, error) {
	train, query, err := m.embedBoth(ctx, known, fresh)
	if err != nil {
		return nil, err
	}
	index, squared, err := neighbors.Search(ctx, m.eng, query, train, k, false)
	if err != nil {
		return nil, err
	}
	all, out := make([]Neighbor, len(index)), make([][]Neighbor, query.Rows)
	for at, row := range index {
		all[at] = Neighbor{int(row), math.Sqrt(squared[at])}
	}
	for i := range out {
		out[i] = all[i*k : (i+1)*k : (i+1)*k]
	}
	return out, nil
}

// Classify returns, for each row of fresh, the most frequent label among its k nearest rows of
// known that have one. If labels have equally many votes, the label of the nearest voter wins.
func (m *Model) Classify(ctx context.Context, known, fresh *Table, k int) ([]string, error) {
	if err := known.labeled("known table"); err != nil {
		return nil, err
	}
	train, query, err := m.embedBoth(ctx, known, fresh)
	if err != nil {
		return nil, err
	}
	train, labels, err := neighbors.Labeled(train, known.data.Labels)
	if err != nil {
		return nil, err
	}
	return neighbors.Classify(ctx, m.eng, train, labels, query, k)
}

func (m *Model) embedBoth(ctx context.Context, known, fresh *Table) (train, query blas.Matrix, err error) {
	if train, err = m.embed(ctx, "known table", known); err == nil {
		query, err = m.embed(ctx, "fresh table", fresh)
	}
	return train, query, err
}

// Clustering assigns each row to a cluster.
type Clustering struct {
	Labels     []int   // of each row, from 0 on
	Inertia    float64 // sum of squared learned distances from the centers
	Iterations int     // of the best start
	Converged  bool
	Notices    []string // of clusters that are empty, as fewer rows differ
}

// Cluster divides the rows into k clusters by k-means in the learned distance, or by constrained
// k-means with the option [Constrained]. It also takes the options [Seed], [Restarts] and
// [OnProgress].
func (m *Model) Cluster(ctx context.Context, t *Table, k int, options ...Option) (*Clustering, error) {
	s, err := read(clusters, "Cluster", options)
	if err != nil {
		return nil, err
	}
	y, err := m.embed(ctx, "table", t)
	if err != nil {
		return nil, err
	}
	p := cluster.Params{K: k, Restarts: s.restarts, Seed: s.seed, Progress: s.progress}
	var r *cluster.Result
	if s.constrained {
		if s.links == nil {
			return nil, fault.Param("links", nil, "links between the rows to cluster")
		}
		r, err = cluster.Constrained(ctx, m.eng, y, s.links, p)
	} else {
		r, err = cluster.KMeans(ctx, m.eng, y, p)
	}
	if err != nil {
		return nil, fault.InFile(err, t.raw.Name)
	}
	sizes := make([]int, k)
	for _, c := range r.Labels {
		sizes[c]++
	}
	return &Clustering{r.Labels, r.Inertia, r.Iterations, r.Converged, cluster.Notices(sizes)}, nil
}

// empty reports whether the model was not made by Fit or Load.
func (m *Model) empty() bool { return m == nil || m.fitted == nil || m.fitted.Model == nil }

// check refuses an empty model.
func (m *Model) check() error {
	if m.empty() || m.eng == nil {
		return fault.Param("model", nil, "a model made by Fit or Load")
	}
	return nil
}

// ready checks that the model can be used on a table; what names the table in errors.
func (m *Model) ready(ctx context.Context, what string, t *Table) error {
	if err := m.check(); err != nil {
		return err
	}
	if err := checkContext(ctx); err != nil {
		return err
	}
	return t.check(what)
}

// toMat returns a *mat.Dense, the empty one for a matrix without rows or columns.
func toMat(a blas.Matrix) *mat.Dense {
	if a.Rows == 0 || a.Cols == 0 {
		return &mat.Dense{}
	}
	if a.Stride != a.Cols {
		a = a.Clone()
	}
	return mat.NewDense(a.Rows, a.Cols, a.Data[:a.Rows*a.Cols])
}

// Description describes a model.
type Description struct {
	Method      string        // "krca"
	Chosen      string        // why Fit chose the method; "" if it was named, and for a loaded model
	Kernel      string        // with its bandwidth as a number, "" for a method without kernels
	Columns     int           // number of features, -1 if the model accepts any number
	Features    []string      // names of the features, nil if there are none
	Preparation string        // "standardize", "tfidf", "columns" or "none"
	Prepared    []string      // for "columns": a line for each column, how it becomes numbers
	Dim         int           // columns of Embed
	Share       float64       // of the learned squared distance of rows that Embed holds; 0: unknown
	Converged   bool          // false if the fit stopped earlier
	Iterations  int           // 0 for a method without iterations
	Message     string        // how the fit ended, may be ""
	Elapsed     time.Duration // duration of the fit, without its verdict
	Updatable   bool          // [Model.Update] can learn more links
	Updating    string        // what it learns, and what this takes; "" if it cannot
	Notices     []string      // remarks of the fit about its input
	Objective   float64       // NaN for a method without one
	Statistics  []Statistic   // specific to the method
	Fingerprint string        // of the training rows, "" if it is not known
	Version     string        // of the library that fitted the model
	Build       string        // of the program that fitted the model
}

// Statistic is a named value of a model. Its fields are Name and Value.
type Statistic = algorithms.Statistic

// Describe returns a description of the model; that of an empty model is empty.
func (m *Model) Describe() Description {
	if m.empty() {
		return Description{}
	}
	f, s := m.fitted, m.fitted.Model.Status()
	d := Description{
		Method: f.Model.Method(), Chosen: m.chosen, Columns: f.InputDim(), Features: f.Features,
		Preparation: f.Preparation(), Dim: m.Dim(),
		Converged: s.Converged, Iterations: s.Iterations, Message: s.Message, Elapsed: s.Elapsed,
		Notices: s.Notices,
		Share:   1, Objective: math.NaN(), Fingerprint: f.Fingerprint, Version: f.LibraryVersion,
		Build: f.Build,
	}
	d.Prepared = prepare.ByColumn(f.Scaling).Describe()
	if k, ok := f.Model.(interface{ Kernel() kernel.Kernel }); ok {
		d.Kernel = k.Kernel().String()
	}
	d.Updating = f.Updating()
	d.Updatable = d.Updating != ""
	if p, ok := f.Model.(algorithms.Projection); ok && p.Projected() {
		d.Share = p.Share()
	}
	if o, ok := f.Model.(algorithms.Objective); ok {
		d.Objective = o.Objective()
	}
	if about, ok := f.Model.(algorithms.Describer); ok {
		d.Statistics = about.Describe()
	}
	return d
}

// String says what the model is: "krca model of 4 columns in 2 dimensions, converged".
func (m *Model) String() string {
	if m.empty() {
		return "empty model"
	}
	text := m.fitted.Model.Method() + " model"
	if columns := m.fitted.InputDim(); columns >= 0 {
		text += fmt.Sprintf(" of %s", fault.Count(columns, "column"))
	}
	text += fmt.Sprintf(" in %s", fault.Count(m.Dim(), "dimension"))
	if !m.fitted.Model.Status().Converged {
		return text + ", not converged"
	}
	return text + ", converged"
}

// String returns the description as text, with a line for each part that is not empty.
func (d Description) String() string {
	var out strings.Builder
	line := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" {
			fmt.Fprintf(&out, "%-12s %s\n", name, text)
		}
	}
	line("method", d.Method)
	line("kernel", d.Kernel)
	line("preparation", d.Preparation)
	line("dimensions", d.Dim)
	if d.Share > 0 && d.Share < 1 {
		line("share", fmt.Sprintf("%.4g of the learned squared distance of the training rows", d.Share))
	}
	status := "converged"
	if !d.Converged {
		status = "not converged"
	}
	if d.Message != "" {
		status += "; " + d.Message
	}
	line("status", status)
	for _, notice := range d.Notices {
		line("notice", notice)
	}
	return out.String()
}

// Score compares the labels of a table with other labels, such as the clusters of [Model.Cluster]
// or the answers of [Model.Classify]: the Rand index, plain, balanced and adjusted, normalized
// mutual information, accuracies; the plain accuracy only of labels that are texts, as the numbers
// of clusters name no class. It leaves out rows with the label "".
func Score[L int | string](t *Table, predicted []L) (*score.Report, error) {
	if err := t.labeled("table"); err != nil {
		return nil, err
	}
	if len(predicted) != t.Rows() {
		return nil, fault.Shape("number of predicted labels", len(predicted),
			"%d, one for each row", t.Rows())
	}
	text := make([]string, len(predicted))
	for i, p := range predicted {
		text[i] = fmt.Sprint(p)
	}
	_, clusters := any(predicted).([]int)
	r, err := score.All(score.Input{Truth: t.data.Labels, Predicted: text, Named: !clusters})
	if clusters && err == nil {
		r.OfClusters()
	}
	return r, err
}
