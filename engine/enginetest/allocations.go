package enginetest

import (
	"testing"

	"github.com/mustlink/mustlink/internal/racetest"
)

// Allocations returns the number of allocations per step after a warm-up: the allocations of 3
// count steps minus those of count steps, divided by the difference. Work that reuses its memory
// makes none. It skips the test under the race detector.
func Allocations(t *testing.T, count int, work func(steps int)) float64 {
	t.Helper()
	racetest.Skip(t, "pools are emptied at random")
	some := testing.AllocsPerRun(10, func() { work(count) })
	more := testing.AllocsPerRun(10, func() { work(3 * count) })
	return (more - some) / float64(2*count)
}
