package progress

import (
	"bytes"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
)

// TestBar draws the bar of this build; what it must not do is hang or leave text behind
// the cursor.
func TestBar(t *testing.T) {
	var w lockedBuffer
	b := New(&w)
	for i := range 3 {
		b.Show(algorithms.Progress{Stage: "kernel matrix", Done: i, Total: 2})
	}
	b.Clear()
}

// lockedBuffer is a buffer that a bar may write to from its own goroutine.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
