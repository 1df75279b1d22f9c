package arrow

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/mustlink/mustlink/engine/fault"
)

// defaultBudget is the limit if the caller has none: a file of a few bytes may claim any size.
const defaultBudget = 4 << 30

// budget allocates memory for the library, within a limit. More than that is a panic with a
// *fault.MemoryError.
type budget struct {
	memory.Allocator
	limit int64

	sync.Mutex
	used int64
}

func newBudget(limit int64) *budget {
	if limit <= 0 {
		limit = defaultBudget
	}
	return &budget{Allocator: memory.NewGoAllocator(), limit: limit}
}

// take counts bytes, a negative number for those that are given back.
func (b *budget) take(bytes int) {
	b.Lock()
	defer b.Unlock()
	if need := b.used + int64(bytes); need > b.limit {
		panic(&fault.MemoryError{What: "a record batch of the Arrow file", Need: need, Limit: b.limit, Hint: "write smaller batches, or raise the limit"})
	}
	b.used += int64(bytes)
}

// Allocate implements memory.Allocator.
func (b *budget) Allocate(size int) []byte {
	b.take(size)
	return b.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (b *budget) Reallocate(size int, old []byte) []byte {
	b.take(size - len(old))
	return b.Allocator.Reallocate(size, old)
}

// Free implements memory.Allocator.
func (b *budget) Free(old []byte) {
	b.take(-len(old))
	b.Allocator.Free(old)
}
