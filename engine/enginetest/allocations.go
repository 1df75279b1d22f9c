package enginetest

import (
	"testing"

	"github.com/mustlink/mustlink/internal/race"
)

// Allocations returns how many allocations each further step of some work makes once it is warm:
// those of 3 count steps less those of count, over the difference. Work that keeps its memory from
// step to step makes none. It skips the test under the race detector.
func Allocations(t *testing.T, count int, work func(steps int)) float64 {
	t.Helper()
	race.Skip(t, "pools are emptied at random")
	some := testing.AllocsPerRun(10, func() { work(count) })
	more := testing.AllocsPerRun(10, func() { work(3 * count) })
	return (more - some) / float64(2*count)
}
