// Package metric provides the metric that a command works in: that of a model, or that of the raw
// points.
package metric

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/labelnoise"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// Metric is the metric of a model, or that of the rows as they are.
type Metric struct {
	*session.Session
	*mustlink.Model
	Eng *engine.Engine
}

// Of returns the metric of a model, or without one that of the rows as they are.
func Of(s *session.Session, eng *engine.Engine, fitted *catalog.Fitted) *Metric {
	if fitted == nil {
		return &Metric{s, mustlink.Unlearned(eng, nil, nil), eng}
	}
	return &Metric{s, mustlink.NewModel(fitted, eng), eng}
}

// Open makes the engine and reads the model, if one is named.
func Open(ctx context.Context, s *session.Session, models ...string) (*Metric, error) {
	eng, err := s.Engine()
	if err != nil || len(models) == 0 {
		return Of(s, eng, nil), err
	}
	_, fitted, err := Load(ctx, s, models[0])
	return Of(s, eng, fitted), err
}

// Checked is [session.Session.Checked] for work in the metric of the model that the first argument
// names, or without one in that of the rows as they are.
func Checked(s *session.Session, check func(c *session.Checks, args []string),
	work func(ctx context.Context, m *Metric, args []string) error) func(*cobra.Command, []string) error {
	return s.Checked(check, func(ctx context.Context, args []string) error {
		m, err := Open(ctx, s, args...)
		if err != nil {
			return err
		}
		return work(ctx, m, args)
	})
}

// Name returns the method of the model, or "raw".
func (m *Metric) Name() string { return m.Record().Model.Method() }

// Preparing makes the metric prepare rows with these columns by a transform if there is no model,
// which has its own.
func (m *Metric) Preparing(features []string, by dataset.Transform) {
	if !m.Learned() {
		m.Model = mustlink.Unlearned(m.Eng, features, by)
	}
}

// NeedModel makes the metric that of a model of method raw if no model was named: of the rows of d
// as they are after this preparation.
func (m *Metric) NeedModel(ctx context.Context, preparing *source.Preparing, d *dataset.Data) error {
	if m.Learned() {
		return nil
	}
	table, err := preparing.Apply(ctx, m.Session, d)
	if err != nil {
		return err
	}
	model, err := mustlink.Fit(ctx, table, nil, mustlink.Method(baseline.RawMethod), mustlink.Unprepared(),
		mustlink.Engine(m.Eng))
	if err == nil {
		m.Model = model
	}
	return err
}

// Flags returns d with what its file does not say and the model, or the preparation, knows: the
// number of features, and which columns are texts.
func (m *Metric) Flags(d *source.Data) *source.Data {
	if f := m.Record(); m.Learned() || f.Features != nil || f.Scaling != nil {
		return d.For(f)
	}
	return d
}

// Read reads the points that d describes.
func (m *Metric) Read(ctx context.Context, d *source.Data) (*dataset.Data, error) {
	return m.Flags(d).Read(ctx, m.Session)
}

// Coordinates returns the coordinates of the rows of d in the metric, which the memory limit counts
// until the command ends. Points without coordinates of their own are refused with the flags of a
// command that does not need any.
func (m *Metric) Coordinates(ctx context.Context, d *dataset.Data) (blas.Matrix, error) {
	y, err := m.place(ctx, d)
	if err == nil {
		m.HoldCoordinates(y, d.Points)
	}
	return y, err
}

// place returns the coordinates of rows.
func (m *Metric) place(ctx context.Context, d *dataset.Data) (blas.Matrix, error) {
	if !m.Learned() {
		switch d.Points.(type) {
		case *points.Sequences:
			return blas.Matrix{}, fault.Data(d.Name, "sequences have no coordinates: want a model, or -a "+
				"kernel -k spectrum:k=3 to cluster with that kernel")
		case *points.Gram:
			return blas.Matrix{}, fault.Data(d.Name, "a Gram matrix has no coordinates: want a model, or -a "+
				"kernel to cluster with the matrix itself")
		}
	}
	return m.Model.Coordinates(ctx, d)
}

// HoldCoordinates is Hold for the coordinates of points, which may share their memory.
func (m *Metric) HoldCoordinates(y blas.Matrix, of points.Points) {
	x, dense := of.(*points.Dense)
	if !dense || unsafe.SliceData(x.Data) != unsafe.SliceData(y.Data) {
		m.Hold(engine.MatrixBytes(y.Rows, y.Cols))
	}
}

// Raw returns points as a matrix, for the tools that work on coordinates.
func Raw(ctx context.Context, eng *engine.Engine, name string, p points.Points) (blas.Matrix, error) {
	return Of(nil, eng, nil).place(ctx, &dataset.Data{Name: name, Points: p})
}

// Load reads the model at path, and also returns the content of its file.
func Load(ctx context.Context, s *session.Session,
	path string) (file *model.File, fitted *catalog.Fitted, err error) {
	if path == session.Stream {
		path = "standard input"
		file, err = session.Await(ctx, func() (*model.File, error) {
			b, err := s.ReadWithin("the model", s.Stdin) // whole: tensors are found by their offsets
			if err != nil {
				return nil, err
			}
			return model.Read(bytes.NewReader(b), int64(len(b)))
		})
	} else {
		file, err = session.Await(ctx, func() (*model.File, error) {
			return model.ReadFileWithin(path, int64(s.MemoryLimit))
		})
	}
	if err == nil {
		fitted, err = catalog.Decode(file)
	}
	return file, fitted, fault.InFile(err, path)
}

// Save writes a model file, unless ctx has ended.
func Save(ctx context.Context, s *session.Session, path string, m *mustlink.Model) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.WriteFile(path, func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
}

// Status reports how a fit ended; it omits iterations that are 0.
func Status(converged bool, iterations int, message string) string {
	text := "converged"
	if !converged {
		text = "not converged"
	}
	if iterations > 0 {
		text += " in " + fault.Count(iterations, "iteration")
	}
	if message != "" {
		text += "; " + message
	}
	return text
}

// WriteVerdict writes the verdict of a fit, what it rests on, and the likely reasons if the metric
// is not better. It writes nothing for a fit that was not judged.
func WriteVerdict(w io.Writer, v *mustlink.Verdict) {
	if v == nil {
		return
	}
	fmt.Fprintf(w, "held-out links: %s\n", v)
	for _, reason := range slices.Concat(v.Details(), v.Reasons) {
		fmt.Fprintf(w, "- %s\n", reason)
	}
}

// Params writes the parameters of a model file on one line. A number that stands for a rule is
// written as what the rule chose, if that is among the statistics of the model, or as its name.
func Params(method string, raw json.RawMessage, chosen []algorithms.Statistic) string {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	rules := map[string]string{}
	if m, err := catalog.Lookup(method); err == nil {
		for _, p := range m.Parameters {
			if len(p.Words) > 0 {
				rules[p.Name] = p.Words[0].Name
			}
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		value := fmt.Sprint(v[name])
		if number, ok := v[name].(float64); ok && number < 0 && rules[name] != "" {
			value = rules[name]
			if at := slices.IndexFunc(chosen, func(s algorithms.Statistic) bool {
				return s.Name == name
			}); at >= 0 {
				value = fmt.Sprintf("%v (%s)", chosen[at].Value, value)
			}
		}
		parts = append(parts, name+"="+value)
	}
	return cmp.Or(strings.Join(parts, " "), "none")
}

// Rows returns the coordinates of rows in blocks. stage names the work on the bar, which ends with
// the reading; "" shows none.
func (m *Metric) Rows(open source.Opener, stage string) *mustlink.Rows {
	rows := &mustlink.Rows{Model: m.Model, Place: m.place, Stage: stage}
	rows.Open = func(ctx context.Context) (*mustlink.RowSource, error) {
		src, err := open(ctx)
		if err != nil {
			return nil, err
		}
		if rows.Stage == "" {
			return src, nil
		}
		bar := m.Progress()
		rows.Progress = bar.Report
		end := func() { src.Close(); bar.Done() }
		return &mustlink.RowSource{Rows: src.Rows, Next: src.Next, Close: end}, nil
	}
	return rows
}

// Once returns the opener of rows that are read once.
func Once(src *mustlink.RowSource) source.Opener {
	return func(context.Context) (*mustlink.RowSource, error) { return src, nil }
}

// WriteCoordinates writes the coordinates block by block and returns the number of rows. dim is the
// number of columns. count is the number of rows, negative when it is not known.
func WriteCoordinates(ctx context.Context, path string, rows *mustlink.Rows, count, dim int,
	options dataset.WriteOptions) (int, error) {
	next, stop, err := rows.Blocks(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	written := 0
	err = dataset.WriteRows(path, count, dim, func() (dataset.Rows, error) {
		block, err := next()
		if err != nil {
			return dataset.Rows{}, err
		}
		x := block.Coordinates
		written += x.Rows
		if x.Stride != dim {
			x = x.Clone()
		}
		return dataset.Rows{Data: x.Data[:x.Rows*dim], IDs: block.Data.IDs}, nil
	}, options)
	return written, err
}

// WriteCalibration writes the summary of a calibration for people.
func WriteCalibration(w io.Writer, c *calibration.Summary) {
	of := "pairs matches"
	switch {
	case c.Near:
		of = "near pairs matches"
	case c.Share == float64(c.Must)/float64(c.Must+c.Cannot):
		of += ", the share among these links (calibrate --share sets another)"
	}
	fmt.Fprintf(w, "calibration\t%s, %s; a share of %.4g of %s\n",
		fault.Count(c.Must, "must-link"), fault.Count(c.Cannot, "cannot-link"), c.Share, of)
	if c.Most != "" {
		fmt.Fprintf(w, "by precision\t%s\n", c.Most)
	}
	for _, t := range c.Precisions {
		fmt.Fprintf(w, "by precision\t%v\n", t)
	}
	for _, t := range c.Recalls {
		fmt.Fprintf(w, "by recall\t%v\n", t)
	}
}

// SuspiciousLink is a link that the other links and the points contradict.
type SuspiciousLink struct {
	I        int      `json:"i"`
	J        int      `json:"j"`
	IDs      []string `json:"ids,omitempty"` // of the two rows
	Link     string   `json:"link"`
	Line     int      `json:"line,omitempty"`
	Score    float64  `json:"score"`                     // logarithm of the odds that it is wrong
	Distance float64  `json:"relative_squared_distance"` // judged without it, 1 for random pairs
	Path     string   `json:"contradiction,omitempty"`
	Reason   string   `json:"reason"`
}

// RankLinks ranks links by how likely they are mislabeled. x are the points as a learner takes
// them, d is their file.
func (m *Metric) RankLinks(ctx context.Context, d *dataset.Data, x points.Points, set *links.Set, path string,
	seed uint64) (*labelnoise.Result, error) {
	o, err := labelnoise.DefaultOptions(seed)
	if err != nil {
		return nil, err
	}
	bar := m.Progress()
	defer bar.Done()
	o.Progress = bar.Report
	r, err := labelnoise.Rank(ctx, m.Eng, x, set, o)
	if err != nil {
		return nil, fault.InFile(err, session.NameOr(path, d.Name))
	}
	bar.Done()
	m.WarnOf("", r.Notices)
	return r, nil
}

// FirstLinks returns the first links of a ranking, at most count.
func FirstLinks(r *labelnoise.Result, d *dataset.Data, count int) []SuspiciousLink {
	out := []SuspiciousLink{}
	for _, s := range r.Links[:min(count, len(r.Links))] {
		l := SuspiciousLink{I: s.Link.I, J: s.Link.J, Link: s.Link.Sign.String(), Line: s.Link.Line,
			Score: s.Score, Distance: s.Distance, Reason: s.Reason()}
		if d.IDs != nil {
			l.IDs = []string{d.IDs[l.I], d.IDs[l.J]}
		}
		if s.Conflict != nil {
			l.Path = s.Conflict.String()
		}
		out = append(out, l)
	}
	return out
}

// Rows names the rows of the link, by id if they have ids.
func (l SuspiciousLink) Rows() string {
	text := fmt.Sprintf("%d-%d", l.I, l.J)
	if l.IDs != nil {
		text = l.IDs[0] + " - " + l.IDs[1]
	}
	if l.Line > 0 {
		text += fmt.Sprintf(" (line %d)", l.Line)
	}
	return text
}

// LinkFit describes how well the learned metric satisfies links.
type LinkFit struct {
	TrainingData bool           `json:"training_data"` // the data are those of the fit
	Must         int            `json:"must_links"`
	Cannot       int            `json:"cannot_links"`
	MedianMust   session.Number `json:"median_must"` // squared distances
	MedianCannot session.Number `json:"median_cannot"`
	MedianRandom session.Number `json:"median_random"`
	Violated     []Violation    `json:"violated"`
	Conflicts    []string       `json:"conflicts"`
	// Suspicious are the links that other links contradict; nil unless they were requested.
	Suspicious []SuspiciousLink `json:"suspicious,omitempty"`
}

// Violation is a link that the metric violates.
type Violation struct {
	I        int     `json:"i"`
	J        int     `json:"j"`
	Link     string  `json:"link"`
	Line     int     `json:"line,omitempty"`
	Apart    float64 `json:"distance"`
	Distance float64 `json:"squared_distance"` // deprecated: its square
	// maximum of the square for a must-link, minimum for a cannot-link
	Bound  float64 `json:"expected"`
	excess float64
}

// MeasureLinks returns the distances of links under a metric, and the violated links.
func MeasureLinks(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points,
	set *links.Set) (*LinkFit, error) {
	var of [3][]float64
	for k, pairs := range [][][2]int{source.Pairs(set.Must()), source.Pairs(set.Cannot()),
		randomPairs(x.Len())} {
		var err error
		if of[k], err = m.Distances(ctx, eng, x, pairs); err != nil {
			return nil, err
		}
	}
	must, cannot, random := of[0], of[1], of[2]
	near, typical := session.Quantile(must, 0.5), session.Quantile(random, 0.5)
	f := &LinkFit{
		Must: len(must), Cannot: len(cannot),
		MedianMust: session.Number(near), MedianCannot: session.Number(session.Quantile(cannot, 0.5)),
		MedianRandom: session.Number(typical),
		Violated:     []Violation{}, Conflicts: []string{},
	}
	for _, c := range set.Conflicts() {
		f.Conflicts = append(f.Conflicts, c.String())
	}
	if len(must) == 0 {
		near = session.Quantile(random, 0.05)
	}
	for k, l := range set.Must() {
		f.assess(l, must[k], typical, must[k]-typical)
	}
	for k, l := range set.Cannot() {
		f.assess(l, cannot[k], near, near-cannot[k])
	}
	slices.SortStableFunc(f.Violated, func(a, b Violation) int { return cmp.Compare(b.excess, a.excess) })
	return f, nil
}

func (f *LinkFit) assess(l links.Link, distance, bound, excess float64) {
	if excess > 0 {
		f.Violated = append(f.Violated,
			Violation{l.I, l.J, l.Sign.String(), l.Line, math.Sqrt(distance), distance, bound, excess})
	}
}

// randomPairs draws pairs of different rows, the same for the same n.
func randomPairs(n int) [][2]int {
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	pairs := make([][2]int, 2000)
	for k := range pairs {
		pairs[k] = source.RandomPair(rng, n)
	}
	return pairs
}

// Text writes the violated links, at most so many.
func (f *LinkFit) Text(w io.Writer, most int) {
	which := "data that differ from those of the fit"
	if f.TrainingData {
		which = "training rows: the model may have learned from these links"
	}
	fmt.Fprintf(w, "links\t%d must, %d cannot, on %s\n", f.Must, f.Cannot, which)
	fmt.Fprintf(w, "median squared distance\tmust %.4g, cannot %.4g, random pairs %.4g\n",
		float64(f.MedianMust), float64(f.MedianCannot), float64(f.MedianRandom))
	for _, c := range f.Conflicts {
		fmt.Fprintf(w, "contradiction\t%s\n", c)
	}
	fmt.Fprintf(w, "violated links\t%d\n", len(f.Violated))
	for k, v := range f.Violated {
		if k == most {
			fmt.Fprintf(w, "\tand %d more\n", len(f.Violated)-most)
			break
		}
		side := "at most"
		if v.Link == links.Cannot.String() {
			side = "at least"
		}
		line := ""
		if v.Line > 0 {
			line = fmt.Sprintf(" (line %d)", v.Line)
		}
		fmt.Fprintf(w, "\t%s-link %d-%d%s: squared distance %.4g, expected %s %.4g\n", v.Link, v.I, v.J, line,
			v.Distance, side, v.Bound)
	}
	if f.Suspicious == nil {
		return
	}
	fmt.Fprintf(w, "most suspicious links\t%d, by metrics learned without them; a link with a score above "+
		"0 is more likely wrong than right\n", len(f.Suspicious))
	for _, l := range f.Suspicious {
		fmt.Fprintf(w, "\t%s-link %s: score %.2f; %s\n", l.Link, l.Rows(), l.Score, l.Reason)
	}
}
