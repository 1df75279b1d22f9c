package fitting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/results"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func(*rowrandom.Rows) bool, error](&fitFn{})
}

// kernels are the default kernels of the supported methods.
var kernels = map[string]string{kbeta.Method: kbeta.DefaultKernel, krca.Method: krca.DefaultKernel}

// Methods returns the names of the supported methods.
func Methods() []string { return slices.Sorted(maps.Keys(kernels)) }

// Task describes a fit.
type Task struct {
	Method    string
	Kernel    string // "" for the method's default
	Params    map[string]string
	Seed      uint64
	Links     string   // path
	Landmarks string   // path of the landmarks' row numbers, for kbeta; "" to let the method draw them
	Rows      int      // number of rows of the set
	Features  []string // names
	Model     string   // output path
}

// problem is a task with the data that it reads.
type problem struct {
	set     *links.Set
	learner algorithms.RowsLearner
	rows    []int // rows that the fit needs
	spec    kernel.Spec
}

// read returns the problem, or an error of the task.
func (t Task) read() (*problem, error) {
	if !slices.Contains(Methods(), t.Method) {
		return nil, fault.Unknown("-m, --method", t.Method, Methods())
	}
	set, err := dataset.ReadLinks(dataset.Input{Name: t.Links}, dataset.LinkContext{N: t.Rows})
	if err != nil {
		return nil, err
	}
	if name := set.Label(); name != "" && slices.Contains(t.Features, name) {
		return nil, fault.Data(t.Links,
			"the links were made from column %q, which is now a feature: want files "+
				"without it", name)
	}
	p := &problem{set: set}
	if p.learner, err = t.learner(t.Kernel); err != nil {
		return nil, err
	}
	if p.rows, err = p.learner.Rows(set); err != nil {
		return nil, err
	}
	text := t.Kernel
	if text == "" {
		text = kernels[t.Method]
	}
	p.spec, err = kernel.Parse(text)
	return p, err
}

// learner returns the method with a kernel.
func (t Task) learner(text string) (algorithms.RowsLearner, error) {
	learner, err := catalog.New(t.Method, catalog.Config{Kernel: text, Params: t.Params, Seed: t.Seed})
	if err != nil {
		return nil, err
	}
	if t.Landmarks != "" {
		l, ok := learner.(kbeta.Learner)
		if !ok {
			return nil, &fault.ParamError{Param: "--landmarks", Value: t.Landmarks,
				Want: "none: only " + kbeta.Method + " accepts given landmarks"}
		}
		if l.Params.LandmarkRows, err = ReadRows(t.Landmarks); err != nil {
			return nil, err
		}
		learner = l
	}
	of, ok := learner.(algorithms.RowsLearner)
	if !ok {
		return nil, fmt.Errorf("method %s needs all rows", t.Method)
	}
	return of, nil
}

// ReadRows reads row numbers from a file of one column.
func ReadRows(path string) ([]int, error) {
	x, err := coordinates.Read(path)
	if err != nil {
		return nil, err
	}
	if x.Cols != 1 {
		return nil, fault.Data(path, "it has %d columns: want one, of row numbers", x.Cols)
	}
	rows := make([]int, x.Rows)
	for i, v := range x.Data {
		if rows[i] = int(v); float64(rows[i]) != v || v < 0 {
			return nil, &fault.DataError{File: path, Row: i,
				Err: fmt.Errorf("%g is no row number: want 0, 1, 2 …", v)}
		}
	}
	return rows, nil
}

// needed returns the rows to gather, ascending: those of the fit, and those of a bandwidth rule.
func (p *problem) needed(n int) []int64 {
	all := slices.Clone(p.rows)
	if p.spec.NeedsData() {
		all = append(all, bandwidth.Rows(n)...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	out := make([]int64, len(all))
	for i, row := range all {
		out[i] = int64(row)
	}
	return out
}

// Fit gathers the rows that a task needs, fits the model and writes it. Errors of the task are
// found before the pipeline runs.
func Fit(s beam.Scope, c job.Config, elements []shard.Element, t Task) error {
	p, err := t.read()
	if err != nil {
		return err
	}
	s = s.Scope("fit")
	rows := gather(s, c, elements, p.needed(t.Rows))
	beam.ParDo0(s, &fitFn{Config: c, Task: t}, beam.Impulse(s), beam.SideInput{Input: rows})
	return nil
}

// Summary is the summary of a fit.
type Summary struct {
	Method      string   `json:"method"`
	Kernel      string   `json:"kernel"`
	MustLinks   int      `json:"must_links"`
	CannotLinks int      `json:"cannot_links"`
	Gathered    int      `json:"gathered_rows"`
	FitRows     int      `json:"rows_of_the_fit"`
	Dim         int      `json:"dim"`
	Seconds     float64  `json:"fit_seconds"`
	Warnings    []string `json:"warnings"`
}

// fitFn fits the model to the rows gathered.
type fitFn struct {
	Config job.Config
	Task   Task
}

func (f *fitFn) ProcessElement(ctx context.Context, _ []byte, rows func(*rowrandom.Rows) bool) error {
	return f.Config.Slot(ctx, func(w *job.Worker) error {
		all := rowrandom.Join(rows)
		return f.Task.fit(ctx, w.Engine, gathered{all.Numbers, coordinates.Vectors(all.Matrix())})
	})
}

func (t Task) fit(ctx context.Context, eng *engine.Engine, g gathered) error {
	p, err := t.read()
	if err != nil {
		return err
	}
	if p.spec.NeedsData() {
		if p.spec, err = g.resolve(ctx, eng, p.spec, t.Rows); err != nil {
			return err
		}
	}
	x, err := g.rows(p.rows)
	if err != nil {
		return err
	}
	learner, err := t.learner(p.spec.String())
	if err != nil {
		return err
	}
	m, err := learner.FitRows(ctx, eng, x, p.set)
	if err != nil {
		return g.locate(err, p.rows)
	}
	if err := catalog.Save(t.Model, catalog.NewFitted(eng, m, t.Features)); err != nil {
		return err
	}
	must, cannot := p.set.Count()
	status := m.Status()
	return results.Save(t.Model,
		Summary{Method: t.Method, Kernel: p.spec.String(), MustLinks: must, CannotLinks: cannot,
			Gathered: len(g.numbers),
			FitRows:  len(p.rows), Dim: m.Dim(), Seconds: status.Elapsed.Seconds(),
			Warnings: append(p.set.Warnings(), status.Notices...)})
}

// resolve evaluates the bandwidth rules of a kernel. It leaves out bad rows.
func (g gathered) resolve(ctx context.Context, eng *engine.Engine, spec kernel.Spec,
	n int) (kernel.Spec, error) {
	var at []int
	for _, row := range bandwidth.Rows(n) {
		if index, is := slices.BinarySearch(g.numbers, int64(row)); is {
			at = append(at, index)
		}
	}
	return bandwidth.Resolve(ctx, eng, spec, g.x.Select(at))
}

// locate replaces, in an error about a row of the fit, the row's number among those of the fit by
// its number in the set.
func (g gathered) locate(err error, rows []int) error {
	e, ok := errors.AsType[*fault.DataError](err)
	if !ok || e.Row < 0 || e.Row >= len(rows) {
		return err
	}
	moved := *e
	moved.Row = rows[e.Row]
	return &moved
}
