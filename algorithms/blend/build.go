package blend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// builder fits the stages of a blend.
type builder struct {
	fit     *learner.Fit
	params  Params
	steps   []step
	results []result // of the steps
	stages  []stage
	learned []*points.Dense // the coordinates of the training rows, of each stage

	mu       sync.Mutex // one step reports its progress at a time
	done     []float64  // shares of the steps that are done
	stop     context.CancelFunc
	panicked any // what the listener panicked with
}

// result is what a step has learned.
type result struct {
	source   int // as from in a step; 0 too if that one is left out
	model    algorithms.Model
	y        *points.Dense // coordinates of the training rows
	variance float64       // of y, in total
	err      error         // the reason why the step is left out
}

// few is the number of points up to which steps run at the same time, each on a part of the
// workers: alone, a step of so few points cannot use them all.
const few = 2000

// learn fits the steps: first those that learn from the points, then those that learn from
// coordinates. What would have learned from coordinates that are missing learns from the points.
func (b *builder) learn(ctx context.Context) error {
	b.results, b.done = make([]result, len(b.steps)), make([]float64, len(b.steps))
	var first, second []int
	for k, s := range b.steps {
		if s.from == 0 {
			first = append(first, k)
		}
	}
	if err := b.fitAll(ctx, first); err != nil {
		return err
	}
	for k, s := range b.steps {
		switch {
		case s.from == 0:
		case b.results[s.from-1].err == nil:
			b.results[k].source = s.from
			second = append(second, k)
		default:
			same := slices.IndexFunc(b.steps, func(other step) bool {
				return other.method == s.method && other.from == 0
			})
			b.results[k] = b.results[same]
		}
	}
	return b.fitAll(ctx, second)
}

// fitAll fits the steps with these numbers, none of which learns from another one.
func (b *builder) fitAll(ctx context.Context, steps []int) error {
	eng, parts, block := b.fit.Eng, 1, max(1, len(steps))
	if b.fit.X.Len() <= few && eng.MemoryLimit() == 0 { // a limit is for a step alone
		parts, block = max(1, min(len(steps), eng.Workers())), 1
	}
	part, err := eng.Share(parts)
	if err != nil {
		return err
	}
	ctx, b.stop = context.WithCancel(ctx)
	defer b.stop()
	err = eng.For(ctx, len(steps), block, func(lo, hi int) error {
		for _, k := range steps[lo:hi] {
			r := &b.results[k]
			r.err = wayOut(b.fitStep(ctx, part, k, r))
			b.finished(k)
			if r.err != nil && (ctx.Err() != nil || !fault.IsInput(r.err) || outOfMemory(r.err)) {
				return r.err
			}
		}
		return nil
	})
	if b.panicked != nil {
		panic(b.panicked) // on the goroutine that fits, as if the listener were called there
	}
	return err
}

// fine is the number of steps of progress for each step of a blend.
const fine = 1000

// finished notes that a step is over.
func (b *builder) finished(k int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[k] = 1
}

// report passes the progress of a step on, unless the fit is canceled: steps at the same time may
// notice that later. A panic of the listener ends all steps.
func (b *builder) report(ctx context.Context, k int, p algorithms.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			b.panicked = v
			b.stop()
		}
	}()
	if ctx.Err() == nil {
		if p.Total > 0 {
			b.done[k] = max(b.done[k], min(1, float64(p.Done)/float64(p.Total)))
		}
		p.Stage, p.Done = b.steps[k].method+": "+p.Stage, int(fine*blas.Sum(b.done))
		p.Total = fine * len(b.done)
		b.fit.Report(p)
	}
}

// fitStep fits a step to the points, or to the coordinates of its source.
func (b *builder) fitStep(ctx context.Context, eng *engine.Engine, k int, r *result) error {
	s := b.steps[k]
	x := b.fit.X
	if r.source > 0 {
		x = b.results[r.source-1].y
	}
	c := b.fit.Common
	if c.Progress != nil {
		c.Progress = func(p algorithms.Progress) { b.report(ctx, k, p) }
	}
	set := b.fit.Links
	if s.method == krca.Method && set.Consistent() == nil {
		// Cannot-links that contradict must-links show krca which of them are wrong. It would
		// ignore others, with a notice.
		set = set.WithoutCannot()
	}
	m, err := kinds()[s.method].new(b.params, c).Fit(ctx, eng, x, set)
	if err != nil {
		return err
	}
	y, err := m.Embed(ctx, eng, x)
	if err != nil {
		return err
	}
	if r.variance = linear.Variance(eng, y); !(r.variance > 0) || math.IsInf(r.variance, 0) {
		return fault.Data("", "the variance of its coordinates is %g: want a finite number > 0", r.variance)
	}
	m.(fitted.Member).Parent().Project() // the blend is made of coordinates
	r.model, r.y = m, kernel.Rows(y)
	return nil
}

// assemble makes stages of the results, in the order of the steps. A step that is left out has a
// notice, and one with the method and the source of another is the same stage. If there is no
// stage, the error is that of the first step.
func (b *builder) assemble() error {
	at := make([]int, len(b.steps)+1) // of each step, counted from 1: the number of its stage
	for k, s := range b.steps {
		r := b.results[k]
		if r.err != nil {
			b.fit.Notices = append(b.fit.Notices, fmt.Sprintf("%s is left out: %v", s.method, r.err))
			continue
		}
		next := stage{Model: r.model, from: at[r.source]}
		same := slices.IndexFunc(b.stages, func(other stage) bool { return other.Model == next.Model })
		if at[k+1] = same + 1; same >= 0 {
			continue
		}
		if s.weight > 0 {
			next.scale = math.Sqrt(r.variance / s.weight)
		}
		b.stages = append(b.stages, next)
		b.learned = append(b.learned, r.y)
		at[k+1] = len(b.stages)
	}
	if len(b.stages) == 0 {
		return b.results[0].err
	}
	return nil
}

// storedBytes is the size of the training points and their coordinates up to which a model stores
// them. It can then be updated without their table.
var storedBytes int64 = 16 << 20

// table returns the table of the training points, or of those that stages evaluate, and the
// extension. It changes the stages.
func (b *builder) table() (fitted.Table, *extension, error) {
	x, d := b.fit.X, columns(b.stages)
	_, gram := x.(*points.Gram)
	if gram || points.Bytes(x)+8*int64(x.Len())*int64(d) <= storedBytes {
		y, err := b.coordinates()
		return fitted.NewTable(kernel.Linear(), x, y), extend(b.stages, nil), err
	}
	const each = 100 // bytes of a row: in an index, its digest, and where that is found
	if err := b.fit.Eng.Check("an index of the rows of a blend", each*int64(x.Len())+points.Bytes(x),
		"use fewer rows or raise the memory limit"); err != nil {
		return fitted.Table{}, nil, err
	}
	ix, rows, whole := points.NewIndex(x), []int(nil), false
	for _, s := range b.stages {
		m := s.Model.(fitted.Member).Parent()
		outofsample.Lighten(m, x, ix)
		if some := m.Stored(); some != nil && s.from == 0 {
			whole = whole || some.Len() == x.Len()
			for i := range some.Len() {
				rows = append(rows, ix.Find(some, i))
			}
		}
	}
	if slices.Sort(rows); !whole {
		x = x.Select(slices.Compact(rows))
	}
	t := fitted.Table{Kernel: kernel.Linear(), Support: x, Dim: d}
	return t, extend(b.stages, points.Digests(b.fit.X)), nil
}

// coordinates returns those of the training rows.
func (b *builder) coordinates() (blas.Matrix, error) {
	n, d := b.fit.X.Len(), columns(b.stages)
	if err := b.fit.Eng.Check(fmt.Sprintf("coordinates of %d points in %d dimensions", n, d),
		8*int64(n)*int64(d), "set dims"); err != nil {
		return blas.Matrix{}, err
	}
	y, first := blas.NewMatrix(n, d), 0
	for k, s := range b.stages {
		x := b.learned[k]
		first += s.write(kernel.Matrix(x), y, first)
	}
	return y, nil
}

// outOfMemory reports whether a fit needs more than the memory limit. A limit refuses work and
// never changes a result, so such a stage is not left out.
func outOfMemory(err error) bool {
	_, is := errors.AsType[*fault.MemoryError](err)
	return is
}

// wayOut names a way out of the memory limit that blend has: hints of its methods name parameters
// of theirs.
func wayOut(err error) error {
	if refused, is := errors.AsType[*fault.MemoryError](err); is {
		refused.Hint = "use fewer links, or one method instead of blend, such as npkl"
	}
	return err
}

// status returns what the stages say together, and passes their notices on.
func (b *builder) status() algorithms.Status {
	all := algorithms.Status{Converged: true}
	for _, m := range b.stages {
		s := m.Status()
		all.Converged = all.Converged && s.Converged
		all.Iterations += s.Iterations
		if s.Message != "" && all.Message == "" {
			all.Message = m.Method() + ": " + s.Message
		}
		for _, n := range s.Notices {
			b.fit.Notices = append(b.fit.Notices, m.Method()+": "+n)
		}
	}
	return all
}

// Formula returns the stages as data, each after the one that it takes coordinates from. Tables of
// training rows in stages are left out: that of the blend has all of them.
func (e *extension) Formula() (formula.Map, error) {
	inputs, all, first := []formula.Map{nil}, &formula.Sum{}, 0
	for _, s := range e.stages {
		own, err := s.Model.(algorithms.Formulas).Formula()
		if err != nil {
			return nil, fitted.NoFormula("blend", "its member "+s.Method()+" has none")
		}
		if l, is := own.(*formula.Lookup); is {
			own = l.Rest
		}
		if from := inputs[s.from]; from != nil {
			own = &formula.Chain{First: from, Then: own}
		}
		inputs = append(inputs, own)
		if s.scale == 0 {
			continue
		}
		w := blas.NewMatrix(columns(e.stages), own.Dim())
		for k := range own.Dim() {
			w.Set(first+k, k, 1/s.scale)
		}
		first += own.Dim()
		all.Terms = append(all.Terms,
			&formula.Chain{First: own, Then: &formula.Linear{W: w, Mean: make([]float64, own.Dim())}})
	}
	return all, nil
}

// about is the stages in the header.
type about struct {
	Stages []stub `json:"stages,omitempty"`
}

// stub is the header of a stage's own model, and what the blend adds to it.
type stub struct {
	Header model.Header `json:"header"`
	From   int          `json:"from,omitempty"`  // see stage
	Scale  float64      `json:"scale,omitempty"` // see stage
}

const tensorDigests = ".digests" // suffix of the tensor of the training points' digests

// Encode stores nothing but the table and digests: a model stores its stages itself.
func (e *extension) Encode(f *model.File, method string, table fitted.MapHeader) any {
	if e.digests != nil {
		f.SetInt64s(method+tensorDigests, e.digests)
	}
	return table
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	var head about
	files := make([]model.File, len(m.stages))
	for k, each := range m.stages {
		var err error
		if files[k], err = fitted.MemberFile(each); err != nil {
			return err
		}
		head.Stages = append(head.Stages, stub{files[k].Header, each.from, each.scale})
	}
	if err := m.EncodeWith(f, head); err != nil {
		return err
	}
	fitted.StoreMembers(f, Method, files)
	return nil
}

// Decode returns the model that [Model.Encode] stored. An unusable tensor or part of the header is
// a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	var stages []stage
	var head about
	var table fitted.MapHeader
	r, err := fitted.Decode[Params](Method, f, func(method string, f *model.File) (*fitted.Map, error) {
		read, digests := fitted.ReadTable, []int64(nil)
		if f.Has(method + tensorDigests) {
			read = fitted.ReadSome
		}
		t, err := read(method, f, table)
		if err == nil && t.Dim == 0 {
			digests, err = f.Int64s(method+tensorDigests, -1)
		}
		if err != nil {
			return nil, err
		}
		for k, each := range head.Stages {
			s, err := each.read(f, k)
			if err == nil && s.from > 0 {
				err = s.takes(stages[s.from-1].Dim())
			}
			if err != nil {
				return nil, fmt.Errorf("stage %d: %w", k, err)
			}
			if n := s.coordinates().Rows; n > 0 && n != max(len(digests), t.Coordinates.Rows) {
				return nil, fault.Data("", "stage %d has %d training points: want as many as the blend", k, n)
			}
			stages = append(stages, s)
		}
		d := columns(stages)
		if d == 0 || d != t.Dim && digests == nil {
			return nil, fitted.InHeader(fault.Data("",
				"the members have %d dimensions: want %d, those of the coordinates", d, t.Dim))
		}
		t.Dim = d
		return fitted.Extended(method, t, extend(stages, digests)), nil
	}, &head, &table)
	if err != nil {
		return nil, err
	}
	return &Model{r, stages}, nil
}

// takes returns an error if the stage's input does not have d features.
func (s stage) takes(d int) error {
	if m, is := s.Model.(interface{ InputDim() int }); is && m.InputDim() != d {
		return fitted.InHeader(fault.Data("", "it takes %d features: want %d, those of the stage before it",
			m.InputDim(), d))
	}
	return nil
}

// read returns stage k of the file.
func (s stub) read(f *model.File, k int) (stage, error) {
	if !(s.Scale >= 0) || math.IsInf(s.Scale, 0) {
		return stage{}, fitted.InHeader(fault.Data("", "scale is %g: want a finite number >= 0", s.Scale))
	}
	if s.From < 0 || s.From > k {
		return stage{}, fitted.InHeader(fault.Data("", "from is %d: want 0 to %d, an earlier stage", s.From,
			k))
	}
	kind, is := kinds()[s.Header.Method]
	if !is {
		return stage{}, fitted.InHeader(fault.Data("", "stage of method %q: want lleratio, npkl or krca",
			s.Header.Method))
	}
	m, err := kind.decode(fitted.ReadMember(f, Method, k, s.Header))
	return stage{m, s.From, s.Scale}, err
}
