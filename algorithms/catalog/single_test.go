package catalog_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

// inSingle are the problems of [everywhere] whose models embed in single precision, besides those
// of methods that learn from the features of dense vectors, without a kernel.
var inSingle = map[string]bool{
	"krca": true, "krca landmarks=15": true, "kbeta landmarks=20 extension=nystrom": true, "lleratio": true,
	"lleratio mode=linear": true, "lleratio mode=full": true,
	"gml": true, "gml prior=datadep": true, "itml": true, "kpca": true, "dca": true,
}

// TestEmbedSingle: models that embed in single precision are as near to their places in double
// precision as 24 bits of the terms of their sums allow, row by row and for any workers; others say
// that they are in double precision.
func TestEmbedSingle(t *testing.T) {
	ctx, eng, other := context.Background(), enginetest.New(t, 2), enginetest.New(t, 3)
	for _, p := range racetest.Part(everywhere(t, 130)) {
		t.Run(p.method.Name, func(t *testing.T) {
			m, err := p.fit(ctx, eng, nil)
			if err != nil {
				t.Fatal(err)
			}
			narrow, err := points.Narrow(p.fresh)
			if err != nil {
				t.Fatal(err)
			}
			with, can := m.(algorithms.SingleEmbedder)
			ofFeatures := p.method.Linear && !strings.Contains(p.method.Name, "kernel=")
			if !ofFeatures && !inSingle[p.method.Name] {
				if can {
					if _, err := with.EmbedSingle(ctx, eng, narrow); !fault.IsInput(err) {
						t.Errorf("got %v: want an error that says where there is single precision", err)
					}
				}
				return
			}
			y, err := with.EmbedSingle(ctx, eng, narrow)
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.Embed(ctx, eng, narrow.Widened())
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for i := range want.Rows {
				for c, v := range want.Row(i) {
					worst = max(worst, math.Abs(float64(y.At(i, c))-v))
				}
			}
			tolerance := 1e-4
			// 130 directions of an ill-conditioned kernel matrix, whose weights are large
			if strings.HasPrefix(p.method.Name, "gml") {
				tolerance = 1e-2
			}
			if y.Rows != want.Rows || y.Cols != want.Cols || (worst == 0) != (p.method.Name == "raw") ||
				worst > tolerance*largest(want.Data) {
				t.Errorf("%d x %d places, %.2g of the largest away: want %d x %d, rounded to single precision", y.Rows, y.Cols, worst/largest(want.Data), want.Rows, want.Cols)
			}
			last, err := with.EmbedSingle(ctx, other,
				&points.Single{N: 1, D: narrow.D, Data: narrow.Row(narrow.N - 1)})
			if err != nil {
				t.Fatal(err)
			}
			for c, v := range last.Row(0) {
				if v != y.At(y.Rows-1, c) {
					t.Errorf("coordinate %d of the last row alone is %v: want %v, as in the whole", c, v,
						y.At(y.Rows-1, c))
				}
			}
			if _, err := with.EmbedSingle(ctx, eng,
				&points.Single{N: 1, D: narrow.D + 1,
					Data: make([]float32, narrow.D+1)}); !fault.IsInput(err) {
				t.Errorf("points of another dimension: %v", err)
			}
		})
	}
}

func largest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	return most
}

// TestStoredInSingle: a model of any method that is stored in single precision has no tensor of
// double precision, is near the one that was fitted, and is the same when it is stored and loaded
// again; it learns nothing more.
func TestStoredInSingle(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	for _, p := range racetest.Part(everywhere(t, 130)) {
		t.Run(p.method.Name, func(t *testing.T) {
			m, err := p.fit(ctx, eng, nil)
			if err != nil {
				t.Fatal(err)
			}
			whole, half := bytesOf(t, &catalog.Fitted{Model: m}),
				bytesOf(t, &catalog.Fitted{Model: m, Single: true})
			for name, tensor := range storedFile(t, half).Tensors {
				if tensor.F64 != nil {
					t.Errorf("tensor %s is of double precision", name)
				}
			}
			loaded := fromBytes(t, half)
			if again := bytesOf(t, loaded); !bytes.Equal(again, half) {
				t.Error("what was loaded is stored with other bytes")
			}
			if err := loaded.CheckUpdate(); !fault.IsInput(err) {
				t.Errorf("an update is %v: want an error", err)
			}
			var refused error // by the model itself, in any precision
			if u, is := m.(algorithms.UpdateChecker); is {
				refused = u.CheckUpdate()
			}
			if err := fromBytes(t, whole).CheckUpdate(); (err != nil) != (refused != nil) {
				t.Errorf("an update of a model in double precision is %v: want %v", err, refused)
			}
			a, b := distancesOf(ctx, t, eng, m, p.fresh), distancesOf(ctx, t, eng, loaded.Model, p.fresh)
			worst := 0.0
			for i, d := range a {
				worst = max(worst, math.Abs(b[i]-d))
			}
			tolerance := 1e-4
			switch {
			// rounded coordinates fall on other sides of some thresholds
			case strings.HasPrefix(p.method.Name, "forest kernel"):
				tolerance = 0.05
			// directions of little variance have large weights
			case strings.Contains(p.method.Name, " kernel"):
				tolerance = 1e-3
			}
			if worst > tolerance*largest(a) {
				t.Errorf("distances are %.2g of the largest away: want those of rounded numbers",
					worst/largest(a))
			}
		})
	}
}

func bytesOf(t *testing.T, f *catalog.Fitted) []byte {
	t.Helper()
	file, err := catalog.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func storedFile(t *testing.T, b []byte) *model.File {
	t.Helper()
	file, err := model.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func fromBytes(t *testing.T, b []byte) *catalog.Fitted {
	t.Helper()
	f, err := catalog.Decode(storedFile(t, b))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func distancesOf(ctx context.Context, t *testing.T, eng *engine.Engine, m algorithms.Model,
	x *points.Dense) []float64 {
	t.Helper()
	d, err := m.Distances(ctx, eng, x, chain(x.N))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
