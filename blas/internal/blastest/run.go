package blastest

import (
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/internal/racetest"
)

// eps is the distance from 1 to the next float64.
const eps = 0x1p-52

// edges are sizes around the block edges of the backends, with the smallest ones.
var edges = racetest.Some([]int{0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129}, []int{0, 1, 3, 33, 64, 65, 129})

// suite is one backend under test, with the random numbers of one subtest.
type suite struct {
	b   blas.Backend
	rng *rand.Rand
}

// Run checks that b fulfills the contract of [blas.Backend], one subtest per operation or property.
// It takes some seconds, mostly in the plain loops of the comparison.
func Run(t *testing.T, b blas.Backend) {
	tests := []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"Gemm", testGemm},
		{"GemmLarge", testGemmLarge},
		{"GemmRows", testGemmRows},
		{"Syrk", testSyrk},
		{"Symm", testSymm},
		{"Syr", testSyr},
		{"Gemv", testGemv},
		{"Symv", testSymv},
		{"Trsm", testTrsm},
		{"Trmm", testTrmm},
		{"NaN", testNaN},
		{"TriangleNaN", testTriangleNaN},
		{"AlphaZero", testAlphaZero},
		{"Cholesky", testCholesky},
		{"CholeskyIndefinite", testCholeskyIndefinite},
		{"CholeskySingular", testCholeskySingular},
		{"CholeskyRankDeficient", testCholeskyRankDeficient},
		{"CholeskyNaN", testCholeskyNaN},
		{"TriangularInverse", testTriangularInverse},
		{"TriangularSingular", testTriangularSingular},
		{"QR", testQR},
		{"QRNaN", testQRNaN},
		{"SymEig", testSymEig},
		{"SymEigKnown", testSymEigKnown},
		{"SymEigScaled", testSymEigScaled},
		{"SymEigGraded", testSymEigGraded},
		{"SymEigTop", testSymEigTop},
		{"SymEigNaN", testSymEigNaN},
		{"Describe", testDescribe},
		{"Panics", testPanics},
		{"Concurrent", testConcurrent}, // the thirtieth behind the first, which racetest.Part takes
	}
	for i, test := range racetest.Part(tests) {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, &suite{b, rand.New(rand.NewPCG(1, uint64(i)))})
		})
	}
}

// size returns a random element of edges.
func (s *suite) size() int { return edges[s.rng.IntN(len(edges))] }

// factor returns a value for alpha or beta, the special ones often.
func (s *suite) factor() float64 {
	values := []float64{0, 1, -1, 0.7, -2.5}
	return values[s.rng.IntN(len(values))]
}

func (s *suite) coin() bool { return s.rng.IntN(2) == 0 }

func testDescribe(t *testing.T, s *suite) {
	if s.b.Name() == "" || s.b.Describe() == "" {
		t.Errorf("name %q, description %q: want both", s.b.Name(), s.b.Describe())
	}
}
