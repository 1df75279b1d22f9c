package compare

import (
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/engine/links"
)

// streamWrong is the stream of random numbers that decides which links are wrong.
const streamWrong = 0x77726f6e67

// drawLinks draws total links, half of them between rows of one class and half between rows of
// different classes, but no more of either kind than there are pairs. A share wrong of each kind,
// rounded, has the other sign.
func drawLinks(labels []string, total int, wrong float64, seed uint64) (*links.Set, error) {
	same, different := pairsOf(labels)
	must, cannot := min((total+1)/2, same), min(total/2, different)
	set, err := links.SampleByCount(labels, must, cannot, seed)
	if err != nil || wrong == 0 {
		return set, err
	}
	r := rand.New(rand.NewPCG(seed, streamWrong))
	return links.New(len(labels),
		append(flip(set.Must(), wrong, links.Cannot, r), flip(set.Cannot(), wrong, links.Must, r)...))
}

// flip gives a share of the links the other sign.
func flip(list []links.Link, share float64, to links.Sign, r *rand.Rand) []links.Link {
	out := append([]links.Link(nil), list...)
	for _, i := range r.Perm(len(out))[:int(math.Round(share*float64(len(out))))] {
		out[i].Sign = to
	}
	return out
}

// pairsOf counts the pairs of rows of the same class and of different classes.
func pairsOf(labels []string) (same, different int) {
	count := map[string]int{}
	for i, l := range labels {
		same += count[l]
		different += i - count[l]
		count[l]++
	}
	return same, different
}
