package progress

import (
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestBar draws the bar of this build; it must not hang or leave text behind the cursor.
func TestBar(t *testing.T) {
	var w clitest.Buffer
	b := New(&w)
	for i := range 3 {
		b.Show(algorithms.Progress{Stage: "kernel matrix", Done: i, Total: 2})
	}
	b.Clear()
}
