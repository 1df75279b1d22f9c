package graphkernel

import (
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
)

// Settings are the parameters that the baselines on a graph share. Each has losses of its own.
type Settings struct {
	Loss          Loss    `json:"loss" param:"loss" choices:"sl,shl,hl" help:"of links that are not met"`
	C             float64 `json:"C" param:"C" default:"1" range:"> 0" help:"weight of the links"`
	Delta         float64 `json:"delta" param:"delta" default:"0.2" range:"> 0" help:"added to the diagonal of the graph's normalized Laplacian"`
	Neighbourhood `default:"neighbors=5"`
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
