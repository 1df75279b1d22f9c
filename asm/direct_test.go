package asm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
)

// TestDirect checks that Direct is bit-identical to TileTo on the packed panels, for every number
// of columns, with A by rows and by columns, and writes only its tile.
func TestDirect(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		mr, nr, lanes := table.MR, table.NR, table.Lanes
		if lanes <= 0 || nr%lanes != 0 {
			t.Fatalf("Lanes=%d, NR=%d: want a positive divisor", lanes, nr)
		}
		rng := rand.New(rand.NewPCG(9, 9))
		for _, k := range []int{0, 1, 2, 5, 64, table.KC, 5000} {
			for cols := lanes; cols <= nr; cols += lanes {
				for _, beta := range []float64{0, 1, -0.7} {
					for _, byRow := range []bool{false, true} {
						aRow, aCol := 1, mr+3
						if byRow {
							aRow, aCol = k+3, 1
						}
						bRow, stride := cols+2, cols+1
						a := asmtest.NewVector((mr-1)*aRow+max(0, k-1)*aCol+1, 1, rng.NormFloat64)
						b := asmtest.NewVector(max(0, k-1)*bRow+cols, 2, rng.NormFloat64)
						c := asmtest.NewVector((mr-1)*stride+cols, 3, rng.NormFloat64)
						packedA, packedB, want := make([]float64, mr*k+1), make([]float64, nr*k+1),
							make([]float64, mr*nr)
						for l := range k {
							for i := range mr {
								packedA[l*mr+i] = a.Data[i*aRow+l*aCol]
							}
							copy(packedB[l*nr:], b.Data[l*bRow:l*bRow+cols])
						}
						for i := range mr {
							copy(want[i*nr:], c.Data[i*stride:i*stride+cols])
							for j := range cols {
								if beta == 0 {
									c.Data[i*stride+j] = math.NaN()
								}
							}
						}
						gap := c.Data[cols]
						table.TileTo(k, 0.3, beta, packedA, packedB, want, nr)
						table.Direct(mr, cols, k, 0.3, beta, a.Data, aRow, aCol, b.Data, bRow, c.Data, stride)
						what := fmt.Sprintf("k=%d,cols=%d,beta=%v,byRow=%t", k, cols, beta, byRow)
						a.Check(t, what)
						b.Check(t, what)
						c.Check(t, what)
						if c.Data[cols] != gap {
							t.Fatalf("%s: the element behind row 0 was written", what)
						}
						for i := range mr {
							for j := range cols {
								if got := c.Data[i*stride+j]; math.Float64bits(got) != math.Float64bits(
									want[i*nr+j]) {
									t.Fatalf("%s: c[%d,%d] is %v, TileTo gives %v: want the same bits", what,
										i, j, got, want[i*nr+j])
								}
							}
						}
					}
				}
			}
		}
	})
}

// TestDirectRows checks that several tiles in one call equal single calls, also if the kernel is
// called in parts.
func TestDirectRows(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(10, 10))
		for _, k := range []int{1, 9, 3000} {
			rows, cols := 5*table.MR, table.NR
			a := asmtest.NewVector(rows*k, 1, rng.NormFloat64)
			b := asmtest.NewVector(k*cols, 2, rng.NormFloat64)
			c := asmtest.NewVector(rows*cols, 3, rng.NormFloat64)
			want := slices.Clone(c.Data)
			table.Direct(rows, cols, k, -1, 1, a.Data, k, 1, b.Data, cols, c.Data, cols)
			c.Check(t, "C")
			for i := 0; i < rows; i += table.MR {
				table.Direct(table.MR, cols, k, -1, 1, a.Data[i*k:], k, 1, b.Data, cols, want[i*cols:], cols)
			}
			if !slices.Equal(c.Data, want) {
				t.Errorf("k=%d: %d rows in one call differ from %d at a time", k, rows, table.MR)
			}
		}
	})
}
