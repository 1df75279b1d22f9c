package metric

import (
	"context"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/baseline/raw"
)

// Unlearned makes the metric that of a model of method raw, which has the rows of a prepared table
// as they are, for commands that need a model and are given none.
func (m *Metric) Unlearned(ctx context.Context, table *mustlink.Table) error {
	model, err := mustlink.Fit(ctx, table, nil, mustlink.Method(raw.Method), mustlink.Unprepared(), mustlink.Engine(m.Eng))
	if err == nil {
		m.Fitted = model.Record()
	}
	return err
}
