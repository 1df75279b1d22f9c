package kbeta_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
)

// BenchmarkEmbedSingle alternates embeddings of 20,000 points of 784 features with 500 landmarks in
// double and in single precision.
func BenchmarkEmbedSingle(b *testing.B) {
	eng := enginetest.New(b, 0)
	_, set := blobs(b, 2000, 50)
	rng := rand.New(rand.NewPCG(1, 1))
	many := &points.Dense{N: 22000, D: 784, Data: make([]float64, 22000*784)}
	for i := range many.Data {
		many.Data[i] = rng.NormFloat64()
	}
	known, fresh := points.Slice(many, 0, 2000), points.Slice(many, 2000, 22000).(*points.Dense)
	m := fit(b, eng, known.(*points.Dense), set, "rbf:sigma=mean", func(p *kbeta.Params) {
		p.Landmarks, p.Extension = 500, kbeta.Nystrom
	})
	narrow, err := points.Narrow(fresh)
	if err != nil {
		b.Fatal(err)
	}
	enginetest.Ratio(b, "double/single", func() error {
		_, err := m.Embed(context.Background(), eng, fresh)
		return err
	}, func() error {
		_, err := m.EmbedSingle(context.Background(), eng, narrow)
		return err
	})
}
