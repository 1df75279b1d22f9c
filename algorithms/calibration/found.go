package calibration

import (
	"fmt"
	"slices"
)

// Found is what a calibration says of the pairs that a search found up to a distance, after their
// number was compared with that of the matching pairs.
type Found struct {
	Threshold // with the precision that the number of pairs leaves possible
	// Doubt says what the number of pairs contradicts, "" if nothing.
	Doubt         string
	Probabilities []float64 // of the pairs
}

// OfFound judges the pairs at these ascending distances, all up to a threshold, out of a number of
// pairs of rows. Complete means that no pair up to the threshold is left out.
//
// The matching pairs up to a distance are the share of matching pairs, times the recall, times all
// pairs. If complete pairs are fewer than the least that this can be, at the distance of any link,
// the share is lowered to the largest possible one. The precision is at most the most that it can
// be, over the number of pairs; if the mean of the probabilities is above, all odds are divided by
// one factor. Nothing of this applies to near pairs. Cost: O(log n) for each pair and each link.
func (c *Calibration) OfFound(threshold float64, distances []float64, all float64, complete bool) Found {
	f := Found{Probabilities: make([]float64, 0, len(distances))}
	if complete && !c.near {
		c, f.Doubt = c.possible(threshold, distances, all)
	}
	f.Threshold = c.At(threshold)
	for _, d := range distances {
		f.Probabilities = append(f.Probabilities, c.Probability(d))
	}
	count := float64(len(distances))
	if most := c.Share() * f.Recall.High * all; !c.near && most < count {
		f.limit(most / count)
		if f.Doubt == "" {
			f.Doubt = fmt.Sprintf("if a share of %.2g of all pairs matches, at most %.0f matching pairs are as "+
				"near, but there are %d pairs: at most %.3g of them match", c.Share(), most, len(distances), most/count)
		}
	}
	return f
}

// possible returns the calibration for a share that leaves no more matching pairs up to any
// distance than there are pairs, and what is wrong with its own share, "" if nothing.
func (c *Calibration) possible(threshold float64, distances []float64, all float64) (*Calibration, string) {
	rate, must, share, doubt := newRate(c.musts), int64(0), c.Share(), ""
	for k, d := range c.distance {
		if d > threshold {
			break
		}
		must += c.must[k]
		there, _ := slices.BinarySearchFunc(distances, d, func(a, d float64) int {
			if a <= d {
				return -1
			}
			return 1
		})
		recall := rate.low(must)
		if most := max(1, float64(there)) / all; share*recall > most {
			share = max(leastShare, most/recall)
			doubt = fmt.Sprintf("if a share of %.2g of all pairs matched, at least %.0f matching pairs would be "+
				"within distance %.6g, but there are %d pairs: the share is at most "+
				"%.2g", c.Share(), c.Share()*recall*all, d, there, share)
		}
	}
	if doubt == "" {
		return c, ""
	}
	other := *c
	other.share = share
	return &other, doubt
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
