package dataset

// blocks collects values whose number is not known. Unlike append it copies each once, at
// the end.
type blocks[T any] struct {
	n    int // values so far
	full [][]T
	last []T
}

func (b *blocks[T]) add(v T) {
	if len(b.last) == cap(b.last) {
		const least, most = 1 << 8, 1 << 16
		if b.last != nil {
			b.full = append(b.full, b.last)
		}
		b.last = make([]T, 0, min(max(least, b.n), most))
	}
	b.last = append(b.last, v)
	b.n++
}

// join returns all values.
func (b *blocks[T]) join() []T {
	out := make([]T, 0, b.n)
	for _, part := range b.full {
		out = append(out, part...)
	}
	return append(out, b.last...)
}
