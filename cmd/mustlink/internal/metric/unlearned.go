package metric

import (
	"context"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
)

// NeedModel makes the metric that of a model of method raw if no model was named: of the rows of d
// as they are after this preparation.
func (m *Metric) NeedModel(ctx context.Context, preparing *source.Preparing, d *dataset.Data) error {
	if m.Fitted != nil {
		return nil
	}
	table, err := preparing.Apply(ctx, m.Session, d)
	if err != nil {
		return err
	}
	model, err := mustlink.Fit(ctx, table, nil, mustlink.Method(baseline.RawMethod), mustlink.Unprepared(),
		mustlink.Engine(m.Eng))
	if err == nil {
		m.Fitted = model.Record()
	}
	return err
}
