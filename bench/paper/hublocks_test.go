package paper

import (
	"context"
	"math"
	"testing"

	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

// huCase is a small problem.
func huCase(t *testing.T) (*points.Dense, *links.Set) {
	t.Helper()
	d, err := dataset.Generate("double-spiral", dataset.GenerateOptions{N: 40, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	set, err := huLinks(d.Labels, 1.2, 4)
	if err != nil {
		t.Fatal(err)
	}
	return d.Points.(*points.Dense), set
}

// TestHuBlocks: the objective of the paper's sweeps never rises. For the square losses it falls to
// the certified optimum of package npkl, with the same coordinates up to rotation; for the hinge it
// comes to rest above.
func TestHuBlocks(t *testing.T) {
	racetest.Skip(t, "small products; nothing runs side by side")
	ctx, eng := context.Background(), scopEngine(t)
	x, set := huCase(t)
	for _, loss := range []npkl.Loss{npkl.Square, npkl.SquaredHinge, npkl.Hinge} {
		h, err := newHuBlocks(ctx, eng, x, set, loss, 2, 5)
		if err != nil {
			t.Fatal(err)
		}
		still, most, rise := 1e-10, 20000, 1e-12
		if loss == npkl.Hinge { // whose rows are optimal to 1e-9 only
			still, most, rise = 1e-6, 300, 1e-8
		}
		if err := h.run(ctx, still, most); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(h.trace); i++ {
			if h.trace[i] > h.trace[i-1]*(1+rise) {
				t.Fatalf("%s: sweep %d raises the objective from %v to %v", loss, i+1, h.trace[i-1],
					h.trace[i])
			}
		}
		p := npkl.DefaultParams()
		p.Loss, p.C, p.Delta, p.Tol = loss, 2, huDelta(2), 1e-8
		if loss == npkl.Hinge {
			p.Tol = 1e-5
		}
		m, err := npkl.Learner{Params: p, Seed: 1}.Fit(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		best, last := m.(*npkl.Model), h.trace[len(h.trace)-1]
		above := last/best.Objective() - 1
		if loss == npkl.Hinge {
			if above < 1e-3 {
				t.Errorf("hinge: the sweeps end %v above the optimum: want that they stop at a kink", above)
			}
			continue
		}
		if !best.Certified() || math.Abs(above) > 1e-8 {
			t.Errorf("%s: the sweeps end at %v, npkl at %v (certified: %v)", loss, last, best.Objective(),
				best.Certified())
		}
		ours, theirs := h.coordinates(), best.Coordinates()
		for i := range x.N {
			for j := range i + 1 {
				a, b := 0.0, 0.0
				for c, v := range ours.Row(i) {
					a += v * ours.At(j, c)
				}
				for c, v := range theirs.Row(i) {
					b += v * theirs.At(j, c)
				}
				if math.Abs(a-b) > 1e-4 {
					t.Fatalf("%s: kernel of %d and %d: %v, want %v", loss, i, j, a, b)
				}
			}
		}
	}
}

// TestHuBlocksUpdate: no other row, near or far, has a lower objective than the updated one.
func TestHuBlocksUpdate(t *testing.T) {
	ctx, eng := context.Background(), scopEngine(t)
	x, set := huCase(t)
	for _, loss := range []npkl.Loss{npkl.Square, npkl.SquaredHinge, npkl.Hinge} {
		h, err := newHuBlocks(ctx, eng, x, set, loss, 3, 6)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]float64, h.v.RawMatrix().Cols)
		for i := range h.partner {
			row := h.v.RawRowView(i)
			h.pull(i, b)
			h.update(i, row, b)
			least, kept := h.objective(), append([]float64(nil), row...)
			for _, size := range []float64{1e-4, 1e-2, 1} {
				for c := range row {
					for _, way := range []float64{-size, size} {
						row[c] += way
						if v := h.objective(); v < least-1e-9*least {
							t.Fatalf("%s: row %d, column %d: %v lower the objective from %v to %v", loss, i,
								c, way, least, v)
						}
						copy(row, kept)
					}
				}
			}
		}
	}
}

// TestHuRank: r(r+1)/2 is at most the number of links, and for the next r it is not.
func TestHuRank(t *testing.T) {
	for links := 1; links < 2000; links++ {
		if r := huRank(links); r*(r+1)/2 > links || (r+1)*(r+2)/2 <= links {
			t.Fatalf("%d links: rank %d", links, r)
		}
	}
}
