package neighbors

// heap holds the nearest rows seen so far, the worst one at the top: worst by distance,
// then by row. It fills the slices it is given, which have room for k entries.
type heap struct {
	index []int32
	dist2 []float64
}

// worse reports whether entry a comes after entry b in the answer.
func (h *heap) worse(a, b int) bool {
	return h.dist2[a] > h.dist2[b] || (h.dist2[a] == h.dist2[b] && h.index[a] > h.index[b])
}

func (h *heap) swap(a, b int) {
	h.index[a], h.index[b] = h.index[b], h.index[a]
	h.dist2[a], h.dist2[b] = h.dist2[b], h.dist2[a]
}

// offer enters row j at squared distance d, pushing out the worst of more than k, and
// reports whether the worst distance may have changed. Rows must come in ascending order:
// then one at exactly the worst distance held loses its tie.
func (h *heap) offer(k int, j int32, d float64) bool {
	if n := len(h.index); n < k {
		h.index, h.dist2 = append(h.index, j), append(h.dist2, d)
		for n > 0 && h.worse(n, (n-1)/2) {
			h.swap(n, (n-1)/2)
			n = (n - 1) / 2
		}
		return true
	}
	if d >= h.dist2[0] {
		return false
	}
	h.index[0], h.dist2[0] = j, d
	h.sink(k)
	return true
}

// sink restores the order of the first n entries below the top.
func (h *heap) sink(n int) {
	at := 0
	for {
		child := 2*at + 1
		if child >= n {
			return
		}
		if child+1 < n && h.worse(child+1, child) {
			child++
		}
		if !h.worse(child, at) {
			return
		}
		h.swap(child, at)
		at = child
	}
}

// sort turns the heap into the answer, nearest first.
func (h *heap) sort() {
	for n := len(h.index) - 1; n > 0; n-- {
		h.swap(0, n)
		h.sink(n)
	}
}
