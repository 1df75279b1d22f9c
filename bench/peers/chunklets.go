package peers

import (
	"fmt"
	"math/rand/v2"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// streamChunklets is the stream of random numbers of the chunklets of a seed.
const streamChunklets = 4

// sampleChunklets draws disjoint chunklets of size rows, each from one class: first a class, with
// probability proportional to its remaining rows, among classes with at least size of them, then
// the rows uniformly. Rows whose label is "" are never drawn.
//
// A size below 1, or more chunklets than the classes can fill, is a *fault.ParamError. Cost: O(n +
// chunklets * classes).
func sampleChunklets(labels []string, chunklets, size int, seed uint64) (*links.Set, error) {
	if size < 1 {
		return nil, &fault.ParamError{Param: "size", Value: size, Want: "a number >= 1"}
	}
	number := make(map[string]int)
	var left [][]int // the rows of each class that were not drawn
	for i, label := range labels {
		k, known := number[label]
		if !known && label != "" {
			k = len(left)
			number[label], left = k, append(left, nil)
		}
		if label != "" {
			left[k] = append(left[k], i)
		}
	}
	possible := 0
	for _, rows := range left {
		possible += len(rows) / size
	}
	if chunklets < 0 || chunklets > possible {
		return nil, &fault.ParamError{Param: "chunklets", Value: chunklets,
			Want: fmt.Sprintf("0 to %d, the number of disjoint groups of %d rows in the classes", possible,
				size)}
	}
	rng := rand.New(rand.NewPCG(seed, streamChunklets))
	out := make([][]int, chunklets)
	for r := range out {
		k := pickClass(rng, left, size)
		rows := left[k]
		for a := range size { // the first steps of a Fisher-Yates shuffle
			b := a + rng.IntN(len(rows)-a)
			rows[a], rows[b] = rows[b], rows[a]
		}
		out[r], left[k] = rows[:size], rows[size:]
	}
	return links.FromChunklets(len(labels), out)
}

// pickClass draws a class that still has at least size rows, with probability proportional to its
// rows.
func pickClass(rng *rand.Rand, left [][]int, size int) int {
	total := 0
	for _, rows := range left {
		if len(rows) >= size {
			total += len(rows)
		}
	}
	at := rng.IntN(total)
	for k, rows := range left {
		if len(rows) < size {
			continue
		}
		if at -= len(rows); at < 0 {
			return k
		}
	}
	panic("peers: no class left to draw from") // unreachable: at < total
}
