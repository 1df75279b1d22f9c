package mustlink

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/fault"
)

// Chunklet is a group of rows that belong together, for [Model.Extend]. Its fields are ID and Rows.
type Chunklet = algorithms.Chunklet

// NewChunklet is the ID of a [Chunklet] that the model does not have yet.
const NewChunklet = algorithms.NewChunklet

// Update returns the model with more links; m does not change. A model of npkl, kbeta, gml, itml or
// blend learns links between its training rows: t contains these rows again, or is nil for a model
// that stores all of them, as those of npkl, gml and blend (of up to 16 MiB) do; l contains only
// the new links. That of blend is fitted again to all links; the others go on from what they have
// learned. A model of krca in its Cholesky form learns the chunklets of l, whose rows in t are new
// to it. For other models the error is a *fault.DataError or *fault.ParamError. [Description] says
// what one needs.
func (m *Model) Update(ctx context.Context, t *Table, l *Links) (*Model, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	x := m.fitted.Rows()
	if t != nil || x == nil {
		if err := t.check("table"); err != nil {
			return nil, err
		}
	}
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	if l == nil {
		return nil, fault.Param("links", nil, "the links to learn")
	}
	linker, ok := m.fitted.Model.(algorithms.Linker)
	if !ok {
		var chunklets []Chunklet
		for _, rows := range l.Chunklets() {
			chunklets = append(chunklets, Chunklet{ID: NewChunklet, Rows: rows})
		}
		return m.Extend(ctx, t, chunklets)
	}
	err := m.fitted.CheckUpdate()
	if t != nil && err == nil {
		x, err = m.fitted.Prepare(t.raw)
	}
	if err != nil {
		return nil, err
	}
	learned, err := linker.AddLinks(ctx, m.eng, x, l)
	return m.updated(learned, err)
}

// Extend returns the model of krca with more chunklets, without a new fit; m does not change. The
// chunklets refer to rows of t, which are new to the model. The ID of a chunklet is the number of
// an existing chunklet of the model, counted from 0 in the order of creation, or [NewChunklet]. For
// other methods the error is a *fault.DataError.
func (m *Model) Extend(ctx context.Context, t *Table, chunklets []Chunklet) (*Model, error) {
	if err := m.ready(ctx, "table", t); err != nil {
		return nil, err
	}
	updater, err := m.updater("cannot be updated: want one of " + catalog.Updatable)
	if err != nil {
		return nil, err
	}
	x, err := m.fitted.Prepare(t.raw)
	if err != nil {
		return nil, err
	}
	learned, err := updater.Update(ctx, m.eng, x, chunklets)
	return m.updated(learned, err)
}

// DropLast returns the model of krca without its latest updates; updates is their number. m does
// not change.
func (m *Model) DropLast(ctx context.Context, updates int) (*Model, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	updater, err := m.updater("cannot remove updates")
	if err != nil {
		return nil, err
	}
	learned, err := updater.DropLast(ctx, m.eng, updates)
	return m.updated(learned, err)
}

// updated returns a copy of m with another metric.
func (m *Model) updated(learned algorithms.Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	fitted := *m.fitted
	fitted.Model, fitted.LibraryVersion, fitted.Build = learned, "", catalog.BuildOf(m.eng)
	fitted.Verdict, fitted.Calibration = nil, nil // they are about the metric before the update
	return &Model{fitted: &fitted, eng: m.eng}, nil
}

// updater returns the model as one that learns chunklets; other models cannot do what is asked.
func (m *Model) updater(cannot string) (algorithms.Updater, error) {
	updater, ok := m.fitted.Model.(algorithms.Updater)
	if !ok {
		return nil, fault.Data("", "a model of method %s %s", m.fitted.Model.Method(), cannot)
	}
	return updater, m.fitted.CheckUpdate()
}
