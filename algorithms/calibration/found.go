package calibration

import "fmt"

// Found is what a calibration says of the pairs that a search found up to a distance, after their
// number was compared with that of the matching pairs.
type Found struct {
	Threshold // with the precision that the number of pairs leaves possible
	// Doubt says what the number of pairs contradicts, "" if nothing.
	Doubt         string
	Probabilities []float64 // of the pairs
}

// OfFound judges the pairs at these distances, all up to a threshold, out of a number of pairs of
// rows. Complete means that no pair up to the threshold is left out.
//
// The matching pairs up to the threshold are the share of matching pairs, times the recall, times
// all pairs. If complete pairs are fewer than the least that this can be, the share is lowered to
// the largest possible one. The precision is at most the most that it can be, over the number of
// pairs; if the mean of the probabilities is above, all odds are divided by one factor. Nothing of
// this applies to near pairs. Cost: O(log n) for each pair.
func (c *Calibration) OfFound(threshold float64, distances []float64, all float64, complete bool) Found {
	f := Found{Threshold: c.At(threshold), Probabilities: make([]float64, 0, len(distances))}
	count := max(1, float64(len(distances)))
	if least := c.Share() * f.Recall.Low * all; complete && !c.near && least > count {
		share := max(leastShare, count/(f.Recall.Low*all))
		f.Doubt = fmt.Sprintf("if a share of %.2g of all pairs matched, at least %.0f matching pairs would be as near, but there are %d pairs: the share is at most %.2g", c.Share(), least, len(distances), share)
		other := *c
		other.share = share
		c = &other
		f.Threshold = c.At(threshold)
	}
	for _, d := range distances {
		f.Probabilities = append(f.Probabilities, c.Probability(d))
	}
	if most := c.Share() * f.Recall.High * all; !c.near && most < count {
		f.limit(most / count)
		if f.Doubt == "" && len(distances) > 0 {
			f.Doubt = fmt.Sprintf("if a share of %.2g of all pairs matches, at most %.0f matching pairs are as near, but there are %d pairs: at most %.3g of them match", c.Share(), most, len(distances), most/count)
		}
	}
	return f
}

// limit lowers the precision, and the mean of the probabilities, to this share.
func (f *Found) limit(most float64) {
	p := &f.Precision
	p.Value, p.Low, p.High = min(p.Value, most), min(p.Low, most), min(p.High, most)
	mean := func(factor float64) (sum float64) {
		for _, v := range f.Probabilities {
			sum += lowered(v, factor)
		}
		return sum / float64(len(f.Probabilities))
	}
	if len(f.Probabilities) == 0 || mean(1) <= most {
		return
	}
	low, high := 0.0, 1.0
	for range 60 {
		if middle := (low + high) / 2; mean(middle) <= most {
			low = middle
		} else {
			high = middle
		}
	}
	for k, v := range f.Probabilities {
		f.Probabilities[k] = lowered(v, low)
	}
}

// lowered returns the probability whose odds are those of p times a factor.
func lowered(p, factor float64) float64 { return p * factor / (1 - p + p*factor) }
