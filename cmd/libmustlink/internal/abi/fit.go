package abi

import (
	"context"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Fit implements mustlink_fit.
func Fit(turns Turns, e *engine.Engine, name, options string, p *Points, l *Links, c *Control) (*mustlink.Model, error) {
	var o fitOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	method, err := o.method(name, l)
	if err != nil {
		return nil, err
	}
	// Options are checked before points are copied.
	files := &catalog.Files{}
	if _, err := method.New(catalog.Config{Files: files, Kernel: o.Kernel, Params: o.params(), Seed: o.seed(), MemoryLimit: e.MemoryLimit()}); err != nil {
		return nil, err
	}
	preparing, err := o.preparing()
	if err != nil {
		return nil, err
	}
	table, err := p.table(true, o.fills(), o.Features)
	if err != nil {
		return nil, err
	}
	if x, mixed := table.Data().Points.(*points.Mixed); mixed && !o.fills() {
		_, err := x.Dense() // which cell is no number
		return nil, err
	}
	if table.Rows() < 2 {
		return nil, &fault.ShapeError{What: "number of points", Got: table.Rows(), Want: "2 or more"}
	}
	set, err := l.set(table.Rows(), method)
	if err != nil {
		return nil, err
	}
	return runFit(turns, c, func(ctx context.Context, progress algorithms.ProgressFunc) (*mustlink.Model, error) {
		all := append(o.options(name), preparing(p.Kind), mustlink.Engine(e), mustlink.ParamFiles(files),
			mustlink.OnProgress(progress))
		if list := l.triplets(); list != nil {
			all = append(all, mustlink.Triplets(list))
		}
		return mustlink.Fit(ctx, table, set, all...)
	})
}

// runFit waits for a turn and computes a model, under the given control.
func runFit(turns Turns, c *Control, work func(context.Context, algorithms.ProgressFunc) (*mustlink.Model, error)) (m *mustlink.Model, err error) {
	err = c.run(func(ctx context.Context, progress algorithms.ProgressFunc) error {
		return turns.Take(ctx, func() error {
			m, err = work(ctx, progress)
			return err
		})
	})
	return m, err
}

// Update implements mustlink_update.
func Update(turns Turns, old *mustlink.Model, options string, p *Points, l *Links, c *Control) (*mustlink.Model, error) {
	var o updateOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	if err := o.check(old); err != nil {
		return nil, err
	}
	if o.DropLast != 0 {
		return runFit(turns, c, func(ctx context.Context, _ algorithms.ProgressFunc) (*mustlink.Model, error) {
			return old.DropLast(ctx, o.DropLast)
		})
	}
	method, err := catalog.Lookup(old.Describe().Method)
	if err != nil {
		return nil, err
	}
	table, err := p.table(true, fills(old), nil)
	if err != nil {
		return nil, err
	}
	set, err := l.set(table.Rows(), method)
	if err != nil {
		return nil, err
	}
	return runFit(turns, c, func(ctx context.Context, _ algorithms.ProgressFunc) (*mustlink.Model, error) {
		if o.Extend && l != nil && l.Group != nil {
			return old.Extend(ctx, table, l.chunklets())
		}
		return old.Update(ctx, table, set)
	})
}

// check returns an error for options that the model's method does not have.
func (o *updateOptions) check(m *mustlink.Model) error {
	f := m.Record()
	if err := f.CheckUpdate(); err != nil {
		return err
	}
	if _, ok := f.Model.(algorithms.Updater); !ok && o.DropLast != 0 {
		return fault.Data("", "a model of method %s cannot undo updates: want no drop_last", f.Model.Method())
	}
	if _, ok := f.Model.(algorithms.Linker); ok && o.Extend {
		return fault.Data("", "a model of method %s has no groups: want no extend", f.Model.Method())
	}
	return nil
}

// chunklets returns the groups with their numbers, which are those of the model's groups.
func (l *Links) chunklets() []mustlink.Chunklet {
	var out []mustlink.Chunklet
	number := list[int64](l.Group, l.Rows)
	for _, rows := range groupRows(number) {
		out = append(out, mustlink.Chunklet{ID: int(number[rows[0]]), Rows: rows})
	}
	return out
}
