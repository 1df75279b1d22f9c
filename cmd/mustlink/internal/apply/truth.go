package apply

import (
	"context"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/score"
)

// truth compares predicted labels with the labels of the data, block by block.
type truth struct {
	*metric.Metric
	table score.Table
	none  bool // no labels to compare with, or too many different ones
}

// writeLabels writes the labels that label returns for each block of rows, and scores them against
// the labels of the data. With named these are names of classes, also where no row is of the class.
func writeLabels(ctx context.Context, m *metric.Metric, rows *mustlink.Rows, path string, named bool, label func(context.Context,
	mustlink.Block) ([]string, error)) (*score.Report, error) {
	t := &truth{Metric: m, table: score.Table{Named: named}}
	err := metric.WriteLabels(ctx, path, rows, m.WritingText(), func(ctx context.Context, block mustlink.Block) ([]string, error) {
		labels, err := label(ctx, block)
		if err != nil {
			return nil, err
		}
		return labels, t.add(block.Data.Labels, labels)
	})
	return t.report(), err
}

// add compares the labels of a block; labels is nil for data without labels.
func (t *truth) add(labels, predicted []string) error {
	if t.none = t.none || labels == nil; t.none {
		return nil
	}
	if err := t.table.Add(labels, predicted); err != nil {
		return err
	}
	if err := source.CheckCounts(t.Eng, &t.table); err != nil {
		t.Warnf("the rows are not compared with their labels: %v", err)
		t.table, t.none = score.Table{}, true
	}
	return nil
}

// report returns the scores, or nil. Labels that cannot be scored, such as a single one, do not
// make the command fail.
func (t *truth) report() *score.Report {
	if t.none {
		return nil
	}
	r, err := t.table.Report()
	if err != nil {
		return nil
	}
	return r
}
