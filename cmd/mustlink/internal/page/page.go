// Package page makes the report page: one HTML file about data, links and learned metrics.
package page

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// Options describe the content of the page.
type Options struct {
	pictures.Input
	Clusters   int    // 0 for the number of labels
	Seeds      int    // number of runs of k-means; scores are means over them
	Features   int    // maximum number of features on the page
	Suspicious int    // number of suspicious links to list
	Plane      string // of pictures.PlaneFlag, "" for its default
	HeldOut    string // path of links that no fit used, "" for none
	Seed       uint64 // of all random choices
	Title      string // "" for the name of the data
	Output     string
	Command    string // that makes the page
}

// Report describes the page that was written.
type Report struct {
	Points     int      `json:"points"`
	Metrics    []string `json:"metrics"`
	Violations int      `json:"suspicious_links"`
	Bytes      int      `json:"bytes"`
	Output     string   `json:"output"`
	Warnings   []string `json:"warnings"`
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %s, %s\n", r.Output, fault.FormatBytes(int64(r.Bytes)),
		fault.Count(r.Points, "point"), strings.Join(r.Metrics, ", "))
}

// maker makes a page.
type maker struct {
	*pictures.Scene
	*Options
	ctx context.Context
	k   int // clusters, 0 for none
	out *view.Report
	// HeldOutSet are the links that no fit used; nil for none.
	HeldOutSet *links.Set
}

// Write writes the page about models and data.
func Write(ctx context.Context, s *session.Session, o *Options, models []string) (*Report, error) {
	scene, err := o.Read(ctx, s, models)
	if err != nil {
		return nil, err
	}
	o.Plane = session.NameOr(o.Plane, pictures.Neighbors)
	m := &maker{Scene: scene, Options: o, ctx: ctx, out: &view.Report{Command: o.Command}}
	if o.HeldOut != "" {
		of := &source.Links{Flag: "--held-out", Path: o.HeldOut, By: o.Links.By}
		if m.HeldOutSet, err = of.ReadWarning(ctx, s, scene.Data); err != nil {
			return nil, err
		}
	}
	bar := s.Progress()
	defer bar.Done()
	bar.Part(0.7)
	for _, step := range []func() error{m.describe, m.measure, m.points, m.curves, m.listViolations,
		func() error { bar.Part(1); return m.listSuspicious() }, m.models} {
		if err := errors.Join(ctx.Err(), step()); err != nil {
			return nil, fault.InFile(err, scene.Data.Name)
		}
	}
	var written counter
	err = s.WriteFile(o.Output, func(w io.Writer) error {
		out := bufio.NewWriter(io.MultiWriter(w, &written))
		if err := view.WriteReport(out, m.out); err != nil {
			return err
		}
		return out.Flush()
	})
	if err != nil {
		return nil, err
	}
	r := &Report{Points: m.out.Points.Count, Violations: len(m.out.Violations), Bytes: int(written),
		Output: o.Output, Warnings: s.Warnings()}
	for _, v := range scene.Spaces {
		r.Metrics = append(r.Metrics, v.Name)
	}
	return r, nil
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func fact(name, format string, v ...any) view.Fact {
	return view.Fact{Name: name, Value: fmt.Sprintf(format, v...)}
}

// describe writes a description of data and links.
func (m *maker) describe() error {
	m.out.Title = session.NameOr(m.Title, filepath.Base(m.Data.Name))
	m.out.Versions = []view.Fact{{Name: "mustlink", Value: catalog.Version()},
		{Name: "build", Value: catalog.BuildOf(m.Eng)}}
	x := m.Data.Points
	m.out.Data = []view.Fact{fact("file", "%s", m.Data.Name), fact("points", "%s", m.shape()),
		fact("fingerprint", "%s", m.fingerprint())}
	classes := source.Classes(m.Data.Labels)
	if m.k = m.Clusters; m.k == 0 {
		m.k = classes
	}
	if m.k > x.Len() {
		return fault.Param("-n, --clusters", m.k, "at most %d, the number of points", x.Len())
	}
	if classes > 0 {
		text := fmt.Sprintf("%d different ones", classes)
		if none := x.Len() - m.Data.Labeled(); none > 0 {
			text += fmt.Sprintf("; %s without one", fault.Count(none, "row"))
		}
		m.out.Data = append(m.out.Data, fact("labels", "%s", text))
	}
	m.describeLinks()
	m.out.Summary = m.summary(classes)
	return nil
}

// shape returns the number of rows and of the columns that the first model takes.
func (m *maker) shape() string {
	if f := m.First(); f != nil && f.Features != nil && m.Data.Features != nil {
		return fmt.Sprintf("%d x %d", m.Data.Points.Len(), len(f.Features))
	}
	return source.Shape(m.Data.Points)
}

// fingerprint returns that of the columns that the first model takes.
func (m *maker) fingerprint() string {
	if f := m.First(); f != nil {
		return f.FingerprintOf(m.Data)
	}
	return dataset.Fingerprint(m.Data.Points)
}

// summary says in a line what the page is about.
func (m *maker) summary(classes int) string {
	text := m.shape() + " points"
	if classes > 0 {
		text += ", " + fault.Count(classes, "label")
	}
	if m.Set != nil {
		must, cannot := m.Set.Count()
		text += fmt.Sprintf("; %s and %s", fault.Count(must, "must-link"), fault.Count(cannot, "cannot-link"))
	}
	return text
}

func (m *maker) describeLinks() {
	if m.Set == nil {
		return
	}
	must, cannot := m.Set.Count()
	largest, groups := 0, m.Set.Chunklets()
	for _, g := range groups {
		largest = max(largest, len(g))
	}
	m.out.Links = []view.Fact{
		fact("file", "%s", m.Links.Path),
		fact("must-links", "%d, joining points in %s, the largest of %d", must,
			fault.Count(len(groups), "component"), largest),
		fact("cannot-links", "%d", cannot),
		fact("given twice", "%d", m.Set.Duplicates()),
	}
	if conflicts := m.Set.Conflicts(); len(conflicts) > 0 {
		m.out.Links = append(m.out.Links,
			fact("contradictions", "%d, the first: %s", len(conflicts), conflicts[0]))
		m.Warnf("%d cannot-links join points that must-links join, the first: %s", len(conflicts),
			conflicts[0])
	}
}

// maxNeighbors is the maximum number of points for the accuracy of neighbors.
const maxNeighbors = 10_000

// measure scores every metric.
func (m *maker) measure() error {
	s := &m.out.Scores
	var measures []func(pictures.Space) ([]view.Score, error)
	var notes []string
	column := func(note string, measure func(pictures.Space) ([]view.Score, error), names ...string) {
		s.Columns, measures, notes = append(s.Columns, names...), append(measures, measure),
			append(notes, note)
	}
	if bothKinds(m.HeldOutSet) {
		column("", m.linkScore(m.HeldOutSet), "AUC of held-out links")
	}
	if m.Data.Labeled() >= 2 && m.k >= 2 {
		note := fmt.Sprintf(
			"Rand indices and NMI: k-means with %d clusters, the best of %s, mean and standard deviation "+
				"over %d seeds, compared with the labels.", m.k,
			fault.Count(restartsFor(m.Data.Points.Len()), "start"), m.Seeds)
		column(note, m.clusterScores, "balanced Rand", "adjusted Rand", "NMI")
		column("5-NN accuracy: of a vote of the 5 nearest other points.", m.neighborScore, "5-NN accuracy")
	}
	if bothKinds(m.Set) {
		column("AUC of links: the probability that a must-link is shorter than a cannot-link.",
			m.linkScore(m.Set), "AUC of the given links")
	}
	if len(measures) == 0 {
		return nil
	}
	for _, v := range m.Spaces {
		row := view.Row{Name: v.Title()}
		for _, measure := range measures {
			scores, err := measure(v)
			if err != nil {
				return err
			}
			row.Scores = append(row.Scores, scores...)
		}
		if v.InSample(m.Data) {
			row.Note = "training rows (in-sample)"
		}
		s.Rows = append(s.Rows, row)
	}
	if m.inSample() {
		s.Fold = m.HeldOutSet == nil
		notes = append(notes,
			"In-sample numbers are those of rows or links that the model learned from: nearly every method "+
				"does well on them. Judge it by held-out links.")
	}
	s.Note = strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), " ")
	return nil
}

// bothKinds reports whether there are must-links and cannot-links; nil is no set.
func bothKinds(set *links.Set) bool {
	if set == nil {
		return false
	}
	must, cannot := set.Count()
	return must > 0 && cannot > 0
}

// linkScore returns the measure of links. Those given with training rows are taken for those that
// the model learned from.
func (m *maker) linkScore(set *links.Set) func(pictures.Space) ([]view.Score, error) {
	return func(v pictures.Space) ([]view.Score, error) {
		auc, err := pictures.LinkAUC(v, set)
		return []view.Score{{Mean: auc, SD: math.NaN(), InSample: set == m.Set && v.InSample(m.Data)}}, err
	}
}

// clusterScores returns balanced and adjusted Rand index and normalized mutual information over
// several starts.
func (m *maker) clusterScores(v pictures.Space) ([]view.Score, error) {
	measures := []func([]string, []int) (float64, error){score.BalancedRand[string, int],
		score.AdjustedRand[string, int], score.NMI[string, int]}
	values := make([][]float64, len(measures))
	for start := range m.Seeds {
		c, err := m.cluster(v.Y, m.Seed+uint64(start)*1000)
		if err != nil {
			return nil, err
		}
		var truth []string
		var found []int
		for i, label := range m.Data.Labels {
			if label != "" {
				truth, found = append(truth, label), append(found, c.Labels[i])
			}
		}
		for k, measure := range measures {
			value, err := measure(truth, found)
			if err != nil {
				return nil, err
			}
			values[k] = append(values[k], value)
		}
	}
	var out []view.Score
	for _, list := range values {
		mean, sd := stat.MeanStdDev(list, nil)
		out = append(out, view.Score{Mean: mean, SD: sd})
	}
	return out, nil
}

// cluster runs k-means on the rows of y.
func (m *maker) cluster(y blas.Matrix, seed uint64) (*cluster.Result, error) {
	return cluster.KMeans(m.ctx, m.Eng, y, cluster.Params{K: m.k, Restarts: restartsFor(y.Rows), Seed: seed})
}

// restartsFor returns the number of starts of k-means, 1 for many rows; the best start is kept.
func restartsFor(rows int) int {
	const few = 5000
	if rows > few {
		return 1
	}
	return 10
}

// neighborScore is the accuracy of the nearest other points, measured on some of the rows if there
// are many.
func (m *maker) neighborScore(v pictures.Space) ([]view.Score, error) {
	y, all, err := neighbors.Labeled(v.Y, m.Data.Labels)
	if err != nil {
		return nil, err
	}
	labels := all
	if y.Rows > maxNeighbors {
		rows := make([]int, maxNeighbors)
		labels = nil
		for k := range rows {
			rows[k] = k * y.Rows / maxNeighbors
			labels = append(labels, all[rows[k]])
		}
		y = y.Select(rows)
	}
	const votes = 5
	found, err := neighbors.LeaveOneOut(m.ctx, m.Eng, y, labels, min(votes, y.Rows-1))
	if err != nil {
		return nil, err
	}
	accuracy, err := score.Accuracy(labels, found)
	return []view.Score{{Mean: accuracy, SD: math.NaN()}}, err
}
