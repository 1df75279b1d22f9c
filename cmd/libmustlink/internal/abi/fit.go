package abi

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Fit is mustlink_fit.
func Fit(turns Turns, e *engine.Engine, name, options string, p *Points, l *Links, c *Control) (*catalog.Fitted, error) {
	method, err := catalog.Lookup(name)
	if err != nil {
		return nil, err
	}
	var o fitOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	config := catalog.Config{Kernel: o.Kernel, Params: o.params(), Seed: o.seed()}
	if _, err := method.New(config); err != nil {
		return nil, err
	}
	x, err := p.read(true)
	if err != nil {
		return nil, err
	}
	if x.Len() < 2 {
		return nil, &fault.ShapeError{What: "number of points", Got: x.Len(), Want: "2 or more"}
	}
	set, err := l.set(x.Len(), method)
	if err != nil {
		return nil, err
	}
	fitted, x, err := prepared(e, &o, x)
	if err != nil {
		return nil, err
	}
	err = c.run(func(ctx context.Context, progress algorithms.ProgressFunc) error {
		config.Progress = progress
		learner, err := method.New(config)
		if err != nil {
			return err
		}
		if learner, err = catalog.Teach(learner, catalog.Lesson{Triplets: l.triplets(), Quadruplets: o.quadruplets()}); err != nil {
			return err
		}
		return turns.Take(ctx, func() error {
			fitted.Model, err = learner.Fit(ctx, e, x, set)
			return err
		})
	})
	return fitted, err
}

// prepared scales points as asked and returns a model that lacks its metric.
func prepared(e *engine.Engine, o *fitOptions, x points.Points) (*catalog.Fitted, points.Points, error) {
	if err := o.checkFeatures(x.Dim()); err != nil {
		return nil, nil, err
	}
	fitted := &catalog.Fitted{Features: o.Features, Fingerprint: dataset.Fingerprint(x), Build: buildText(e)}
	switch {
	case o.Standardize && o.TFIDF:
		return nil, nil, &fault.ParamError{Param: "standardize", Value: true, Want: "one of standardize and tfidf"}
	case o.Standardize:
		s, _, err := dataset.Standardize(x)
		if err != nil {
			return nil, nil, err
		}
		fitted.Scaling = s
	case o.TFIDF:
		t, err := dataset.CountTerms(x)
		if err != nil {
			return nil, nil, err
		}
		fitted.Scaling = t
	default:
		return fitted, x, nil
	}
	x, err := fitted.Scaling.Apply(x)
	return fitted, x, err
}

// Update is mustlink_update.
func Update(turns Turns, e *engine.Engine, old *catalog.Fitted, options string, p *Points, l *Links, c *Control) (*catalog.Fitted, error) {
	var o updateOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	if err := old.CheckUpdate(); err != nil {
		return nil, err
	}
	method, err := catalog.Lookup(old.Model.Method())
	if err != nil {
		return nil, err
	}
	updated := *old
	updated.LibraryVersion, updated.Build = "", buildText(e)
	if o.DropLast != 0 {
		model, ok := old.Model.(algorithms.Updater)
		if !ok {
			return nil, fault.Data("", "a model of method %s does not take updates back: want no drop_last", method.Name)
		}
		err := c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
			return turns.Take(ctx, func() error {
				updated.Model, err = model.DropLast(ctx, e, o.DropLast)
				return err
			})
		})
		return &updated, err
	}
	raw, err := p.read(true)
	if err != nil {
		return nil, err
	}
	set, err := l.set(raw.Len(), method)
	if err != nil {
		return nil, err
	}
	x, err := old.Prepare(&dataset.Data{Points: raw})
	if err != nil {
		return nil, err
	}
	err = c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		return turns.Take(ctx, func() error {
			updated.Model, err = taught(ctx, e, old.Model, &o, x, set, l)
			return err
		})
	})
	return &updated, err
}

// taught updates a model in the way that its method has.
func taught(ctx context.Context, e *engine.Engine, model algorithms.Model, o *updateOptions, x points.Points, set *links.Set, l *Links) (algorithms.Model, error) {
	switch m := model.(type) {
	case algorithms.Linker:
		if o.Extend {
			return nil, fault.Data("", "a model of method %s has no groups: want no extend", model.Method())
		}
		return m.AddLinks(ctx, e, x, set)
	case algorithms.Updater:
		return m.Update(ctx, e, x, chunklets(o, set, l))
	}
	return nil, fault.Data("", "a model of method %s cannot be updated: want one of krca, npkl, kbeta, gml or itml", model.Method())
}

// chunklets returns the groups of an update: those of the links, or with extend the numbered ones.
func chunklets(o *updateOptions, set *links.Set, l *Links) []algorithms.Chunklet {
	var out []algorithms.Chunklet
	if o.Extend && l != nil && l.Group != nil {
		number := list[int64](l.Group, l.Rows)
		for _, rows := range grouped(number) {
			out = append(out, algorithms.Chunklet{ID: int(number[rows[0]]), Rows: rows})
		}
		return out
	}
	for _, rows := range set.Chunklets() {
		out = append(out, algorithms.Chunklet{ID: algorithms.NewChunklet, Rows: rows})
	}
	return out
}
