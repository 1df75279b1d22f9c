package blend

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

func blender(p Params) algorithms.Learner { return learner.New(p, algorithms.Common{Seed: 1}) }

// TestSideBySide: the columns are those of the members' own fits, each member's divided by the root
// of its total variance, on training rows and on new ones; distances and the kernel follow.
func TestSideBySide(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 60, 4, 30, 3)
	fresh, _, _ := enginetest.Blobs(t, 20, 4, 5, 9)
	eng := enginetest.New(t, 2)
	for _, dims := range []int{0, 2} {
		p := DefaultParams()
		p.Dims = dims
		m := fittest.Fit[*Model](t, blender(p), x, set)
		for _, part := range []*points.Dense{x, fresh} {
			y, err := m.Embed(t.Context(), eng, part)
			if err != nil {
				t.Fatal(err)
			}
			first := 0
			for _, k := range kinds() {
				own, err := k.new(p, algorithms.Common{Seed: 1}).Fit(t.Context(), eng, x, set)
				if err != nil {
					t.Fatal(err)
				}
				z, err := own.Embed(t.Context(), eng, part)
				if err != nil {
					t.Fatal(err)
				}
				if dims > 0 && k.name != "npkl" && z.Cols > dims {
					t.Errorf("%s has %d columns: want at most %d", k.name, z.Cols, dims)
				}
				compareScaled(t, k.name, y.View(0, y.Rows, first, first+z.Cols), z)
				if v := variance(y.View(0, y.Rows, first, first+z.Cols)); part == x && math.Abs(v-1) > 1e-12 {
					t.Errorf("%s: total variance %g on the training rows: want 1", k.name, v)
				}
				first += z.Cols
			}
			if first != m.Dim() {
				t.Errorf("%d columns: want %d", m.Dim(), first)
			}
			d, err := m.Distances(t.Context(), eng, part, [][2]int{{0, 1}, {2, 5}})
			if err != nil {
				t.Fatal(err)
			}
			for k, pair := range [][2]int{{0, 1}, {2, 5}} {
				if want := points.SquaredDistance(y.Row(pair[0]), y.Row(pair[1])); math.Abs(d[k]-want) > 1e-12*want {
					t.Errorf("squared distance %g: want %g", d[k], want)
				}
			}
		}
	}
}

// compareScaled checks that y is z times one number.
func compareScaled(t *testing.T, name string, y, z blas.Matrix) {
	t.Helper()
	factor := 0.0
	for i := range z.Rows {
		for c, v := range z.Row(i) {
			if factor == 0 && math.Abs(v) > 1e-3 {
				factor = y.At(i, c) / v
			}
		}
	}
	for i := range z.Rows {
		for c, v := range z.Row(i) {
			if math.Abs(y.At(i, c)-factor*v) > 1e-12*(1+math.Abs(factor*v)) {
				t.Fatalf("%s: coordinate (%d, %d) is %g: want %g times %g", name, i, c, y.At(i, c), factor, v)
			}
		}
	}
}

// TestLeftOut: a member that cannot learn from the links is left out with a notice that names it;
// where none can learn, the fit fails.
func TestLeftOut(t *testing.T) {
	x, labels, _ := enginetest.Blobs(t, 40, 3, 5, 2)
	for name, c := range map[string]struct {
		must, cannot int
		out          []string
	}{
		"both kinds":  {20, 20, nil},
		"must-links":  {20, 0, []string{"lleratio"}},
		"three links": {2, 1, nil},
	} {
		m := fittest.Fit[*Model](t, blender(DefaultParams()), x, enginetest.Drawn(t, labels, c.must, c.cannot, 4))
		notices := strings.Join(m.Status().Notices, "\n")
		for _, k := range kinds() {
			if got, want := strings.Contains(notices, k.name+" is left out: "), slices.Contains(c.out, k.name); got != want {
				t.Errorf("%s: %s left out %v: want %v\n%s", name, k.name, got, want, notices)
			}
		}
		if len(m.members) != len(kinds())-len(c.out) {
			t.Errorf("%s: %d members", name, len(m.members))
		}
	}
	eng := enginetest.New(t, 1)
	if _, err := blender(DefaultParams()).Fit(t.Context(), eng, x, enginetest.Links(t, x.N, nil)); !fault.IsInput(err) {
		t.Errorf("without links: error %v, want one of the input", err)
	}
}

// TestFile: a model survives its file to the bit, the file holds the training points once, and what
// cannot be used is refused.
func TestFile(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 20, 1)
	m := fittest.Fit[*Model](t, blender(DefaultParams()), x, set)
	back := enginetest.Reread(t, m, Decode)
	eng := enginetest.New(t, 1)
	fresh, _, _ := enginetest.Blobs(t, 10, 3, 2, 7)
	a, errA := m.Embed(t.Context(), eng, fresh)
	b, errB := back.Embed(t.Context(), eng, fresh)
	if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) {
		t.Errorf("the model that was read differs (%v, %v)", errA, errB)
	}
	encode := func() *model.File {
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, tensor := range encode().Tensors {
		if strings.HasPrefix(name, "blend.") && strings.HasSuffix(name, ".points.dense") && tensor.Len() == len(x.Data) {
			t.Errorf("tensor %s: want the training points once", name)
		}
	}
	head := string(encode().Header.Extra[Method])
	for name, spoil := range map[string]func(f *model.File){
		"no members": func(f *model.File) { f.Header.Extra[Method] = []byte(`{"input_dim":3}`) },
		"a scale of 0": func(f *model.File) {
			f.Header.Extra[Method] = []byte(strings.Replace(head, `"scale":`, `"scale":0,"was":`, 1))
		},
		"an unknown": func(f *model.File) {
			f.Header.Extra[Method] = []byte(strings.Replace(head, `"method":"krca"`, `"method":"gml"`, 1))
		},
		"a missing tensor": func(f *model.File) { delete(f.Tensors, "blend.1.npkl.links") },
		"no points":        func(f *model.File) { delete(f.Tensors, "points.dense") },
	} {
		f := encode()
		spoil(f)
		if _, err := Decode(f); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
}
