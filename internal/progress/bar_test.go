//go:build !purego

package progress

import (
	"testing"
	"time"

	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
)

// TestShare: the bar is as long as the share that is done.
func TestShare(t *testing.T) {
	b := New(&clitest.Buffer{}).(*bar)
	defer b.Clear()
	for _, share := range []float64{0, 0.25, 0.5} {
		b.Show(session.Shown{Stage: "kernel matrix", Share: share, Begin: time.Now()})
		if got, want := b.bar.Current(), int64(share*steps); got != want {
			t.Errorf("a share of %g: %d of %d steps, want %d", share, got, steps, want)
		}
	}
}
