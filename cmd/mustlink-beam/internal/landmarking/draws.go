package landmarking

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/draw"
)

func init() {
	register.Combiner1[draw.Rows](&leastFn{})
}

// leastFn merges rows drawn. The order of the merges does not matter.
type leastFn struct{ M int }

func (f *leastFn) MergeAccumulators(a, b draw.Rows) draw.Rows {
	both := a.With(b)
	both.Least(f.M, nil)
	return both
}
