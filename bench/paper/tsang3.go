package paper

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/engine"
)

// tsang3 is the table of the sizes of the data sets. Its values are those of the rows and features
// that tsang-4 clusters.
func tsang3() Table {
	sets := tsangSets()
	t := Table{
		Name:        "tsang-3",
		Paper:       tsangPaper,
		Label:       "Table III",
		Caption:     "sizes of the data sets of the clustering experiment",
		Rows:        []Row{{Name: "features"}, {Name: "classes"}, {Name: "patterns"}},
		Repetitions: 1,
		Setup:       []string{"The data sets as tsang-4 clusters them: " + tsangData4()},
		Differences: []string{tsangUSPS},
		Revision:    1,
		Partial:     tsangPartial(),
		Prepare: func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
			return loadTsang(ctx, eng, sets, t)
		},
		Trial: func(_ context.Context, _ *engine.Engine, t Trial) ([][]float64, error) {
			loaded, ok := t.Shared.([]*labeled)
			if !ok {
				return nil, fmt.Errorf("shared value is a %T: want the data sets", t.Shared)
			}
			values := make([][]float64, 3)
			for _, d := range loaded {
				for i, size := range []int{d.x.D, d.classes, d.x.N} {
					values[i] = append(values[i], float64(size))
				}
			}
			return values, nil
		},
	}
	for _, s := range sets {
		t.Data, t.Columns = append(t.Data, s.file), append(t.Columns, s.name)
	}
	t.print(func(row, column string) printed.Key {
		return printed.Key{Table: "tsang-3", Dataset: column, Measure: row}
	})
	return t
}

// loadTsang reads the data sets.
func loadTsang(ctx context.Context, eng *engine.Engine, sets []tsangSet, t Trial) ([]*labeled, error) {
	var out []*labeled
	for k, s := range sets {
		d, err := s.load(ctx, eng, t.Path(s.file), t.Rand(k))
		if err != nil {
			return nil, fmt.Errorf("data set %s: %w", s.name, err)
		}
		out = append(out, d)
	}
	return out, nil
}
