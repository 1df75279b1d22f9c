package krca

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestDecodeGrowthHostile changes single numbers of the history of a model: what Decode
// lets through can be used, updated and taken back, or is refused then.
func TestDecodeGrowthHostile(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := gaussian(90, 4, 41)
	s := chunkletSet(t, 90, runs(90, 7, 3, 2, 6, 1, 8, 2, 9)...)
	files := map[string]*model.File{}
	for name, p := range map[string]Params{"all": {Eps: 0.01, Dims: 2},
		"landmarks": {Eps: 0.01, Dims: 2, Landmarks: 30}} {
		files[name] = through(t,
			updated(t, eng, fittest.On[*Model](t, eng,
				Learner{Kernel: enginetest.Spec(t, "rbf:sigma=2"), Params: p}, x, s), x))
	}
	refused, taken := 0, 0
	propertytest.Check(t, func(t *rapid.T) {
		which := rapid.SampledFrom([]string{"all", "landmarks"}).Draw(t, "model")
		names := []string{tensorColumns, tensorHistory, tensorCreated, tensorSizes, tensorChunklet}
		if which == "landmarks" {
			names = append(names, tensorRefs)
		}
		name := rapid.SampledFrom(names).Draw(t, "tensor")
		good := files[which]
		f := &model.File{Header: good.Header, Tensors: map[string]model.Tensor{}}
		for k, v := range good.Tensors {
			f.Tensors[k] = v
		}
		damaged := good.Tensors[name]
		damaged.I64 = slices.Clone(damaged.I64)
		at := rapid.IntRange(0, len(damaged.I64)-1).Draw(t, "at")
		damaged.I64[at] = rapid.Int64Range(-1, 100).Draw(t, "value")
		f.Tensors[name] = damaged
		m, err := Decode(f)
		if err != nil {
			if !fault.IsInput(err) || m != nil {
				t.Fatalf("model %v, error %v, want a fault of the input", m, err)
			}
			refused++
			return
		}
		taken++
		use(t, m, x)
	})
	if refused == 0 || taken == 0 {
		t.Errorf("%d files refused, %d taken: the test is too weak", refused, taken)
	}
}

// use exercises what depends on the history.
func use(t testingTB, m *Model, x *points.Dense) {
	t.Helper()
	eng := enginetest.New(t, 1)
	u := incremental(t, m)
	gramOf(t, eng, m, x, nil)
	for u.Updates() > 0 {
		must(t, u.DropLast(1))
		learned(t, eng, u, x)
		// A single reference point, for one, gives no embedding.
		if _, err := u.Model(context.Background(), eng); err != nil && !fault.IsInput(err) {
			t.Fatal(err)
		}
	}
}
