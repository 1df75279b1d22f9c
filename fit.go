package mustlink

import (
	"context"
	"errors"
	"reflect"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/parts"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Fit learns a model from the rows of a table and the links between them.
//
// Without [Method] or [Using] the method depends on the input: mlkr for [Targets], lsml for
// [Quadruplets], itml for [Triplets], blend for links of both kinds, krca for must-links alone, and
// itml for cannot-links alone. If the memory limit does not allow it, a lighter method is fitted.
// [Description] has the reason. If [HoldOut] finds its metric worse than the rows without learning,
// the model is of the method raw, unless [KeepWorse] is given.
//
// With more than 20,000 linked rows and no parameters, lleratio, krca and gml are fitted by the
// method parts, as they would take hours or too much memory themselves; a notice says so.
//
// Fit prepares the columns of a table that is not prepared yet; see [Table.Prepare], and the
// options [Prepare] and [Unprepared].
//
// A notice names a column that agrees on all must-links and differs on all cannot-links: it may be
// the label, and the verdict then says nothing. Links of a file that names the column that they
// were made from (see [Table.ReadLinks]) are refused if that column is a feature.
//
// Links may be nil if there are triplets, quadruplets or targets to learn from, and for methods
// that need none: raw, which learns nothing, so that the distances of its model are those of the
// prepared rows, covariance, kpca, spectral and cmvu. A fit that
// stops before it converges is not an error; [Model.Describe] reports it.
//
// Errors: wrong input (a nil table, links between a different number of rows, parameters out of
// range, values that are not finite), and ctx.Err(), wrapped. Cost: that of the method; see its
// page in docs/methods.
func Fit(ctx context.Context, t *Table, l *Links, options ...Option) (*Model, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	s, err := read(fit, "Fit", options)
	if err != nil {
		return nil, err
	}
	if err := t.check("table"); err != nil {
		return nil, err
	}
	if s.files == nil {
		s.files = &catalog.Files{}
	}
	choice, err := s.choose(l)
	if err != nil {
		return nil, err
	}
	if l, err = s.linksOf(choice.Method, t, l); err != nil {
		return nil, err
	}
	if j := s.judgedBy; j != nil && j.N() != t.Rows() {
		return nil, fault.Shape("the number of rows of the links of JudgedBy", j.N(), "%d", t.Rows())
	}
	learner, err := s.learner(choice, t, l)
	if err != nil {
		return nil, err
	}
	eng, err := s.engineOf()
	if err != nil {
		return nil, err
	}
	if t, err = s.prepared(ctx, eng, t); err != nil {
		return nil, err
	}
	if err := t.checkLabel(l); err != nil {
		return nil, err
	}
	if s.kernel == "" {
		among := choice.Among(eng, t.data.Points, l, s.embeddings)
		if among.Method.Name != choice.Method.Name {
			choice = among
			if learner, err = s.learner(choice, t, l); err != nil {
				return nil, err
			}
		}
	}
	m, task, err := s.learn(ctx, eng, task{choice, learner}, t, l)
	if err != nil {
		return nil, fault.InFile(err, t.data.Name)
	}
	judged, err := s.verdict(ctx, eng, task, t, l)
	if err != nil {
		return nil, err
	}
	if s.prefersRaw(task, t, judged) {
		judged.Rejected = m.Method()
		if m, task, err = s.rows(ctx, eng, task, t, l); err != nil {
			return nil, err
		}
	}
	t.noteColumns(m, l)
	fitted := catalog.NewFitted(eng, m, t.inputs())
	fitted.Columns = t.columns
	fitted.LeftOut = leftOut(prepare.ByColumn(t.transform), t.raw.Features)
	fitted.Marks, fitted.Pictures = t.raw.Marks, t.raw.Pictures
	fitted.Scaling, fitted.Single = t.transform, s.single
	fitted.Fingerprint = fitted.FingerprintOf(t.raw)
	fitted.Verdict = judged
	return &Model{fitted: fitted, eng: eng, chosen: task.choice.Why}, nil
}

// task is a method that was chosen, with its learner.
type task struct {
	choice  catalog.Choice
	learner algorithms.Learner
}

// learn fits the method of a task, or a lighter method if nobody named the method and the memory
// limit does not allow it. It returns the task that it fitted.
func (s *settings) learn(ctx context.Context, eng *engine.Engine, of task, t *Table, l *Links) (
	algorithms.Model, task, error) {
	for {
		lesson := l
		if of.choice.Why != "" && of.choice.Method.Name == baseline.AdaptMethod { // cannot-links only judge it
			lesson = l.WithoutCannot()
		}
		m, err := of.learner.Fit(ctx, eng, t.data.Points, lesson)
		refused, tooLarge := errors.AsType[*fault.MemoryError](err)
		if !tooLarge {
			return m, of, err
		}
		lighter, there := of.choice.Lighter(refused)
		if !there {
			if of.choice.Why != "" { // hints of methods name parameters, of a method that nobody named
				plain := *refused
				plain.Hint, err = "raise the memory limit, or fit a sample of the rows", &plain
			}
			return nil, of, err
		}
		of.choice = lighter
		if of.learner, err = s.learner(lighter, t, l); err != nil {
			return nil, of, err
		}
	}
}

// verdict assesses the method of a task on held-out links, if the settings ask for it.
func (s *settings) verdict(ctx context.Context, eng *engine.Engine, of task, t *Table,
	l *Links) (*Verdict, error) {
	if s.judgedBy != nil {
		l = s.judgedBy
	}
	switch {
	case !s.holdsOut:
		return nil, nil
	case of.choice.Method.Name == baseline.RawMethod:
		return &Verdict{Missing: "the method raw learns nothing"}, nil
	case l.Len() == 0:
		return &Verdict{Missing: "there are no links to hold out"}, nil
	}
	o := verdict.Options{Folds: s.folds, Each: of.choice.Duration(t.data.Points, l), Seed: s.seed,
		Progress: s.progress}
	return verdict.Assess(ctx, eng, algorithms.Silent(of.learner), t.data.Points, l, o)
}

// prefersRaw reports whether the rows without learning take the place of the metric: nobody named
// its method, held-out links find it worse, and do not find the partners of must-links clearly more
// often, as they may where there are many classes.
func (s *settings) prefersRaw(of task, t *Table, v *Verdict) bool {
	_, dense := t.data.Points.(*points.Dense)
	return of.choice.Why != "" && !s.keep && s.kernel == "" && !s.learnsMore() && dense && v != nil &&
		v.Finding() == verdict.Worse &&
		(v.Partners == nil || v.Partners.Gain <= verdict.Clear*v.Partners.GainError)
}

// rows fits the method raw in the place of another one.
func (s *settings) rows(ctx context.Context, eng *engine.Engine, of task, t *Table, l *Links) (
	algorithms.Model, task, error) {
	method, err := catalog.Lookup(baseline.RawMethod)
	if err != nil {
		return nil, of, err
	}
	why := "held-out links find " + of.choice.Method.Name + " worse"
	of = task{choice: catalog.Choice{Method: method, Why: why}}
	if of.learner, err = s.learner(of.choice, t, l); err != nil {
		return nil, of, err
	}
	return s.learn(ctx, eng, of, t, l)
}

// linksOf returns the links that the method learns from; they are empty if only triplets,
// quadruplets or targets are given, or the method needs no links.
func (s *settings) linksOf(method catalog.Method, t *Table, l *Links) (*Links, error) {
	if err := t.data.AtLeast(2); err != nil {
		return nil, err
	}
	switch {
	case l != nil && l.N() != t.Rows():
		return nil, checkRows(l, t.Rows())
	case l != nil:
		return l, nil
	case !s.learnsMore() && !method.LinksOptional:
		return nil, fault.Param("links", nil, "links, or triplets, quadruplets or targets")
	}
	return links.New(t.Rows(), nil)
}

// learner returns the learner of a method for the settings and the links.
func (s *settings) learner(choice catalog.Choice, t *Table, l *Links) (algorithms.Learner, error) {
	method := choice.Method
	config := catalog.Config{Kernel: s.kernel, From: s.params, Params: s.text, Lesson: s.lesson, Seed: s.seed,
		Progress: s.progress, Files: s.files, Rows: t.Rows()}
	if choice.Params != nil {
		config.Params = choice.Params
	}
	if s.engine != nil {
		config.MemoryLimit = s.engine.MemoryLimit()
	}
	_, gram := t.data.Points.(*points.Gram)
	if s.params == nil && len(s.text) == 0 && s.lesson.Triplets == nil && !gram &&
		parts.Suits(method.Name, l) {
		config.Params = map[string]string{"base": method.Name}
		var err error
		if method, err = catalog.Lookup(parts.Method); err != nil {
			return nil, err
		}
	}
	return method.New(config)
}

// choose returns the method of the options, or else the one for the input.
func (s *settings) choose(l *Links) (choice catalog.Choice, err error) {
	switch {
	case s.choice != nil:
		return *s.choice, nil
	case s.using && s.method != "":
		return choice, fault.Param("method", s.method, "either Method or Using")
	case s.using:
		choice.Method, err = catalog.ForParams(s.params)
	case s.method != "":
		choice.Method, err = catalog.Lookup(s.method)
	default:
		return catalog.Choose(l, s.lesson)
	}
	return choice, err
}

// learnsMore reports whether triplets, quadruplets or targets are given.
func (s *settings) learnsMore() bool {
	return s.lesson.Triplets != nil || s.lesson.Quadruplets != nil || s.lesson.Targets != nil
}

// prepared returns the table with its columns prepared as the settings ask.
func (s *settings) prepared(ctx context.Context, eng *engine.Engine, t *Table) (*Table, error) {
	asked := !reflect.DeepEqual(s.preparing, Preparing{})
	switch {
	case s.embeddings && (asked || s.tfidf):
		return nil, fault.Param("option", "Embeddings", "no other preparation with it")
	case s.tfidf && asked, s.unprepared && (asked || s.tfidf):
		return nil, fault.Param("option", "TFIDF or Unprepared", "no other preparation with it")
	case s.embeddings && t.transform != nil:
		return nil, t.plain()
	case s.embeddings:
		return t, t.vectors()
	case s.tfidf:
		return t.TFIDF()
	case t.transform != nil && asked:
		return nil, t.plain()
	case t.transform != nil || s.unprepared:
		return t, nil
	}
	return t.PrepareOn(ctx, eng, s.preparing)
}
