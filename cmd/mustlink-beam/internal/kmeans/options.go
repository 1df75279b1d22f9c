package kmeans

import (
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
)

// Options are the parameters of k-means.
type Options struct {
	K          int
	Width      int // coordinates of a row
	Seed       uint64
	Rounds     int // rounds of k-means||, one pass each
	Draw       int // expected number of rows that a round draws; 0 for 2 K, at least minDraw
	Iterations int // maximum number of Lloyd's iterations, one pass each
	Tol        float64
}

// Default values of the options.
const (
	DefaultRounds     = 5
	DefaultIterations = 20
	DefaultTol        = 1e-4
)

// minDraw is the minimum number of rows that a round draws by default: with few clusters a sample
// of some hundred rows costs little and shows better where they are.
const minDraw = 256

func (o Options) draws() int {
	if o.Draw > 0 {
		return o.Draw
	}
	return max(2*o.K, minDraw)
}

// The sample on which starts are compared has at most sampleRows rows and sampleBytes bytes.
const (
	sampleRows  = 1 << 16
	sampleBytes = 8 << 20
)

// chance returns the chance of each of n rows of d values to be in the sample.
func chance(n int64, d int) float64 {
	return min(1, float64(min(sampleRows, sampleBytes/8/max(1, d)))/float64(max(1, n)))
}

// Validate returns a *fault.ParamError for the first option that cannot be used.
func (o Options) Validate() error {
	for _, c := range []struct {
		name    string
		value   int
		minimum int
	}{{"-n, --clusters", o.K, 1}, {"--rounds", o.Rounds, 1}, {"--draw", o.Draw, 0},
		{"--iterations", o.Iterations, 0}} {
		if c.value < c.minimum {
			return &fault.ParamError{Param: c.name, Value: c.value,
				Want: fmt.Sprintf("a number >= %d", c.minimum)}
		}
	}
	if !(o.Tol >= 0 && o.Tol < 1) {
		return &fault.ParamError{Param: "--tol", Value: o.Tol, Want: "a number in [0, 1)"}
	}
	return nil
}
