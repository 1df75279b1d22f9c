package nca

import (
	"context"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// BenchmarkEvaluation times the objective and its gradient: 2304 points in 18 dimensions.
func BenchmarkEvaluation(b *testing.B) {
	x, _, set := bands(b, 2304, 18, 1)
	ctx, eng := context.Background(), enginetest.New(b, 0)
	pc, err := linear.NewPrincipal(ctx, eng, x, 1e-10)
	if err != nil {
		b.Fatal(err)
	}
	p, err := newProblem(ctx, eng, pc, classes.New(set), 0)
	if err != nil {
		b.Fatal(err)
	}
	gradient := make([]float64, len(p.start))
	for b.Loop() {
		if _, err := p.At(p.start, gradient); err != nil {
			b.Fatal(err)
		}
	}
}
