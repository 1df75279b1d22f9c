package graphkernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
)

// Settings are the parameters that the baselines on a graph share.
type Settings struct {
	// Loss is that of links that are not met.
	Loss Loss `json:"loss"`
	// C is the weight of the links, > 0.
	C float64 `json:"C"`
	// Delta is added to the diagonal of the normalised Laplacian, > 0.
	Delta float64 `json:"delta"`
	Neighbourhood
}

// DefaultSettings returns a loss of weight 1 on a graph of 5 neighbours, delta = 0.2.
func DefaultSettings(loss Loss) Settings {
	return Settings{Loss: loss, C: 1, Delta: 0.2, Neighbourhood: Neighbourhood{Graph: KNN, Neighbors: 5}}
}

// CheckWith returns a *fault.ParamError for the first value that cannot be used, where some losses can.
func (s Settings) CheckWith(losses ...Loss) error {
	if !slices.Contains(losses, s.Loss) {
		names := make([]string, len(losses))
		for i, l := range losses {
			names[i] = string(l)
		}
		return fault.Unknown("loss", string(s.Loss), names)
	}
	if err := input.Positive("C", s.C); err != nil {
		return err
	}
	if err := input.Positive("delta", s.Delta); err != nil {
		return err
	}
	return s.Check(math.MaxInt)
}

// Setup returns the problem of a method, for a kernel or, without one, linear, and given similarities if
// the graph is of those.
func (s Settings) Setup(method string, k kernel.Spec, given blas.Matrix) Setup {
	return Setup{Method: method, Around: s.Neighbourhood, Given: given, Kernel: k, Fallback: DefaultKernel, Loss: s.Loss, C: s.C, Delta: s.Delta}
}

// Common returns the settings themselves, for parameters that embed them.
func (s Settings) Common() Settings { return s }

// DefaultKernel is the kernel in whose feature space neighbours are looked for without another.
const DefaultKernel = "linear"

// TooMany says that a method is for fewer points.
func TooMany(method string, most, got int) error {
	return fault.Data("", "%s is for up to %d points, got %d (npkl takes more)", method, most, got)
}

// NotReached says of a fit how far it came.
func NotReached(steps int, gap float64) string {
	return fmt.Sprintf("%d steps brought the gap to the optimum down to %.2g, not to the tolerance", steps, gap)
}
