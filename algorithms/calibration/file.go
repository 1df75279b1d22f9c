package calibration

import (
	"math"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// Names of the tensors of a calibration. A share is stored if it is not that of the links.
const (
	tensorDistance = "calibration.distance"
	tensorMust     = "calibration.must"
	tensorCannot   = "calibration.cannot"
	tensorShare    = "calibration.share"
	tensorNear     = "calibration.near" // 1 of near pairs
)

// mostLinks bounds the number of links of each kind that a file may claim.
const mostLinks = 1 << 31

// Encode writes the calibration into a model file: the distances of links, and how many links of
// each kind are at each.
func (c *Calibration) Encode(file *model.File) {
	file.SetFloat64s(tensorDistance, c.distance)
	file.SetInt64s(tensorMust, c.must)
	file.SetInt64s(tensorCannot, c.cannot)
	if c.share > 0 {
		file.SetFloat64s(tensorShare, []float64{c.share})
	}
	if c.near {
		file.SetInt64s(tensorNear, []int64{1})
	}
}

// Decode reads what Encode wrote, nil for nothing. A calibration that Encode cannot have written is
// a *fault.DataError. Distances that single precision made equal are one.
func Decode(file *model.File) (*Calibration, error) {
	if !file.Has(tensorDistance) {
		return nil, nil
	}
	distance, err := file.Float64s(tensorDistance, -1)
	if err != nil {
		return nil, err
	}
	must, err := file.Int64s(tensorMust, len(distance))
	if err != nil {
		return nil, err
	}
	cannot, err := file.Int64s(tensorCannot, len(distance))
	if err != nil {
		return nil, err
	}
	var c Calibration
	for k, d := range distance {
		if !(d >= 0) || math.IsInf(d, 0) || k > 0 && d < distance[k-1] {
			return nil, fault.Data("", "tensor %s: element %d is %g: want finite ascending numbers >= 0", tensorDistance, k, d)
		}
		if must[k] < 0 || cannot[k] < 0 || must[k] > mostLinks-c.musts || cannot[k] > mostLinks-c.cannots || must[k]+cannot[k] == 0 {
			return nil, fault.Data("", "calibration: %d must-links and %d cannot-links at distance %g: want numbers >= 0, not both 0, and at most %d of all distances", must[k], cannot[k], d, mostLinks)
		}
		c.add(d, must[k], cannot[k])
	}
	if c.share, err = decodeShare(file); err != nil {
		return nil, err
	}
	if c.near, err = decodeNear(file); err != nil {
		return nil, err
	}
	return c.complete()
}

func decodeShare(file *model.File) (float64, error) {
	if !file.Has(tensorShare) {
		return 0, nil
	}
	share, err := file.Float64s(tensorShare, 1)
	if err != nil {
		return 0, err
	}
	if !(share[0] >= leastShare/2 && share[0] < 1) { // half, for rounding to single precision
		return 0, fault.Data("", "tensor %s: %g: want a number from 1e-15 to below 1", tensorShare, share[0])
	}
	return share[0], nil
}

func decodeNear(file *model.File) (bool, error) {
	if !file.Has(tensorNear) {
		return false, nil
	}
	near, err := file.Int64s(tensorNear, 1)
	if err != nil {
		return false, err
	}
	if near[0] != 1 || file.Has(tensorShare) {
		return false, fault.Data("", "tensor %s: %d: want 1, and no %s", tensorNear, near[0], tensorShare)
	}
	return true, nil
}
