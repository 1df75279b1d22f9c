package learner

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/input"
)

// Path fits the distinct values of a parameter, the largest first, and returns of(model) for each
// of values. If check refuses a value, Path returns that error before any fit. If the context is
// canceled, the error names the method.
func Path[M, T any](ctx context.Context, method string, values []float64, check func(v float64) error,
	fit func(v float64) (M, error), of func(m M) (T, error)) ([]T, error) {
	for _, v := range values {
		if err := check(v); err != nil {
			return nil, err
		}
	}
	out := make([]T, len(values))
	err := input.Descending(values, func(v float64, positions []int) error {
		m, err := fit(v)
		for _, at := range positions {
			if err == nil {
				out[at], err = of(m)
			}
		}
		return err
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, input.Failed(ctx, method+": path", err)
	}
	return out, nil
}
