package abi

import (
	"context"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Fit is mustlink_fit.
func Fit(turns Turns, e *engine.Engine, name, options string, p *Points, l *Links, c *Control) (*mustlink.Model, error) {
	method, err := catalog.Lookup(name)
	if err != nil {
		return nil, err
	}
	var o fitOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	// What the options say is checked before points are copied.
	if _, err := method.New(catalog.Config{Kernel: o.Kernel, Params: o.params(), Seed: o.seed()}); err != nil {
		return nil, err
	}
	table, err := p.table(true, o.Features)
	if err != nil {
		return nil, err
	}
	if table.Rows() < 2 {
		return nil, &fault.ShapeError{What: "number of points", Got: table.Rows(), Want: "2 or more"}
	}
	set, err := l.set(table.Rows(), method)
	if err != nil {
		return nil, err
	}
	if err := o.check(table.Columns()); err != nil {
		return nil, err
	}
	return learned(turns, c, func(ctx context.Context, progress algorithms.ProgressFunc) (*mustlink.Model, error) {
		all := append(o.options(), mustlink.Method(name), mustlink.Engine(e), mustlink.OnProgress(progress),
			mustlink.Triplets(l.triplets()), mustlink.Quadruplets(o.quadruplets()))
		return mustlink.Fit(ctx, table, set, all...)
	})
}

// learned waits for a turn and makes a model, watched as control says.
func learned(turns Turns, c *Control, work func(context.Context, algorithms.ProgressFunc) (*mustlink.Model, error)) (m *mustlink.Model, err error) {
	err = c.run(func(ctx context.Context, progress algorithms.ProgressFunc) error {
		return turns.Take(ctx, func() error {
			m, err = work(ctx, progress)
			return err
		})
	})
	return m, err
}

// Update is mustlink_update.
func Update(turns Turns, old *mustlink.Model, options string, p *Points, l *Links, c *Control) (*mustlink.Model, error) {
	var o updateOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	if err := o.check(old); err != nil {
		return nil, err
	}
	if o.DropLast != 0 {
		return learned(turns, c, func(ctx context.Context, _ algorithms.ProgressFunc) (*mustlink.Model, error) {
			return old.DropLast(ctx, o.DropLast)
		})
	}
	method, err := catalog.Lookup(old.Describe().Method)
	if err != nil {
		return nil, err
	}
	table, err := p.table(true, nil)
	if err != nil {
		return nil, err
	}
	set, err := l.set(table.Rows(), method)
	if err != nil {
		return nil, err
	}
	return learned(turns, c, func(ctx context.Context, _ algorithms.ProgressFunc) (*mustlink.Model, error) {
		if o.Extend && l != nil && l.Group != nil {
			return old.Extend(ctx, table, l.chunklets())
		}
		return old.Update(ctx, table, set)
	})
}

// check reports what a model does not learn in the way that the options ask for.
func (o *updateOptions) check(m *mustlink.Model) error {
	f := m.Record()
	if err := f.CheckUpdate(); err != nil {
		return err
	}
	if _, ok := f.Model.(algorithms.Updater); !ok && o.DropLast != 0 {
		return fault.Data("", "a model of method %s does not take updates back: want no drop_last", f.Model.Method())
	}
	if _, ok := f.Model.(algorithms.Linker); ok && o.Extend {
		return fault.Data("", "a model of method %s has no groups: want no extend", f.Model.Method())
	}
	return nil
}

// chunklets returns the groups with their numbers, which are those of groups that the model has.
func (l *Links) chunklets() []mustlink.Chunklet {
	var out []mustlink.Chunklet
	number := list[int64](l.Group, l.Rows)
	for _, rows := range grouped(number) {
		out = append(out, mustlink.Chunklet{ID: int(number[rows[0]]), Rows: rows})
	}
	return out
}
